// Package record makes a capture: it runs a command, or attaches to JVMs that run, samples them, and writes down what
// they say about their code.
//
// A [Recording] goes through these steps:
//
//  1. [New] takes [Options]. [NewFolder] has made the capture's folder.
//  2. [Recording.Run] makes the command's process and holds it before its exec, attaches the sampler to it, and lets it
//     go. So the sampler misses nothing. It is never the command's parent, so its failure does not affect what is
//     profiled.
//  3. While the command runs, its stdout passes through gasm, which notes when a line arrives that begins or ends a
//     measurement. When no window will open any more, the sampling and the following of code end; between two windows
//     they pause. The sampler reports which processes map libjvm.so, and their code is read from their memory
//     (live.go). Where that can't be done, HotSpot prints its code, and JVMs are found by the logs that they write
//     (printed.go).
//  4. [Recording.Finish] writes the samples as text, the names of native functions, and capture.json, and opens the
//     capture.
//
// An [Attachment] is the same for JVMs that run already.
//
// # The rooms
//
// The packages below this one have one idea each, and know nothing of a Recording:
//
//   - command: the command's process, which is held before its exec, and its output
//   - windows: when it is measured: windows, trials, and JMH's scores
//   - jvmevents: what else happens in the JVMs: logs, Flight Recorder, USDT probes
//   - probes: probes in the program's methods, by gasm's agent
//   - folder: the capture's folder, and that of the JVMs' logs
//   - jvmfolder: folders in a JVM's own /tmp, and notes of what a JVM does for gasm
//   - debuginfo: the one flag that gasm writes into a JVM's memory
//   - lockedfolder, processend, patience: what these build on
//
// # The command is run unchanged
//
// stdin, the terminal, signals and the exit code are the command's own. stdout passes through gasm, and so does stderr
// where its lines open or close windows. The command notices nothing of that. What a JVM must be told is in
// JAVA_TOOL_OPTIONS, which each JVM in the command's process tree reads, and in JDK_JAVA_OPTIONS, which java of JDK 9
// and newer reads: that JVMs log their events (eventlogs.go) and, where HotSpot prints its code, all options
// (javaflags.go). So forks of JMH, of Maven or of a shell script are captured, too. Each JVM says so itself on stderr
// ("Picked up JAVA_TOOL_OPTIONS: …").
//
// No JVM may die of these options, whatever its release, its user and the time of its start are: see javaFlags, and
// Logs in package folder.
//
// # JVMs that run already
//
// An [Attachment] has no command, and so neither its output nor its environment. It has the JVMs that package attach
// found, samples their threads, and follows their code (attachment.go). It ends after a length, by a signal, or with
// the last JVM. What it has in common with a Recording, from the sampler to capture.json, is in session.go.
package record
