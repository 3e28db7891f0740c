// Package usdt reads the text in which gasm saves the firings of HotSpot's own probes. These are the statically defined
// tracepoints (USDT) that most builds of libjvm.so have. Package hotspot/usdt writes the text while a JVM runs.
//
//   - A [Reader] reads the text, and joins the start of something, such as a park, with its end.
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
// The second line lists the recorded probes; older texts do not have it. Something that begins and
// ends has two probes. If only one of these was recorded, each of its firings becomes an event
// without a duration.
//
// A ? is an argument that could not be read. A program allocates too many objects to write a line for each of them.
// Instead, the text has sums over about 20 ms, one for each allocating instruction and each class. The line of a sum
// has a different form:
//
//	1884.749632617 0 allocated 0x7fae0c8d3a42 0x0 0x0 "java/lang/Integer" 120 1920
//
// The first address is the return address of the call into the library: the address after the call instruction. The
// other two matter only if a stub made that call. Then one of them is the address at which the stub returns to the
// compiled code that called it. The second address is for stubs of C1; gasm finds it by the chain of frame pointers.
// The third address is for stubs of C2, which only JDK 11 and 17 have. Their frames are not chained, so gasm takes the
// first word on the stack that can be an address of code. After the class come the number of objects and their size in
// bytes.
//
// In JDK 11 and 17 the size is a ?. There, code of C2 calls
// SharedRuntime::dtrace_object_alloc(oopDesc*, int) with the object alone, so the register of the
// size may hold any value.
//
// Two more lines say how many events were lost because they came faster than they were read,
// and when the recording ended:
//
//	1884.749632617 0 lost 17
//	1884.749632617 0 end
package usdt
