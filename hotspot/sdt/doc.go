// Package sdt writes the shared object by which tracers see probes in Java methods, as they see those of a program in C:
// DTrace, perf and bpftrace find the provider java in it, and a probe at the entry and at the return of each method.
//
//	dtrace -n 'java4711:::Svc.tiny-entry { @[arg1] = count(); }' -p 4711
//	perf record -e sdt_java:Svc_tiny__entry -c 1 -p 4711
//	bpftrace -p 4711 -e 'usdt:*:java:Svc_tiny__entry { @[arg1] = count(); }'
//
// No compiler is needed. What is in the object is always the same, but for the list of its probes:
//
//	segment R X   JNI_OnLoad, which gives the class GasmSites of gasm's agent its native methods; and 2048 sites,
//	              each of them a nop of 5 bytes (of 4 on aarch64) and a return
//	segment RW    a semaphore for each site: how many tracers watch it
//	behind them   the sections that tracers read and no process maps: a note for each probe (.note.stapsdt), and a
//	              symbol for each site, which names the whole method
//
// A class that is loaded later gets new sites while the JVM has the object mapped, and tracers that know the file. So
// [File.Publish] writes a new list of all probes into the same file: it writes the sections to another place than those
// that are there, and then has the header refer to them.
//
// # What Java does
//
// The agent adds to the entry of a method: if the semaphore of its site is not 0, call GasmSites.fire. JIT compilers make
// of this a load, a comparison and a jump that is not taken. GasmSites.fire copies strings to the stack, puts all values
// into registers, and calls the site:
//
//	entry    arg0 this (0 in a static method), arg1 … arg7 the parameters
//	return   arg0 this, arg1 what the method returns, arg2 the name of the class of the exception, or 0
//
// A primitive is a signed number of 8 bytes; of float and double the bits are given, because no tracer knows them as
// arguments. A String is the address of at most 255 characters as a string of C in JNI's modified UTF-8, null is 0,
// and any other object is its identity hash. Values behind the eighth are left out.
//
// # The note
//
// SystemTap's <sys/sdt.h> says what is in a note: the addresses of the site, of .stapsdt.base and of the semaphore, and
// three texts: "java", "Svc.tiny__entry", "-8@%rdi -8@%rsi". DTrace shows two underscores as a hyphen. perf and bpftrace
// have the names of a second note, "Svc_tiny__entry", because perf refuses all of an object with a name that C would
// refuse. DTrace lists that one, too.
package sdt
