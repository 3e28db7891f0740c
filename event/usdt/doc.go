// Package usdt reads the text in which gasm saves the firings of HotSpot's own probes. These are the statically defined
// tracepoints (USDT) that most builds of libjvm.so have. Package hotspot/usdt writes the text while a JVM runs.
//
//   - A [Reader] reads the text, and joins the start of something with its end.
//   - [Known] lists the probes of the providers hotspot and hs_private, and [Parameters] says
//     what their arguments are.
//
// # The text
//
// Each line is one firing of a probe: the time on CLOCK_MONOTONIC in seconds, the thread, the
// probe, and its arguments. Texts among the arguments are in quotes:
//
//	# gasm usdt 1
//	# probes hotspot:method__compile__begin hotspot:thread__park__end hotspot:thread__sleep__begin
//	1884.749632617 24998 hotspot:method__compile__begin "C2 CompilerThread0" "Hot" "sum" "([D)D"
//	1884.749700112 24990 hotspot:thread__sleep__begin 1
//	1884.749700117 24998 hotspot:thread__park__end ?
//
// The second line lists the recorded probes; older texts do not have it. If only the probe of a
// start was recorded, and not that of its end, each start becomes an event without a duration. In
// the same way each end becomes an event if only the probe of the end was recorded.
//
// A ? is an argument that could not be read. A program allocates too many objects for a line each,
// so the text has sums over some 20 ms. The line of a sum has a different form. It is for one
// allocating instruction and one class:
//
//	1884.749632617 0 allocated 0x7fae0c8d3a42 0x0 0x0 "java/lang/Integer" 120 1920
//
// The first address is the return address of the call into the library, which is the address after
// the call instruction. The other two addresses are for calls by a stub, which was itself called by
// compiled code; otherwise they mean nothing. The second one is the return address of a stub of
// C1's, found by the chain of frame pointers. The third one is the return address of a stub of
// C2's, which only JDK 11 and 17 have. The frames of these stubs are not chained, so it is the
// first word on the stack that can be an address of code. After the class come the number of
// objects and their bytes.
//
// The bytes are a ? in JDK 11 and 17, where the size is an int: code of C2 calls
// SharedRuntime::dtrace_object_alloc(oopDesc*, int) with the object alone, and the register of the size may hold any
// value.
//
// Two more lines say how many events were lost because they came faster than they were read,
// and when the recording ended:
//
//	1884.749632617 0 lost 17
//	1884.749632617 0 end
package usdt
