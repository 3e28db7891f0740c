// Package codecache knows which code is in the code cache of a running HotSpot, and since
// when: compiled methods, the wrappers of native methods, adapters, stubs, the codelets of
// the interpreter, vtable stubs. It reads the JVM's memory and changes nothing.
//
//	cache, err := codecache.New(vm, copier.MethodName)
//	changes, err := cache.Poll(now)      // the first one finds all; then what came and went
//	b := cache.Find(pc)                  // whose code is there
//	b, ambiguous := cache.At(pc, then)   // whose was it at a moment
//	log = b.AppendTo(log, uptimeMillis)  // the line with which HotSpot's log tells of it
//
// # What a code cache looks like
//
// It has heaps: three with tiered compilation, one in JDK 8 or where the cache is small. A
// heap (CodeHeap in heap.hpp) is cut in segments of 64 or 128 bytes. A block of segments
// begins with a HeapBlock, its length and whether it is used, and holds one CodeBlob. The
// segment map has a byte for each segment: 0 for the first one of a block, else how far it
// is back to that, 0xff for none. A freed block keeps its bytes in the map.
//
// A CodeBlob begins with a header, which tells its size, its name and where in it the code
// is. From the header of an nmethod comes all that LogCompilation's tag would tell of it.
// Its Method leads to its name, which a [Namer] reads.
//
// Some blobs hold many pieces of code. HotSpot lists these elsewhere, and so does this
// package, piece by piece:
//
//	StubCodeDesc::_list         stubs: StubRoutines::call_stub
//	AbstractInterpreter::_code  codelets of the interpreter: return entry points
//	VtableStubs::_table         vtable and itable stubs: vtbl[5]
//
// Only the second one is in HotSpot's own tables. The others are symbols of libjvm.so that it
// does not export. Where they were stripped off, the list of stubs is looked for among the
// library's variables; vtable stubs are one blob then.
//
// # How a Poll finds what has changed
//
// One system call reads the heads of all heaps, the counters of compile ids and the heads of
// the lists above. If nothing differs from the Poll before, that is all. Where a heap has
// grown, the blocks behind its old end are read, and once more at the next Poll: HotSpot may
// have been in the middle of making them. If its list of free blocks has changed, the headers
// of all blocks are read, now and at the next Poll. A block that was freed and used again in
// between looks like before; so all headers are read a few times a second as long as the
// compile ids say that the JVM compiles.
//
// nmethods of which _state says that they are not installed are not known yet. Those whose
// Method can't be named, because its class was just unloaded, are tried again. After their
// names were read, all new blobs are compared again with what is in memory.
//
// # Which releases
//
// The tests compare JDK 8, 11, 17, 21, 25, 26 and 28 with what the JVM itself tells: with
// LogCompilation's tags, jcmd's Compiler.codelist and Compiler.perfmap, and what
// PrintStubCode and PrintInterpreter print. JDK 22 to 24 and 27 were not tried. What no
// table of HotSpot tells is fixed here: the order of the last fields of a CodeHeap, the
// states of nmethods ([deadState]), the layouts of StubCodeDesc and of VtableStub.
package codecache
