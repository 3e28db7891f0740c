package profile

import (
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// eventCounts holds the counts of one trial that concern events of the JVM, such as garbage collections.
type eventCounts struct {
	sums   events.Sums
	delays map[spot]tally.Counts // samples of application threads while other threads waited for a safepoint
	sites  sites.Counter
}

// countEvents adds each event to the counts of the trial in whose windows it began.
func (b *Builder) countEvents(all []event.Event) {
	for i := range all {
		e := &all[i]
		if trial, in := b.trialOf(e); in {
			t := b.trials[trial]
			b.addSites(t, e)
			t.sums.Add(b.events, e)
		}
	}
}

// trialOf returns the trial in whose windows an event began.
func (b *Builder) trialOf(e *event.Event) (trial int, in bool) {
	if trial, in, chosen := b.chosenEvents.Find(e); chosen {
		return trial, in
	}
	p := b.processes[e.PID]
	if p == nil {
		return 0, false
	}
	at := max(e.MonoNanos, 0)
	trial, _, in = p.Find(at)
	return trial, in && (!e.Kind.OfThread() || b.eventWindows.Has(e.PID, e.TID, at))
}

// addDuring adds a sample to the counts of the events that were going on when it was taken. If a safepoint was waiting
// for an application thread, and the sample is of such a thread, it also counts the sample as a delay.
func (c *eventCounts) addDuring(j *joinedSample) {
	c.sums.AddSample(j.events, j.counter)
	if j.events.Waiting() && j.thread.Kind == threads.Application {
		if c.delays == nil {
			c.delays = map[spot]tally.Counts{}
		}
		tally.BumpAt(c.delays, j.spot, j.counter)
	}
}
