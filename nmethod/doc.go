// Package nmethod copies compiled methods out of a running JVM: their machine
// code and their debug info.
//
// HotSpot prints a method in front of installing it, in thousands of small
// pieces. For C1, which compiles the most methods, that is what profiling costs a
// program's warm-up the most. LogCompilation tells of each method in one line,
// as it is installed:
//
//	<nmethod compile_id='71' compiler='c1' level='3' size='3176' address='0x…' … method='Shares heavy (I)I' …/>
//
// A [Follower] reads these lines as they come, copies what is at the address,
// and writes down the same as HotSpot would have, in its format and more exactly:
// each comment stands at its instruction, not on a cell of four bytes. What it
// has not are the comments on relocations, "{metadata(…)}" and "{oop(…)}".
//
// Where things are in a JVM's memory, HotSpot tells itself, for the
// serviceability agent and its like: gHotSpotVMStructs in libjvm.so (HotSpot's
// vmStructs.cpp) has the offsets of fields, gHotSpotVMTypes the sizes of types.
// What it does not tell is how debug info is packed (HotSpot's debugInfo.hpp and
// unsigned5.hpp); [Known] has the releases for which that is known here. TestCopy
// compares each method of a program with what HotSpot prints of it.
//
// The memory is read by process_vm_readv, which stops no thread. It is allowed to
// whoever may trace the process: its parent, unless the process gave up the right.
// What changes under the reader's hands is noticed by the compile id, which is
// read again behind the rest. Linux only.
package nmethod
