package capture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A JVM is a Java process that the command started, or that gasm attached to.
type JVM struct {
	PID     int    `json:"pid"`
	Main    string `json:"main,omitempty"`    // the main class, or the jar without its folder
	Version string `json:"version,omitempty"` // "17.0.15+6-Debian-1deb12u1"
	LogFile string `json:"log"`               // the file in the capture that has the JVM's code: "asm-4711.log"
	// StartMonoNanos is the time at which the JVM started. The time stamps in its log are relative to that time.
	StartMonoNanos int64 `json:"start_mono_nanos"`
	// Fork is the number that JMH gave to this fork, from 1 on. It is 0 for a JVM that is not a fork of JMH.
	Fork int `json:"fork,omitempty"`
	// WarmupOf is set only for a warm-up fork of JMH, which is not measured. It is the name of the trial that the fork
	// belongs to.
	WarmupOf string `json:"warmup_of,omitempty"`

	// SafepointsOnly is true if the JVM was started without DebugNonSafepoints. Then HotSpot knows source lines and
	// frames only for the safepoints in its code, unless the flag was switched on before it compiled a method. For all
	// other instructions, package safepoints guesses them.
	SafepointsOnly bool `json:"safepoints_only,omitempty"`
	// DetailedFromMillis is set if gasm switched DebugNonSafepoints on in the JVM's memory when the JVM started. It is
	// the JVM's uptime at that moment, in milliseconds. In methods that were compiled before, HotSpot knows source
	// lines and frames only for safepoints.
	DetailedFromMillis int64 `json:"detailed_from_millis,omitempty"`

	// FramePointers is true if the JVM ran with PreserveFramePointer. Then Java code keeps frame pointers, which a
	// sampler can follow.
	FramePointers bool `json:"frame_pointers,omitempty"`

	// EventLog is the file in the capture's folder to which HotSpot logged the JVM's events. It is "" if there is none.
	EventLog string `json:"event_log,omitempty"`
	// USDT is the file in the capture's folder with the events of the JVM's USDT probes. It is "" if there is none.
	USDT string `json:"usdt_log,omitempty"`
	// Recordings are the names of the JVM's Flight Recorder files in the capture's folder.
	Recordings []string `json:"recordings,omitempty"`
	// StartsUnasked is true if the user did not ask for the starts of threads. The recordings then have these events
	// only because they are needed to interpret allocation samples. Reports do not show them.
	StartsUnasked bool `json:"starts_unasked,omitempty"`
	// Inlining is true if the recordings have the compilers' decisions about calls (event.Inlined).
	Inlining bool `json:"inlining,omitempty"`
	// RecordingFromMonoNanos and RecordingLateNanos are set if gasm began to record the JVM's events, by Flight
	// Recorder or by USDT probes, after it began to sample the JVM. RecordingFromMonoNanos is the time at which the
	// recording began, and RecordingLateNanos is how late that was. Otherwise both are 0.
	RecordingFromMonoNanos int64 `json:"recording_from_mono_nanos,omitempty"`
	RecordingLateNanos     int64 `json:"recording_late_nanos,omitempty"`
	// OwnPID and Threads are set if the JVM is in a different PID namespace than the sampler, for example in a
	// container. OwnPID is the process id that the JVM itself sees. Threads maps the thread ids that the JVM sees to
	// those that the sampler sees.
	OwnPID  int         `json:"own_pid,omitempty"`
	Threads map[int]int `json:"threads,omitempty"`

	// OfOther is true if the JVM ran as a different user than gasm, or saw different files, for example in a container.
	// Such a JVM may be hostile, so it could be harmful to open the paths in its log.
	OfOther bool `json:"of_other,omitempty"`

	// Probed is true if methods of the JVM were probed, and the capture has the file with their counts (see
	// ProbeRings).
	Probed bool `json:"probed,omitempty"`

	// Wall is the name of the file that says what the JVM's threads did over time, even while they were blocked
	// (WallText). It is "" if that was not recorded.
	Wall string `json:"wall,omitempty"`

	// Host is set if OpenAll has read several captures as one (see nameHosts). It is the name of the host on which the
	// JVM ran, or the path of its capture. Otherwise it is "".
	Host string `json:"-"`

	// Log is the log with the JVM's compiled code. It is nil if the log is missing or could not be read. It is also nil
	// in a Description that was not opened with its Capture.
	Log *printassembly.Log `json:"-"`
}

// Describe returns what a log says about its JVM. StartMonoNanos is 0, because the log has no times on the samples'
// clock.
func Describe(log *printassembly.Log) JVM {
	return JVM{PID: log.PID, Main: mainOf(log.Command), Version: log.Version(), LogFile: filepath.Base(log.Name()),
		FramePointers: log.FramePointers, Log: log}
}

// mainOf returns the main class of a program, or the name of its jar without the folder. Its argument is the value of
// the system property sun.java.command, which also has the program's arguments: for "/opt/bench.jar -f 1", mainOf
// returns "bench.jar".
func mainOf(command string) string {
	main, _, _ := strings.Cut(command, " ")
	if strings.HasSuffix(main, ".jar") {
		return filepath.Base(main)
	}
	return main
}

// JVMCI reports whether the JVM has code of a JVMCI compiler, such as Graal, which replaces C2.
func (j *JVM) JVMCI() bool {
	return j.Log != nil && slices.ContainsFunc(j.Log.Blobs,
		func(b printassembly.Blob) bool { return b.Compiler == "jvmci" })
}

// String returns the JVM in words: "fork 2, pid 25190, Workload, 17.0.15+6". It leaves out what is unknown.
func (j *JVM) String() string {
	var parts []string
	if j.Fork > 0 {
		parts = append(parts, fmt.Sprintf("fork %d", j.Fork))
	}
	parts = append(parts, fmt.Sprintf("pid %d", j.PID))
	for _, known := range []string{j.Main, j.Version} {
		if known != "" {
			parts = append(parts, known)
		}
	}
	if j.Host != "" {
		parts = append(parts, "on "+j.Host)
	}
	return strings.Join(parts, ", ")
}

// A Trial is the part of a run that gets a profile of its own. With JMH, that is all forks of one benchmark with one
// set of parameters. Without JMH, it is all JVMs of the run.
type Trial struct {
	Name    string   `json:"name,omitempty"` // "org.sample.Bench.measure (size=10)"; "" without JMH
	Windows []Window `json:"windows"`
	// Operations is the number of operations that the benchmark did while it was measured, according to JMH's scores.
	// It is 0 if the number is unknown.
	Operations float64 `json:"operations,omitempty"`
	// Score is the result that JMH measured. It is nil if it is unknown.
	Score *Score `json:"score,omitempty"`
}

// PIDs returns the ids of the processes that were measured in the trial. They are sorted, and each is listed once.
func (t *Trial) PIDs() []int {
	var pids []int
	for _, w := range t.Windows {
		pids = append(pids, w.PID)
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// A Window is a span of time in which one JVM is measured. Only samples from the windows are part of the profile.
type Window struct {
	PID int `json:"pid"`
	Span
}

// A Span is a span of time on the samples' clock. ToMonoNanos is not part of it.
type Span struct {
	FromMonoNanos int64 `json:"from_mono_nanos"`
	ToMonoNanos   int64 `json:"to_mono_nanos"`
}
