package capture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A JVM is one Java process that the command started.
type JVM struct {
	PID     int    `json:"pid"`
	Main    string `json:"main,omitempty"`    // the main class, or the jar without its folder
	Version string `json:"version,omitempty"` // "17.0.15+6-Debian-1deb12u1"
	LogFile string `json:"log"`               // its name in the capture's folder
	// StartMonoNanos is when the JVM started. The log's stamps count from then.
	StartMonoNanos int64 `json:"start_mono_nanos"`
	// Fork is the number that JMH gave to the JVM, from 1; 0 for a JVM that is no
	// fork of JMH's.
	Fork int `json:"fork,omitempty"`
	// WarmupOf is the trial that the JVM is one of JMH's warm-up forks of, which are not
	// measured.
	WarmupOf string `json:"warmup_of,omitempty"`

	// SafepointsOnly tells that the JVM ran without DebugNonSafepoints: an instruction has the
	// line and the frames of the next safepoint behind it.
	SafepointsOnly bool `json:"safepoints_only,omitempty"`

	// EventLog is the log of its events in the capture's folder; "" without one.
	EventLog string `json:"event_log,omitempty"`
	// USDT is the text of its USDT probes in the capture's folder; "" without one.
	USDT string `json:"usdt_log,omitempty"`
	// Recordings are those of Flight Recorder in the capture's folder.
	Recordings []string `json:"recordings,omitempty"`
	// StartsUnasked tells that the recordings have starts of threads for the sake of samples of allocations alone: they are
	// no events for a report.
	StartsUnasked bool `json:"starts_unasked,omitempty"`
	// OwnPID is the process id that the JVM has itself, and Threads are the ids of threads by
	// those that it has itself, where it is in another PID namespace than the sampler.
	OwnPID  int         `json:"own_pid,omitempty"`
	Threads map[int]int `json:"threads,omitempty"`

	// Probed tells that the capture has what probes of its methods have counted: see ProbeRings.
	Probed bool `json:"probed,omitempty"`

	// Log is the code of the JVM. It is nil in a description that was only read,
	// and where the log is missing or could not be read.
	Log *printassembly.Log `json:"-"`
}

// Describe gives what a log says about its JVM. The log does not know the samples'
// clock, so StartMonoNanos is 0.
func Describe(log *printassembly.Log) JVM {
	return JVM{PID: log.PID, Main: mainOf(log.Command), Version: log.Version(), LogFile: filepath.Base(log.Name()), Log: log}
}

// mainOf is the first word of the system property sun.java.command, which has the
// main class or the path of the jar, and then the program's arguments. The jar's
// folder is left out.
func mainOf(command string) string {
	main, _, _ := strings.Cut(command, " ")
	if strings.HasSuffix(main, ".jar") {
		return filepath.Base(main)
	}
	return main
}

// String is "fork 2, pid 25190, Workload, 17.0.15+6", with what is known.
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
	return strings.Join(parts, ", ")
}

// A Trial is what is measured together and becomes one profile: the forks of one
// JMH benchmark with one set of parameters, or all JVMs of a run without JMH.
type Trial struct {
	Name    string   `json:"name,omitempty"` // "org.sample.Bench.measure (size=10)"; "" without JMH
	Windows []Window `json:"windows"`
	// Operations is how many operations JMH's scores say were done in the windows;
	// 0 when they do not say it.
	Operations float64 `json:"operations,omitempty"`
	// Score is what JMH measured; nil when nobody knows.
	Score *Score `json:"score,omitempty"`
}

// PIDs gives the processes that the trial has windows of, each once, ascending.
func (t *Trial) PIDs() []int {
	var pids []int
	for _, w := range t.Windows {
		pids = append(pids, w.PID)
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// A Window is a time in which the samples of one JVM count.
type Window struct {
	PID int `json:"pid"`
	Span
}

// A Span is a time on the samples' clock, [FromMonoNanos, ToMonoNanos).
type Span struct {
	FromMonoNanos int64 `json:"from_mono_nanos"`
	ToMonoNanos   int64 `json:"to_mono_nanos"`
}
