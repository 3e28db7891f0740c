package windows

import (
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// JMHTrials returns the trials that JMH announced, with the JVMs that ran them and the times of their measured
// iterations. It returns none if the command was not JMH, or measured nothing. In each element of jvms, it sets the
// field Fork if the JVM was a measured fork, and WarmupOf if it was a warm-up fork. An iteration that was cut short
// ends at endMonoNanos.
//
// If JMHTrials finds no JVM for a measured fork, because the fork left no log, the fork is in no trial.
// [Output.LostForks] then returns it.
func (w *Output) JMHTrials(jvms []capture.JVM, endMonoNanos int64) []capture.Trial {
	w.mu.Lock()
	defer w.mu.Unlock()
	forks := w.jmh.forks
	names := trialNames(forks)
	var trials []capture.Trial
	w.lostForks = nil
	index := map[string]int{}
	taken := map[*capture.JVM]bool{}
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
			j.WarmupOf = names[i]
			continue
		}
		at, ok := index[names[i]]
		if !ok {
			at = len(trials)
			index[names[i]] = at
			trials = append(trials, capture.Trial{Name: names[i]})
		}
		iterations, operations := f.corrected()
		addOperations(&trials[at], len(trials[at].Windows) == 0, operations)
		addScores(&trials[at], &f)
		j.Fork = f.number
		for _, s := range iterations {
			if s.ToMonoNanos == 0 {
				s.ToMonoNanos = max(s.FromMonoNanos, endMonoNanos)
			}
			trials[at].Windows = append(trials[at].Windows, capture.Window{PID: j.PID, Span: s})
		}
	}
	return trials
}

// LostForks returns the names of the measured forks for which the last call of JMHTrials found no JVM: "fork 1 of
// org.sample.Bench.measure".
func (w *Output) LostForks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lostForks
}

// forkJVM returns the JVM that ran a fork's iterations, or nil if that JVM left no log. JMH runs one fork after
// another, so the fork's JVM is the last one with the main class ForkedMain that started before the first iteration.
// If JMH runs the benchmark in its own JVM (-f 0), it is the last JVM with another main class that started before the
// first iteration.
func forkJVM(jvms []capture.JVM, f jmhFork) *capture.JVM {
	var found *capture.JVM
	for i := range jvms {
		j := &jvms[i]
		forked := forkOfJMH(j)
		if j.Main == "" || forked == f.host || j.StartMonoNanos > f.iterations[0].FromMonoNanos {
			continue
		}
		if found == nil || found.StartMonoNanos < j.StartMonoNanos {
			found = j
		}
	}
	return found
}

// trialNames returns the name of each fork's trial. If a benchmark runs in several modes, the name contains the mode.
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
