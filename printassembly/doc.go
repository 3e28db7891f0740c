// Package printassembly knows the flags that make HotSpot print the code that it has
// compiled, and reads what HotSpot prints.
//
// [CaptureFlags] are the flags for all code, or for that of a [Selection] of methods. Of
// all other methods the log then tells names and address ranges.
//
// A log is read in two passes. [Open] makes the index: it reads the log once, in blocks, on
// all cores, and notes of each blob (a method, a stub, a codelet …) its address range, its
// name, its time and where it is in the file. It allocates for each blob, not for each
// line. [Log.Code] then reads single blobs again, those that have samples, and gives their
// instructions with comments, inlining chains and source lines.
//
// # Dialects
//
// What HotSpot prints differs from release to release. testdata/captures has examples of
// all but JDK 28.
//
// JDK 8 prints code only with the disassembler plug-in hsdis.
//
//   - With PrintNMethods or PrintNativeNMethods, a method begins with "Compiled method (c1)"
//     and has lines with its ranges. Native wrappers are "Compiled method (nm)".
//   - PrintAssembly prints a method's code (again) behind "Decoding compiled method 0x…:" and
//     "Code:". If nothing stands in front of that, only the comment "# {method}" tells the
//     method's name, and LogCompilation's tag <nmethod …/> behind the code tells its
//     compiler, level and time.
//   - The code of a native wrapper stands behind "Decoding CodeBlob 0x…".
//   - "Decoding RuntimeStub - name 0x…" and "Decoding VtableStub vtbl[3]@12" tell no range. It
//     is taken from the addresses of their instructions.
//   - The line of a stub ends in "[" in place of "]": "[0x…, 0x…[ (29 bytes)".
//   - Code ends at "OopMapSet contains 9 OopMaps". Comments have no {reexecute=…}.
//
// JDK 11 prints code only with hsdis, too.
//
//   - All blobs tell their ranges.
//   - A method begins with "Compiled method (c1)". Above its code, PrintAssembly prints a
//     heading: "p/Class.method()V  [0x…, 0x…]  944 bytes". Native wrappers have only that.
//   - "[Disassembling for mach='i386:x86-64']" stands in front of the first code,
//     "[Constants]" at entry points, and "0x… (offset:    0): …" for constants, as in JDK 8.
//
// JDK 17 (and 14 to 16) prints code without hsdis as well, as bytes behind [MachCode].
//
//   - The text of hsdis stands between [Disassembly] and [/Disassembly], with its comments
//     further to the right.
//   - "[Constant Pool (empty)]" stands where [Constants] was. Behind stubs there is
//     "- - - [OOP MAPS]" and "- - - [END]". The line of a stub ends in "]".
//   - Native wrappers are "Compiled method (n/a)"; PrintNativeNMethods prints them twice.
//
// JDK 21 prints the same as JDK 17.
//
// JDK 25 adds the mark "[Instructions begin]", the comment {post_call_nop}, and to a
// method's ranges mutable and immutable data.
//
// JDK 28 has one blank less in front of the time, and comments may begin with "#" in place
// of ";".
//
// In all releases: Signature handlers ("argument handler #0 for: … (fingerprint = 29, 11
// bytes generated)") have a size and no address. The methods of a JVMCI compiler are
// "Compiled method (JVMCI)". hsdis writes AT&T's syntax, or Intel's if PrintAssemblyOptions
// says so. Adapters are never printed, nor are inline cache stubs, which JDK 22 and older
// have.
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
// At the end of a log stand the methods that gasm has copied out of the JVM's memory
// (package nmethod). Their writer is "gasm", their code is bytes, with [ExactMark]. When
// such a method was installed, LogCompilation's tag <nmethod …/> tells. Behind a method stand
// the files that the classes of its frames were made from, each once ([AppendSourceFile]).
// HotSpot has no such line, and older readers take no notice of it:
//
//	<source_file class='java.util.HashMap$Node' name='HashMap.java'/>
package printassembly
