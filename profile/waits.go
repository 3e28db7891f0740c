package profile

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// readWaits reads the wall-clock times of the threads of the capture's JVMs, and sums them up by what the threads did.
// It returns nil if there are no files with such times.
func (ps *Profiles) readWaits(c *capture.Capture, config *choice.Config) *waits.Counter {
	if len(c.WallFiles()) == 0 {
		return nil
	}
	b := ps.builder
	w := waits.Config{Trials: len(b.trials), Timelines: map[int]*windows.Timeline{}, EventWindows: b.eventWindows,
		MethodWindows: b.methodWindows,
		Threads:       config.Threads, Under: matcherOf(config.Under), Inside: matcherOf(config.Inside)}
	for pid, p := range b.processes {
		w.Timelines[pid] = p.Timeline
	}
	x := waits.NewCounter(w)
	ps.Capture.Notes.Add(x.ReadFiles(c)...)
	return x
}

// addWaits adds the tables of x to the profiles. The profiles must have the order of the Builder's trials. x may be
// nil.
func (ps *Profiles) addWaits(x *waits.Counter, rule event.SiteRule) {
	if x == nil {
		return
	}
	for i := range ps.Trials {
		p := &ps.Trials[i]
		p.Waits = x.Table(i, p.PIDs, rule)
	}
}

// matcherOf returns a Matcher for the methods of an Under, or nil if u is nil.
func matcherOf(u *calltree.Under) calltree.Matcher {
	if u == nil {
		return nil
	}
	return u.Matcher
}
