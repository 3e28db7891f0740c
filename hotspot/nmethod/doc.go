// Package nmethod copies compiled methods out of a running JVM: their machine code
// and their debug info. It writes them down in the text form in which HotSpot prints
// them, which package printassembly reads.
//
// A [Copier] copies the method that an Installed tells of: package codecache makes these of
// what is in the code cache, and package printassembly of LogCompilation's tags. A [Code] is
// such a copy, and [Code.AppendTo] writes it down. The text has each comment at its
// instruction, where HotSpot's own text has it at a cell of four bytes.
//
// [Copier.AppendSourceFiles] writes down what HotSpot does not print: the names of the files that
// the classes of frames were made from.
//
// # Releases
//
// Package vmstructs reads the JVM's memory and knows where the fields of HotSpot's
// structures are. Nothing in a JVM tells how debug info and relocations are packed
// (debugInfo.hpp, compressedStream.hpp, unsigned5.hpp, relocInfo.hpp). [Known] has the
// releases of the JDK whose packing this package knows; TestCopy compares each method of a
// program with what HotSpot prints of it. Of other releases, from JDK 8 on, the copies have
// names and machine code alone, and [Copier.Frames] tells why. What changed:
//
//	20  UNSIGNED5 has no zero bytes. The kind of a relocation has five bits and not four;
//	    there are new kinds behind the prefix.
//	23  debug info lies outside of the nmethod, in immutable data
//	25  metadata and relocations do too, in mutable data; stubs are named as "Stub::name"
//	28  two more bytecodes of HotSpot's own; no relocations of entry guards, new ones of
//	    barriers; methods are printed with their modifiers
//
// HotSpot's own bytecodes are taken from its table of them, which is a symbol of libjvm.so
// that is not exported. Where it was stripped off, releases up to 27 have a list here.
//
// # Relocations
//
// Relocations have the words that HotSpot has for them, which differ by release: the filler
// between two that are far apart is "{no_reloc}" up to JDK 21 and "{other}" later. These
// are different from HotSpot's print:
//
//   - "{oop}" does not tell the object: collectors move objects while they are read.
//   - HotSpot prints one relocation of each four bytes, a copy has them all.
//   - A call or a class that was resolved after HotSpot had printed the method is resolved
//     in the copy.
//   - "{metadata}" does not tell which where symbols were stripped off, because nothing but
//     the address of its virtual functions tells what it is.
//
// Relocations of aarch64 have the same form, with other widths. They were compared with what JDK 21 prints,
// in an emulator: 0.5 % differ. The targets of calls by trampolines have no names.
//
// The JVM's threads run while its memory is read. A method that was replaced in the
// meantime is noticed by its compile id, which is read again after all else.
package nmethod
