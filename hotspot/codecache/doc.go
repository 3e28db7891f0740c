// Package codecache finds out which code is in the code cache of a running HotSpot JVM, and since when it has been
// there: compiled methods, wrappers of native methods, adapters, stubs, codelets of the interpreter, and vtable stubs.
// It reads the JVM's memory and changes nothing.
//
//	cache, err := codecache.New(vm, copier.MethodName)
//	changes, err := cache.Poll(now)      // the first Poll finds all blobs; later ones find what came and went
//	b := cache.Find(pc)                  // the blob that contains pc now
//	b, ambiguous := cache.At(pc, then)   // the blob that contained pc at an earlier time
//	log = b.AppendTo(log, from, to)      // the line that HotSpot's log has for the blob
//
// # What a code cache looks like
//
// The code cache consists of heaps. There are usually three with tiered compilation, and only one in JDK 8 or if the
// cache is small. A heap (CodeHeap in heap.hpp) is divided into segments of 64 or 128 bytes. A block is a run of
// segments. It begins with a HeapBlock, a header that says how long the block is and whether it is used. A used block
// holds one CodeBlob. The heap's segment map has a byte for each segment: 0 for the first segment of a block, 0xff for
// a segment that is in no block, and otherwise the number of segments to go back towards the first one. When a block is
// freed, its part of the segment map does not change.
//
// A CodeBlob begins with a header that says how large the blob is, what its name is, and where its code is. The header
// of an nmethod has everything that LogCompilation's tag says, except the method's name. It points to a Method instead,
// from which a [Namer] reads the name.
//
// Some blobs hold many pieces of code. HotSpot keeps lists of these, and this package reports each piece as a Blob:
//
//	StubCodeDesc::_list         stubs: StubRoutines::call_stub
//	AbstractInterpreter::_code  codelets of the interpreter: return entry points
//	VtableStubs::_table         vtable and itable stubs: vtbl[5]
//
// AbstractInterpreter::_code is in HotSpot's own tables. For the other two lists, this package needs symbols of
// libjvm.so that are not exported. If these symbols were stripped, it looks for the list of stubs among the library's
// variables, and reports the vtable stubs as one blob.
//
// # How a Poll finds what has changed
//
// One system call reads the CodeHeaps, the counters of compile ids and the heads of the lists above. If nothing has
// changed since the Poll before, the Poll is done. If a heap has grown, the blocks after its old end are read. They are
// read once more at the next Poll, because HotSpot may have been writing them at that moment. If a heap's list of free
// blocks has changed, the headers of all its blocks are read, now and at the next Poll. If a block is freed and used
// again between two Polls, the CodeHeap does not show it. So all headers are also read a few times a second while the
// compile ids show that the JVM compiles.
//
// An nmethod is not reported before its _state says that it is installed. If its Method can't be named because the
// class was just unloaded, the next Polls try again. After the names, a Poll reads the headers of all new blobs a
// second time. A blob whose header has changed in the meantime is added at the next Poll.
//
// # Which releases
//
// The tests compare JDK 8, 11, 17, 21, 25, 26 and 28 with what the JVM itself reports: LogCompilation's tags, jcmd's
// Compiler.codelist and Compiler.perfmap, and the output of PrintStubCode and PrintInterpreter. JDK 22, 23, 24 and 27
// were not tested. Some facts are in none of HotSpot's tables, so this package has them in its code: the order of the
// last fields of a CodeHeap, the states of nmethods (see deadState), and the layouts of StubCodeDesc and VtableStub.
package codecache
