package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// A measurement is a trial of a capture with the JVMs whose samples count for it. A trial without a name has the JVMs
// of one program, unless programs are merged.
type measurement struct {
	capture.Trial
	pids         []int // ascending; without windows, these JVMs are measured all the time
	program, jdk string
}

// measurements returns the trials with all their JVMs. Without trials it returns one measurement, of all JVMs that have
// a log.
func measurements(jvms []capture.JVM, trials []capture.Trial) []measurement {
	var all []measurement
	for _, t := range trials {
		all = append(all, measurement{Trial: t, pids: t.PIDs()})
	}
	if len(trials) == 0 {
		all = append(all, measurement{pids: withLogs(jvms)})
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
	return distinct(pids)
}

// of returns the measurement narrowed to some of its JVMs. The process ids must ascend.
func (m *measurement) of(pids []int) measurement {
	narrow := *m
	narrow.pids = pids
	if len(pids) == len(m.pids) {
		return narrow
	}
	narrow.Operations, narrow.Score = 0, nil // JMH's scores are of all forks together
	narrow.Windows = nil
	for _, w := range m.Windows {
		if _, in := slices.BinarySearch(pids, w.PID); in {
			narrow.Windows = append(narrow.Windows, w)
		}
	}
	return narrow
}

// windowSeconds returns the time that the windows cover. A time that is in the windows of several JVMs counts once.
func windowSeconds(windows []capture.Window) float64 {
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

// inWindow reports whether a time of a JVM's life is within one of its windows.
func (m *measurement) inWindow(j *capture.JVM, uptimeMillis int64) bool {
	at := j.StartMonoNanos + uptimeMillis*1e6
	return slices.ContainsFunc(m.Windows, func(win capture.Window) bool {
		return win.PID == j.PID && at >= win.FromMonoNanos && at < win.ToMonoNanos
	})
}

// startWall returns the value of [Profile.StartWallNanos] for a trial.
func (b *Builder) startWall(t *trialCounts) int64 {
	firstWindow := map[int]int64{}
	for _, win := range t.Windows {
		if at, ok := firstWindow[win.PID]; !ok || win.FromMonoNanos < at {
			firstWindow[win.PID] = win.FromMonoNanos
		}
	}
	var first int64
	for _, pid := range t.pids {
		i, ok := b.byPID[pid]
		if !ok || b.jvms[i].Log.StartWallMillis == 0 {
			continue
		}
		j := b.jvms[i]
		from := j.StartMonoNanos
		if at, ok := firstWindow[pid]; ok && from > 0 {
			from = at
		}
		start := j.Log.StartWallMillis*1e6 + from - j.StartMonoNanos
		if first == 0 || start < first {
			first = start
		}
	}
	return first
}
