// Package capture is one recording of a program, as it lies on disk: which JVMs
// ran, when they were measured, the code that HotSpot had, and the samples.
//
// A capture is a folder of plain files, so that other tools can read them too:
//
//	capture.json      the command, the host, the sampler and its events, the clocks,
//	                  the JVMs, the windows, and notes; see [Description]
//	samples.txt       the sampler's own text, as perf script or dtrace prints it
//	symbols.txt       the native functions that samples are in; see [native.Table]
//	asm-<pid>.log     the code of one JVM, as HotSpot prints it; see package printassembly
//	ev-<pid>.log      the events of one JVM, as HotSpot logs them; see package event/hslog.
//	                  HotSpot begins a new file after 20 MB; ev-<pid>.log.0 to .4 are the older ones
//	ev-<pid>.jfr      the recording of one JVM by Flight Recorder; see package event/jfr
//	usdt-<pid>.log    what the USDT probes of one JVM told; see package event/usdt
//
// Package record writes these files, capture.json last. [Open] reads them again.
// The commands profile, report and diff all go through [Open], so that the report
// at the end of a recording is the same that a later one of its folder will be.
//
// A folder of such folders, one or two levels down, is read as one capture (join.go): trials of
// one name are one trial, and processes with the id of another one get ids of their own. JMH's
// profiler keeps a capture of each fork in this way.
//
// A folder without capture.json, and files that other tools made, are captures too:
// [OpenFiles] guesses what they do not say from the logs and the samples.
//
// # Clocks
//
// All times in a capture are CLOCK_MONOTONIC, in ns: the clock of `perf record -k
// mono` and of DTrace's timestamp. HotSpot's log has the JVM's start in wall clock
// time; a [Clock], both clocks read at one moment, translates it.
package capture
