// Package printassembly knows the flags that make HotSpot print the code it
// compiled, and reads what it prints.
//
// [CaptureFlags] asks for all code, or for that of a [Selection] of methods; all
// others are then known by name and range.
//
// Reading has two passes. [Open] makes the index: one pass over the log, in
// blocks on all cores, that notes for each code blob its address range, name,
// time and place in the file, and allocates per blob, not per line. [Log.Code]
// then reads single blobs again, the sampled ones, and gives their instructions
// with comments, debug info and source lines.
//
// # Dialects
//
// What HotSpot prints, and since when, as seen in testdata/captures.
//
//	JDK 8   Code needs hsdis. A method is "Compiled method (c1)" with its ranges,
//	        under PrintNMethods or PrintNativeNMethods, and again
//	        "Decoding compiled method 0x…:", "Code:" under PrintAssembly, which alone
//	        names it in "# {method}" only; LogCompilation's <nmethod …/> behind that
//	        has compiler, level and time. Native wrappers are "(nm)", their code is
//	        behind "Decoding CodeBlob 0x…". "Decoding RuntimeStub - name 0x…" and
//	        "Decoding VtableStub vtbl[3]@12" have no range: their instructions have.
//	        Stubs end in "[": "[0x…, 0x…[ (29 bytes)". "OopMapSet contains 9 OopMaps"
//	        follows the code; comments have no {reexecute=…}.
//	JDK 11  Blobs have ranges. PrintAssembly prints "Compiled method", then a heading
//	        "p/Class.method()V  [0x…, 0x…]  944 bytes" above the code; native wrappers
//	        have only the heading. Without hsdis neither headings nor code.
//	        As in 8: "[Disassembling for mach='i386:x86-64']" in front of the first
//	        code, "[Constants]" at entry points, "0x… (offset:    0): …" for constants.
//	JDK 17  Since 14 code is [MachCode] hex without hsdis, and text is between
//	        [Disassembly] and [/Disassembly], its comments further to the right;
//	        "[Constant Pool (empty)]" for [Constants]; "- - - [OOP MAPS]" and
//	        "- - - [END]" behind stubs. Native wrappers are "Compiled method (n/a)",
//	        under PrintNativeNMethods twice. Stubs end in "]".
//	JDK 21  As 17.
//	JDK 25  "[Instructions begin]", {post_call_nop}, mutable and immutable data among
//	        a method's ranges.
//	JDK 28  One blank less in front of the time; comments may start with "#" for ";"
//	        (no capture yet).
//
// In all: signature handlers ("argument handler #0 for: … (fingerprint = 29, 11
// bytes generated)") have a size and no address; a JVMCI compiler's methods are
// "Compiled method (JVMCI)"; hsdis writes AT&T's or, by PrintAssemblyOptions,
// Intel's syntax. Adapters and inline cache stubs (JDK ≤ 22) are never printed.
//
// # What a log looks like
//
// The header gives the process and the JVM's start in wall clock time:
//
//	<hotspot_log version='160 1' process='2490' time_ms='1795221479359'>
//
// A blob starts with one of these lines (JDK 17 and 25; what each kind is
// called is in [Kind]):
//
//	Compiled method (c2) 363   73 %     4       Workload::dot @ 4 (28 bytes)
//	Decoding RuntimeStub - wrong_method_stub 0x… [0x…, 0x…] (1136 bytes)
//	Decoding VtableStub itbl[0]@0x… [0x…, 0x…] (152 bytes)
//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)
//	invokehandle  233 invokehandle  [0x…, 0x…]  768 bytes
//
// A compiled method goes on with its ranges (" main code      [0x…,0x…] = 608");
// its code and that of all other blobs follows in one of two forms. Without a
// disassembler plug-in it is hex, in memory order, cells of four bytes:
//
//	[MachCode]
//	[Verified Entry Point]
//	  # {method} {0x00007fad93400ec8} &apos;dot&apos; …
//	  0x00007fae08ed77a0: ;   {runtime_call os::breakpoint()}
//	  0x00007fae08ed77a0: e85b be41 | 1566 6666 | 0f1f 8400 | …
//	[/MachCode]
//
// With hsdis it is text, one instruction a line, its comments behind and below:
//
//	[Disassembly]
//	  0x00007efcf8ece120:   call   0x00007efd102f3600           ;   {runtime_call os::breakpoint()}
//
// Threads take turns in the log: <writer thread='2504'/> says whose lines
// follow, and a blob can be cut by another thread's lines. Text between tags is
// XML-escaped. A killed JVM leaves a cut last line.
//
// Behind all that stands what gasm itself copied out of the JVM's memory (package
// nmethod), as the writer "gasm", in the form of hex, with [ExactMark]. A method's
// place in time is that of LogCompilation's <nmethod …/>.
package printassembly
