// Package nmethod copies compiled methods out of a running JVM: their machine code and their debug info. It writes them
// in the text form in which HotSpot prints them, which package printassembly reads.
//
// A [Copier] copies the method that a printassembly.Installed describes. Package codecache creates such descriptions
// from the code cache, and package printassembly from LogCompilation's tags. A [Code] is the copy, and [Code.AppendTo]
// writes it as text. In this text, each comment has the position of its instruction. In HotSpot's own text, it has the
// position of the group of four bytes in which its instruction lies.
//
// [Copier.AppendSourceFiles] writes something that HotSpot does not print: the names of the source files of the classes
// in frames.
//
// [Code.AppendProfiles] writes what HotSpot has counted in the method and in those that were inlined into it (package
// methoddata).
//
// # Releases
//
// Package vmstructs reads the JVM's memory and knows where the fields of HotSpot's structures are. Nothing in a JVM
// describes the encoding of debug info and relocations (debugInfo.hpp, compressedStream.hpp, unsigned5.hpp,
// relocInfo.hpp). [Known] reports for which releases of the JDK this package knows the encoding; TestCopy compares each
// compiled method of a program with the text that HotSpot prints for it. Copies from other releases, from JDK 8 on,
// have only names and machine code, and [Copier.Frames] says why. These releases changed the encoding:
//
//	20  UNSIGNED5 has no zero bytes. The kind of a relocation has five bits instead of four;
//	    there are new kinds after the kind prefix.
//	23  debug info lies outside the nmethod, in immutable data
//	25  metadata and relocations lie outside, too, in mutable data; stubs are named "Stub::name"
//	28  two more bytecodes of HotSpot's own; no relocations of entry guards, new ones of
//	    barriers; methods are printed with their modifiers
//
// HotSpot's own bytecodes are read from its table of bytecodes. libjvm.so does not export the symbol of this table, so
// the symbol may have been stripped. Then a list in this package is used, which is valid for releases up to 27.
//
// # Relocations
//
// Relocations are written with HotSpot's words, which differ by release: the filler between two relocations that are
// far apart is "{no_reloc}" up to JDK 21 and "{other}" later. The following differs from HotSpot's output:
//
//   - "{oop}" does not name the object, because collectors may move it while it is read.
//   - HotSpot prints at most one relocation for each four bytes of code; a copy has all of them.
//   - A call or a class that was resolved after HotSpot had printed the method is resolved in the copy.
//   - "{metadata}" does not say what it refers to if symbols were stripped, because the kind of a metadata object is
//     recognized by the symbol of its virtual function table.
//
// Relocations of aarch64 have the same form with fields of other widths. They were compared with the output of JDK 21
// in an emulator: 0.5 % differ. The targets of calls through trampolines have no names.
//
// The JVM's threads run while its memory is read. To notice that a method was replaced in the meantime, its compile id
// is read again after everything else.
package nmethod
