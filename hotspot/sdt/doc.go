// Package sdt writes a shared object through which tracers see probes in Java methods in the same way as probes in a C
// program. DTrace, perf and bpftrace find the provider java in it, with a probe at the entry and one at the return of
// each method:
//
//	dtrace -n 'java4711:::Svc.tiny-entry { @[arg1] = count(); }' -p 4711
//	perf record -e sdt_java:Svc_tiny__entry -c 1 -p 4711
//	bpftrace -p 4711 -e 'usdt:*:java:Svc_tiny__entry { @[arg1] = count(); }'
//
// No compiler is needed. Apart from the list of probes, the object is always the same:
//
//	segment R X   JNI_OnLoad, which registers the native methods of the agent's class GasmSites; and 2048 sites,
//	              each of them a nop of 5 bytes (4 on aarch64) and a return
//	segment RW    a semaphore for each site, which counts the tracers that watch the site
//	after them    the sections that tracers read but no process maps: the notes of each probe (.note.stapsdt), and a
//	              symbol for each site in use: the method at that site, with its class and parameter types
//
// A class that is loaded later gets sites that were unused so far. At that time the JVM has already mapped the object,
// and tracers already know the file. So [File.Publish] writes a new list of all probes to the same file: it writes the
// new sections to an area of the file that is not in use, and then makes the header refer to them.
//
// # What Java does
//
// At the entry and the returns of a method, the agent adds this code: if the semaphore of the site is not 0, call
// GasmSites.fire. JIT compilers compile this to a load, a comparison and a jump that is not taken. GasmSites.fire
// copies strings to the stack, puts all values into registers, and calls the site:
//
//	entry    arg0 this (0 in a static method), arg1 … arg7 the parameters
//	return   arg0 this, arg1 the return value, arg2 the name of the class of the exception, or 0
//
// A primitive is passed as a signed number of 8 bytes. A float or double is passed as its bits, because no tracer
// supports arguments of these types. A String is the address of a zero-terminated string in JNI's modified UTF-8, of at
// most 255 characters. null is 0, and any other object is its identity hash. Values after the eighth are left out.
//
// # The note
//
// The format of notes is defined by SystemTap's <sys/sdt.h>. A note has the addresses of the site, of .stapsdt.base and
// of the semaphore, and three texts: "java", "Svc.tiny__entry", "-8@%rdi -8@%rsi". DTrace shows two underscores as a
// hyphen. perf and bpftrace get a second note with the name "Svc_tiny__entry", because perf rejects a whole object if a
// name in it is not a C identifier. DTrace lists the second note, too.
package sdt
