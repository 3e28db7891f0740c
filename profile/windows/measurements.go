// Package windows decides which samples of a run count: from which JVMs, at which times, and for
// which trial. A window is a time during which a JVM is measured.
//
// [Measurements] are the trials of a capture with their JVMs. A run without trials has one measurement, which can be
// divided by program. Users may narrow measurements to some of the JVMs ([Narrow]), to the times of events
// ([EventChoice]), or to the calls of a method ([InsideMethod]). [Timelines] find out to which measurement a given
// time in the life of a JVM belongs.
package windows

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// A Measurement is a trial of a capture, with the JVMs whose samples count for it. If the trial has
// no name, these are the JVMs of one program, or of all programs if programs are merged.
type Measurement struct {
	capture.Trial
	PIDs         []int // process ids, ascending; if there are no Windows, these JVMs are measured all the time
	Program, JDK string
}

// Measurements returns a measurement for each trial, with all JVMs of the trial. If there are no trials, it returns a
// single measurement of all JVMs that have a log.
func Measurements(jvms []capture.JVM, trials []capture.Trial) []Measurement {
	var all []Measurement
	for _, t := range trials {
		all = append(all, Measurement{Trial: t, PIDs: t.PIDs()})
	}
	if len(trials) == 0 {
		all = append(all, Measurement{PIDs: withLogs(jvms)})
	}
	return all
}

// withLogs returns the process ids of the JVMs that have a log, ascending.
func withLogs(jvms []capture.JVM) []int {
	var pids []int
	for _, j := range jvms {
		if j.Log != nil {
			pids = append(pids, j.PID)
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// of returns a copy of the measurement that has only the JVMs with these process ids. The ids must
// be in ascending order.
func (m *Measurement) of(pids []int) Measurement {
	narrow := *m
	narrow.PIDs = pids
	if len(pids) == len(m.PIDs) {
		return narrow
	}
	narrow.Operations, narrow.Score = 0, nil // JMH's score is for all forks together, not for some of them
	narrow.Windows = nil
	for _, w := range m.Windows {
		if _, in := slices.BinarySearch(pids, w.PID); in {
			narrow.Windows = append(narrow.Windows, w)
		}
	}
	return narrow
}

// Narrow narrows measurements to some JVMs. It leaves out measurements that have none of these JVMs. If no measurement
// is left, these JVMs belong to no trial, as is the case for JMH's own process. Then Narrow returns a single
// measurement, in which these JVMs are measured all the time.
func Narrow(measured []Measurement, jvms []capture.JVM) []Measurement {
	chosen := map[int]bool{}
	for _, j := range jvms {
		chosen[j.PID] = true
	}
	var narrowed []Measurement
	for i := range measured {
		m := &measured[i]
		pids := slices.DeleteFunc(slices.Clone(m.PIDs), func(pid int) bool { return !chosen[pid] })
		if len(pids) > 0 {
			narrowed = append(narrowed, m.of(pids))
		}
	}
	if len(narrowed) == 0 {
		return Measurements(jvms, nil)
	}
	return narrowed
}

// Seconds returns the length of the time that the windows cover. If the windows of several JVMs
// overlap, the shared time counts only once.
func Seconds(windows []capture.Window) float64 {
	sorted := slices.SortedFunc(slices.Values(windows), func(a, b capture.Window) int {
		return cmp.Compare(a.FromMonoNanos, b.FromMonoNanos)
	})
	var ns, covered int64 // covered is the end of the windows so far
	for _, win := range sorted {
		if from := max(win.FromMonoNanos, covered); win.ToMonoNanos > from {
			ns += win.ToMonoNanos - from
			covered = win.ToMonoNanos
		}
	}
	return float64(ns) / 1e9
}

// Contains reports whether a moment is within one of the JVM's windows. The moment is in ms since
// the start of the JVM.
func (m *Measurement) Contains(j *capture.JVM, uptimeMillis int64) bool {
	at := j.StartMonoNanos + uptimeMillis*1e6
	return slices.ContainsFunc(m.Windows, func(win capture.Window) bool {
		return win.PID == j.PID && at >= win.FromMonoNanos && at < win.ToMonoNanos
	})
}
