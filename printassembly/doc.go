// Package printassembly reads the compiled code that HotSpot prints, and knows the flags that make HotSpot print it.
//
// [CaptureFlags] returns the flags that print all code, or the code of a [Selection] of methods. The log still has the
// names and address ranges of methods outside the Selection.
//
// A log is read in two passes. [Open] makes the index: it reads the log once, in blocks, on all cores. For each blob
// (a method, a stub, a codelet …) it notes the address range, the name, the time, and the position in the file. It
// allocates memory for each blob, but not for each line. [Log.Code] then reads one blob again and returns its
// instructions with their comments, inlining chains and source lines. Callers do this only for blobs that have
// samples.
//
// The API may change between minor versions before 1.0.
//
// # Dialects
//
// What HotSpot prints differs from release to release. The folder testdata/captures has an example of each of the
// following dialects, but none of JDK 28.
//
// JDK 8 prints code only if the disassembler plug-in hsdis is installed.
//
//   - With PrintNMethods or PrintNativeNMethods, a method begins with "Compiled method (c1)", and lines with its
//     address ranges follow. Native wrappers begin with "Compiled method (nm)".
//   - PrintAssembly prints a method's code (again) after the lines "Decoding compiled method 0x…:" and "Code:". If
//     PrintNMethods has printed nothing before that, the method's name is only in the comment "# {method}", and its
//     compiler, level and time are only in LogCompilation's tag <nmethod …/> after the code.
//   - The code of a native wrapper comes after "Decoding CodeBlob 0x…".
//   - "Decoding RuntimeStub - name 0x…" and "Decoding VtableStub vtbl[3]@12" have no address range. The range is
//     computed from the addresses of the instructions.
//   - The first line of a stub has "[" in place of "]": "[0x…, 0x…[ (29 bytes)".
//   - Code ends at a line like "OopMapSet contains 9 OopMaps". Comments do not have {reexecute=…}.
//
// JDK 11 also prints code only with hsdis.
//
//   - Each blob has a line with its address range.
//   - A method begins with "Compiled method (c1)". PrintAssembly prints a heading above its code:
//     "p/Class.method()V  [0x…, 0x…]  944 bytes". Native wrappers have only this heading.
//   - As in JDK 8, "[Disassembling for mach='i386:x86-64']" comes before the first code, "[Constants]" marks entry
//     points, and constants are printed as "0x… (offset:    0): …".
//
// JDK 17 (and 14 to 16) can print code without hsdis: as bytes, after the mark [MachCode].
//
//   - With hsdis, its text is between [Disassembly] and [/Disassembly], and comments are further to the right.
//   - "[Constant Pool (empty)]" replaces [Constants]. The code of a stub is followed by "- - - [OOP MAPS]" and
//     "- - - [END]". The first line of a stub has "]".
//   - Native wrappers begin with "Compiled method (n/a)". PrintNativeNMethods prints them twice.
//
// JDK 21 prints the same as JDK 17.
//
// JDK 25 adds the mark "[Instructions begin]" and the comment {post_call_nop}. The ranges of a method include its
// mutable and its immutable data.
//
// JDK 28 prints one blank less before the time, and comments may begin with "#" instead of ";".
//
// In all releases, signature handlers ("argument handler #0 for: … (fingerprint = 29, 11 bytes generated)") have a
// size but no address. The methods of a JVMCI compiler begin with "Compiled method (JVMCI)". hsdis writes AT&T
// syntax, or Intel syntax if PrintAssemblyOptions says so. HotSpot never prints adapters, nor the inline cache stubs
// of JDK 22 and older.
//
// # What a log looks like
//
// The header has the process id and the JVM's start in wall clock time:
//
//	<hotspot_log version='160 1' process='2490' time_ms='1795221479359'>
//
// A blob starts with one of these lines (from JDK 17 and 25; each [Kind] has its own form):
//
//	Compiled method (c2) 363   73 %     4       Workload::dot @ 4 (28 bytes)
//	Decoding RuntimeStub - wrong_method_stub 0x… [0x…, 0x…] (1136 bytes)
//	Decoding VtableStub itbl[0]@0x… [0x…, 0x…] (152 bytes)
//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)
//	invokehandle  233 invokehandle  [0x…, 0x…]  768 bytes
//
// For a compiled method, lines with its address ranges follow (" main code      [0x…,0x…] = 608"). Then comes the
// code, in one of two forms. Without a disassembler plug-in it is hexadecimal: bytes in memory order, in cells of
// four:
//
//	[MachCode]
//	[Verified Entry Point]
//	  # {method} {0x00007fad93400ec8} &apos;dot&apos; …
//	  0x00007fae08ed77a0: ;   {runtime_call os::breakpoint()}
//	  0x00007fae08ed77a0: e85b be41 | 1566 6666 | 0f1f 8400 | …
//	[/MachCode]
//
// With hsdis it is text. Each line has one instruction; its comments are to the right of it and on the lines below:
//
//	[Disassembly]
//	  0x00007efcf8ece120:   call   0x00007efd102f3600           ;   {runtime_call os::breakpoint()}
//
// Threads take turns in writing the log: <writer thread='2504'/> announces whose lines follow. So the lines of a blob
// can be interrupted by another thread's lines. Text between tags is XML-escaped. If the JVM was killed, the last
// line is cut off.
//
// The end of a log has the methods that gasm copied out of the JVM's memory (package nmethod). Their writer is
// "gasm", and their code is bytes below an [ExactMark]. LogCompilation's tag <nmethod …/> has the time at which such
// a method was installed. After each method come the names of the source files of the classes in its frames
// ([AppendSourceFile]), but only one line per class in the whole log. HotSpot does not write such lines, and older
// versions of gasm ignore them:
//
//	<source_file class='java.util.HashMap$Node' name='HashMap.java'/>
//
// Between the methods are the whole names of Java threads ([AppendThreadName]), which other versions ignore, too:
//
//	<thread_name tid='2501' name='http-nio-8080-exec-7'/>
//
// Also between the methods are lines with what HotSpot had counted in them ([AppendMethodProfile]):
//
//	<method_profile id='7' method='Shapes::sum' class_check='2'/>
//	<profile_branch bci='9' line='11' bytecode='ifne' taken='2810' not_taken='312'/>
//	<profiles compile_id='42' ids='7 3 9'/>
//	<profiles compile_id='42' osr='1' ids='8'/>
//
// and lines with what their bytecodes refer to ([AppendMethodBody]):
//
//	<method_body id='7' method='Shapes::sum' refs='1g16 5a 9c6 14p24'/>
package printassembly
