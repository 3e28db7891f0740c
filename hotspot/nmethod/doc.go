// Package nmethod copies compiled methods out of a running JVM: their machine code
// and their debug info. It writes them down in the text form in which HotSpot prints
// them, which package printassembly reads.
//
// A compiler's thread prints a method when it has installed it, and before it compiles
// the next one (CompileBroker::invoke_compiler_on_method), with thousands of small
// writes. C1 compiles the most methods, so printing C1's code is what profiling costs a
// program's warm-up the most. With LogCompilation HotSpot writes only one line when it
// installs a method:
//
//	<nmethod compile_id='71' compiler='c1' level='3' size='3176' address='0x…' … method='Shares heavy (I)I' …/>
//
// A [Follower] reads these lines while the JVM writes them, and copies each method
// with a [Copier]. A [Code] is such a copy, and [Code.AppendTo] writes it down. The
// text has each comment at the last byte of its instruction, where HotSpot's own text
// has it at a cell of four bytes. It lacks HotSpot's comments about relocations,
// "{metadata(…)}" and "{oop(…)}".
//
// Package vmstructs reads the JVM's memory and knows where the fields of HotSpot's
// structures are. Nothing in a JVM tells how debug info is packed (debugInfo.hpp,
// compressedStream.hpp, unsigned5.hpp). [Known] has the releases of the JDK whose
// packing this package knows; TestCopy compares each method of a program with what
// HotSpot prints of it.
//
// The JVM's threads run while its memory is read. A method that was replaced in the
// meantime is noticed by its compile id, which is read again after all else.
package nmethod
