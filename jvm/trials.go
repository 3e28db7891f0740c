package jvm

import (
	"fmt"
	"slices"
	"strings"
)

// A JVM is one Java process that the command started.
type JVM struct {
	PID     int    `json:"pid"`
	Main    string `json:"main,omitempty"`    // main class or jar
	Version string `json:"version,omitempty"` // "17.0.15+6-Debian-1deb12u1"
	Log     string `json:"log"`               // file name in the capture folder
	// StartMonoNanos is the JVM's start on the samples' clock.
	StartMonoNanos int64 `json:"start_mono_nanos"`
	Fork           int   `json:"fork,omitempty"` // JMH's number of it, from 1; 0: none
}

// A Trial is what is measured together: the forks of one JMH benchmark with
// one set of parameters, or all of a run without JMH.
type Trial struct {
	Name    string   `json:"name,omitempty"`
	Windows []Window `json:"windows"`
	// Operations is how many operations JMH's scores say were done in the
	// windows; 0 when they don't.
	Operations float64 `json:"operations,omitempty"`
}

// A Window is a time in which one JVM is measured.
type Window struct {
	PID int `json:"pid"`
	Span
}

// PIDs gives the trial's processes, ascending.
func (t *Trial) PIDs() []int {
	var pids []int
	for _, w := range t.Windows {
		pids = append(pids, w.PID)
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// ForkOfJMH tells whether the JVM runs benchmarks for a JMH host.
func (j *JVM) ForkOfJMH() bool { return strings.HasPrefix(j.Main, jmhForkMain) }

const jmhForkMain = "org.openjdk.jmh.runner.ForkedMain"

// WholeTrial measures all JVMs in the same spans.
func WholeTrial(jvms []JVM, spans []Span) Trial {
	var t Trial
	for _, j := range jvms {
		for _, s := range spans {
			t.Windows = append(t.Windows, Window{j.PID, s})
		}
	}
	return t
}

// JMHTrials gives the trials that JMH announced, with the JVMs that ran them
// and the times of their measured iterations; none when the command was not
// JMH or measured nothing. It numbers the forks among jvms. Iterations that
// were cut short end at endMonoNanos.
//
// Forks that were measured and left no log are in no trial; [Watcher.LostForks]
// names them afterwards.
func (w *Watcher) JMHTrials(jvms []JVM, endMonoNanos int64) []Trial {
	w.mu.Lock()
	defer w.mu.Unlock()
	forks := w.jmh.forks
	names := trialNames(forks)
	var trials []Trial
	w.lostForks = nil
	index := map[string]int{}
	taken := map[*JVM]bool{}
	for i, f := range forks {
		if len(f.iterations) == 0 {
			continue
		}
		j := forkJVM(jvms, f)
		if j == nil || taken[j] {
			if !f.warmup {
				w.lostForks = append(w.lostForks, fmt.Sprintf("fork %d of %s", f.number, names[i]))
			}
			continue
		}
		taken[j] = !f.host
		if f.warmup {
			continue
		}
		at, ok := index[names[i]]
		if !ok {
			at = len(trials)
			index[names[i]] = at
			trials = append(trials, Trial{Name: names[i]})
		}
		trials[at].addOperations(len(trials[at].Windows) == 0, f.operations)
		j.Fork = f.number
		for _, s := range f.iterations {
			if s.ToMonoNanos == 0 {
				s.ToMonoNanos = max(s.FromMonoNanos, endMonoNanos)
			}
			trials[at].Windows = append(trials[at].Windows, Window{j.PID, s})
		}
	}
	return trials
}

// LostForks names the measured forks that the last JMHTrials found no JVM for:
// "fork 1 of org.sample.Bench.measure".
func (w *Watcher) LostForks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lostForks
}

// forkJVM finds the JVM that ran a fork's iterations: the ForkedMain that
// started last before the first of them, since JMH runs one fork after the
// other. Without a fork it is the youngest JVM by then that is none.
func forkJVM(jvms []JVM, f jmhFork) *JVM {
	var found *JVM
	for i := range jvms {
		j := &jvms[i]
		forked := j.ForkOfJMH()
		if j.Main == "" || forked == f.host || j.StartMonoNanos > f.iterations[0].FromMonoNanos {
			continue
		}
		if found == nil || found.StartMonoNanos < j.StartMonoNanos {
			found = j
		}
	}
	return found
}

// trialNames gives each fork its trial's name, with JMH's mode where one
// benchmark runs in several.
func trialNames(forks []jmhFork) []string {
	modes := map[string][]string{}
	for _, f := range forks {
		if !slices.Contains(modes[f.trial], f.mode) {
			modes[f.trial] = append(modes[f.trial], f.mode)
		}
	}
	names := make([]string, len(forks))
	for i, f := range forks {
		names[i] = f.trial
		if len(modes[f.trial]) > 1 {
			names[i] += ", " + f.mode
		}
	}
	return names
}
