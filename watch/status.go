package watch

import (
	"cmp"
	"slices"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A State says what a Watcher does with a JVM.
type State string

// These are the states of JVMs.
const (
	StateProfiled State = "profiled"
	StateRefused  State = "refused"  // it can't be profiled, or not now
	StateLeftOut  State = "left_out" // it is excluded by its name, the share or the budget
)

// A Status is what a Watcher has done and does now.
type Status struct {
	Samples  int64 // number of samples in all profiles that were made
	CPUNanos int64 // the CPU time that these samples represent, in ns
	Lost     int64 // number of lost samples
	Profiles int64
	Hertz    int     // the current frequency, in samples per second and CPU
	Share    float64 // the share of the JVMs that is watched now
	Budget   float64 // as in Options
	JVMs     []JVM   // sorted by process id
	Queues   []Queue
	Beat     time.Time // when the Watcher was last seen working
	Searched bool      // JVMs has the JVMs that were found; false before the end of the first search
}

// A JVM is a JVM that a Watcher has seen.
type JVM struct {
	attach.Process
	State State
}

// A Queue is the state of a destination's queue.
type Queue struct {
	To string // the destination, without secrets
	push.Stats
}

// Status returns the current state. It may be called by any goroutine.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.status
	for _, q := range w.opened {
		s.Queues = append(s.Queues, Queue{q.String(), q.Stats()})
	}
	return s
}

func (w *Watcher) count(p *push.Profile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.Samples += p.Samples
	w.status.CPUNanos += p.CPUNanos
	w.status.Profiles++
}

func (w *Watcher) countLost(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.Lost += n
}

// jvmsEvery is the time between two looks at which JVMs have ended.
const jvmsEvery = 5 * time.Second

// note updates the status.
func (w *Watcher) note() {
	now := time.Now()
	var jvms []JVM
	look := now.Sub(w.jvmsNoted) >= jvmsEvery
	if look {
		for _, j := range w.jvms {
			if !processend.HasEnded(j.PID, j.ticks) {
				jvms = append(jvms, JVM{j.Process, j.state})
			}
		}
		slices.SortFunc(jvms, func(a, b JVM) int { return cmp.Compare(a.PID, b.PID) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.status
	s.Beat, s.Hertz, s.Share, s.Budget = now, w.budget.hertz, w.budget.share, w.o.Budget
	if look {
		s.JVMs, w.jvmsNoted, s.Searched = jvms, now, s.Searched || w.searches > 0
	}
}

// ownCPU returns the CPU time that this process has used, in ns.
func ownCPU() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
