package windows

import "github.com/gasm-profiler/gasm/event"

// Chosen finds the events that an [EventChoice] chooses. A chosen event counts if it began while its JVM was measured.
// An event whose thread or duration is unknown counts, too, although it can't narrow a window. For example, if a
// request was being handled when a recording began, its duration is unknown.
type Chosen struct {
	choice    EventChoice
	timelines map[int]*Timeline // timelines of the windows as they were before Narrow
}

// Chosen returns a Chosen for the windows of the measurements. It must be called before Narrow, which changes these
// windows. It returns nil if w chooses nothing.
func (w EventChoice) Chosen(measured []Measurement) *Chosen {
	if w.kind == "" {
		return nil
	}
	lines, _ := Timelines(measured)
	return &Chosen{w, lines}
}

// Find reports whether an event is a chosen one, and returns the trial to which it is attributed. If in is false, the
// event is attributed to no trial: either it is outside of all windows, or the user has chosen the times outside of the
// events. c may be nil.
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
