// Package record makes a capture: it runs a command, samples it, and writes down what
// its JVMs say about their code.
//
// A [Recording] goes through these steps:
//
//  1. [New] takes [Options]. [NewFolder] has made the capture's folder.
//  2. [Recording.Run] makes the command's process and holds it in front of its exec,
//     attaches the sampler to it, and lets it go. So the sampler misses nothing, and
//     the sampler is never the command's parent: its failure does not touch what is
//     being profiled.
//  3. While the command runs, its stdout passes through gasm, which notes when a line
//     that begins or ends a measurement arrives (outputwatch.go). When no window will
//     open any more, sampling and the following of code end; between two windows they
//     pause (windowkeeper.go). The sampler tells which processes map
//     libjvm.so, and the code of these is read out of their memory (live.go). Where that
//     can't be done, HotSpot prints it, and JVMs are found by the logs that they write
//     (printed.go).
//  4. [Recording.Finish] writes the samples as text, the names of native functions, and
//     capture.json, and opens the capture.
//
// An [Attachment] is the same for JVMs that run already.
//
// # The command is run unchanged
//
// stdin, the terminal, signals and the exit code are the command's own. stdout passes
// through gasm, and stderr where its lines open or close windows: of that the command
// notices nothing (passage.go). What a JVM must be told travels in
// JAVA_TOOL_OPTIONS, which each JVM in the command's process tree reads, and in
// JDK_JAVA_OPTIONS, which java of JDK 9 and newer reads: that JVMs log their events
// (eventlogs.go) and, where HotSpot prints its code, all options (javaflags.go). So forks of JMH,
// of Maven or of a shell script are captured too. Each JVM says so itself on stderr
// ("Picked up JAVA_TOOL_OPTIONS: …").
//
// No JVM may die of that, whatever its release, whoever its user is, and when it starts:
// see logFolder and javaFlags.
//
// # JVMs that run already
//
// An [Attachment] has no command, and so neither its output nor its environment: it has the
// JVMs that package attach found, samples their threads, and follows their code
// (attachment.go). It ends by a length, a signal, or with the last JVM. What it shares with
// a Recording, from the sampler to capture.json, is in session.go. A JVM is only read; the
// one flag that can be switched on in it, and what becomes of that when gasm is killed, is
// in debuginfo.go.
//
// # When it is measured
//
// A trial has windows, which belong to a process. The first of these rules that
// applies makes them (windows.go): a delay and a length; lines of the output that the
// user named; a file that the program writes its windows to (windowfile.go), as gasm's
// profiler for JMH does; JMH's progress lines (jmh.go), which may be in a file (jmhfile.go);
// the whole run. The scores of trials are those of JMH's results, where it writes them as JSON
// (jmhresult.go), else those of its lines or of the window file.
package record
