// Package capture is one recording of a program, as files on disk: which JVMs ran, when they were measured, the code
// that HotSpot compiled or generated, and the samples.
//
// A capture is a folder of plain files, so that other tools can read them too:
//
//	capture.json          the command, the host, the sampler and its events, the clocks,
//	                      the JVMs, the windows, and notes; see [Description]
//	samples.txt           the sampler's own text, as perf script or dtrace prints it
//	symbols.txt           the native functions that samples are in; see [native.Table]
//	asm-<pid>.log         the code of one JVM, as HotSpot prints it; see package printassembly
//	ev-<pid>.log          the events of one JVM, as HotSpot logs them; see package event/hslog.
//	                      HotSpot begins a new file after 20 MB; ev-<pid>.log.0 to .4 are the older ones
//	ev-<pid>.jfr          the recording of one JVM by Flight Recorder; see package event/jfr.
//	                      Further parts of it are ev-<pid>-1.jfr, ev-<pid>-2.jfr and so on
//	usdt-<pid>.log        the events of the USDT probes of one JVM; see package event/usdt
//	probes-<pid>.txt      which methods, locks and allocations of one JVM were probed; see package event/rings
//	probes-<pid>.ring     what these probes have counted, and the last calls of each thread
//	probes-<pid>.windows  when threads were in methods that are windows, saved while the JVM ran
//
// Package record writes these files, capture.json last. [Open] reads them again. The commands profile, report and diff
// all read captures with [Open]. So `gasm profile` prints the same report at the end of a recording as `gasm report`
// prints for its folder later.
//
// A folder of such folders, one or two levels down, is read as one capture (join.go). Trials of the same name become
// one trial. If processes of two captures have the same id, one of them gets a new id. gasm's profiler for JMH writes
// such a folder, with one capture for each fork.
//
// A folder without capture.json, and files that other tools made, are captures too. For them, [Open] and [OpenFiles]
// guess from the logs and the samples what capture.json would say.
//
// # Clocks
//
// Times in a capture are in ns of CLOCK_MONOTONIC, which is the clock of `perf record -k mono` and of DTrace's
// timestamp. HotSpot's log has the JVM's start in wall clock time. It is converted with a [Clock], which is a reading
// of both clocks at one moment.
package capture
