// Package capture reads captures. A capture is a recording of a program, stored as files on disk. It says which JVMs
// ran and when they were measured. It also has the samples, and the code that HotSpot compiled or generated.
//
// A capture is a folder of plain files, so that other tools can read them too:
//
//	capture.json          the command, the host, the sampler and its events, the clocks,
//	                      the JVMs, the windows, and notes; see [Description]
//	samples.txt           the sampler's own text, as perf script or dtrace prints it
//	symbols.txt           the native functions that samples are in; see [native.Table]
//	native-code.txt       the code of the native functions that have many samples; see package internal/nativecode
//	stacks.txt            the call stacks of the samples; see package callstack
//	asm-<pid>.log         the code of one JVM, as HotSpot prints it; see package printassembly
//	ev-<pid>.log          the events of one JVM, as HotSpot logs them; see package event/hslog.
//	                      HotSpot begins a new file after 20 MB; ev-<pid>.log.0 to .4 are the older ones
//	ev-<pid>.jfr          the recording of one JVM by Flight Recorder; see package event/jfr.
//	                      Further parts of it are ev-<pid>-1.jfr, ev-<pid>-2.jfr and so on
//	usdt-<pid>.log        the events of the USDT probes of one JVM; see package event/usdt
//	probes-<pid>.txt      which methods, locks and allocations of one JVM were probed; see package event/rings
//	probes-<pid>.ring     what these probes have counted, and the last calls of each thread
//	probes-<pid>.windows  when threads were in methods that are windows, saved while the JVM ran
//	wall-<pid>.txt        what each thread of one JVM did over time, even while it was blocked; see package wall
//
// Package record writes these files. It writes capture.json last. The commands profile, report and diff all read them
// with [Open]. So the report that `gasm profile` prints at the end of a recording is the same as the one that `gasm
// report` prints later.
//
// A folder can also contain several captures in its subfolders, one or two levels down. Then they are all read as one
// capture (join.go). Each trial has a profile of its own; with JMH, a trial is a benchmark. Trials of the same name
// become one trial. If two captures have processes with the same id, one of these processes gets a new id. gasm's
// profiler for JMH writes such a folder: it has a capture for each fork.
//
// capture.json may be missing, for example if the files were made by other tools. Then [Open] and [OpenFiles] guess its
// content from the logs and the samples.
//
// # Clocks
//
// Times in a capture are in ns of CLOCK_MONOTONIC, which is the clock of `perf record -k mono` and of DTrace's
// timestamp. HotSpot's log gives the start of the JVM in wall clock time. A [Clock] converts it: a Clock is a reading
// of both clocks at the same moment.
package capture
