package windows

import "github.com/gasm-profiler/gasm/event"

// Chosen finds the events that an [EventChoice] chooses. Such an event counts if it began while its
// JVM was measured, also if it has no duration or if its thread is unknown, so that it narrows no
// window. For example, a request that was being handled when a recording began has no duration.
type Chosen struct {
	choice    EventChoice
	timelines map[int]*Timeline // of the windows as they were before they were narrowed
}

// Chosen returns what finds the chosen events in the windows of the measurements. It must be called
// before Narrow. It returns nil if w chooses nothing.
func (w EventChoice) Chosen(measured []Measurement) *Chosen {
	if w.kind == "" {
		return nil
	}
	lines, _ := Timelines(measured)
	return &Chosen{w, lines}
}

// Find reports whether an event is a chosen one, and the trial that it counts for. If in is false,
// the event counts for no trial: it is outside of all windows, or the times outside of the chosen
// events are what is measured. c may be nil.
func (c *Chosen) Find(e *event.Event) (trial int, in, chosen bool) {
	if c == nil || !c.choice.has(e) {
		return 0, false, false
	}
	line := c.timelines[e.PID]
	if line == nil || c.choice.outside {
		return 0, false, true
	}
	trial, _, in = line.Find(max(e.MonoNanos, 0))
	return trial, in, true
}
