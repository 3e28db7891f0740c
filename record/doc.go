// Package record makes a capture: it runs a command, or attaches to running JVMs, samples them, and saves the JVMs'
// code and events.
//
// A [Recording] goes through these steps:
//
//  1. [NewFolder] makes the capture's folder, and [New] makes the Recording from [Options].
//  2. [Recording.Run] makes the command's process and holds it before its exec, attaches the sampler to it, and then
//     lets the process continue. So the sampler misses nothing. The sampler is never the command's parent, so a failure
//     of the sampler does not affect the command.
//  3. While the command runs, its stdout passes through gasm, which records the times of lines that begin or end a
//     window of measurement. Between two windows, sampling and following of code pause, and when no further window will
//     open, both end. The sampler reports which processes map libjvm.so, and gasm reads their code from their memory
//     (live.go). If that is impossible, HotSpot prints its code, and gasm finds the JVMs by the logs that they write
//     (printed.go).
//  4. [Recording.Finish] writes the samples as text, the names of native functions, and capture.json, and opens the
//     capture.
//
// An [Attachment] does the same for JVMs that run already.
//
// # The packages below
//
// Each of the packages below this one does one task, and does not use the type Recording:
//
//   - command: the command's process, which is held before its exec, and the command's output
//   - windows: the times during which the command is measured: windows, trials, and JMH's scores
//   - jvmevents: the events in the JVMs, from logs, Flight Recorder and USDT probes
//   - probes: probes in the program's methods, by gasm's agent
//   - folder: the capture's folder, and the folder of the JVMs' logs
//   - jvmfolder: folders in a JVM's own /tmp, and notes about what gasm has switched on in a JVM
//   - debuginfo: the one flag that gasm writes into a JVM's memory
//   - lockedfolder, processend, patience: helpers of these packages
//
// # The command is run unchanged
//
// The command has the same stdin, terminal, signals and exit code as without gasm. Its stdout passes through gasm, and
// so does its stderr if lines on it open or close windows. The command does not notice that. Options for JVMs are added
// to the command line of a java program or another tool of a JDK (javaflags.go). JVMs that start without these options
// have the flag DebugNonSafepoints switched on in their memory (live.go), and get the command to log events through
// their attach socket. So JVMs that JMH, Maven or a shell script start are captured, too, and no JVM prints a line
// about gasm.
//
// Some options have to reach every JVM from its start. They are passed in two environment variables: JAVA_TOOL_OPTIONS,
// which each JVM in the command's process tree reads, and JDK_JAVA_OPTIONS, which java of JDK 9 and newer reads. Each
// JVM reports the variable on stderr ("Picked up JAVA_TOOL_OPTIONS: …"). The options make HotSpot print its code if
// gasm does not copy it (printed.go), log its events if the user has asked a script's JVMs for events (eventlogs.go),
// enable USDT probes, or load gasm's agent (probes.go).
//
// These options must not keep any JVM from starting, whatever its release and its user are, and even if it starts after
// the command has ended. See javaFlags, and Logs in package folder.
//
// # JVMs that run already
//
// An [Attachment] has no command, so it sees no output and sets no environment. It samples the threads of the JVMs that
// package attach has found, and follows their code (attachment.go). It ends after a given time, by a signal, or when
// the last JVM has ended. The parts that an Attachment has in common with a Recording, from the sampler to
// capture.json, are in session.go.
package record
