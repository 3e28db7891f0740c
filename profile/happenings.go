package profile

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/event"
)

// An EventTotal sums up the events of one kind and name.
type EventTotal struct {
	Kind event.Kind
	Name string // "" of kinds whose names are those of methods, classes and threads: these are summed up together
	// Count is how many began in the windows; Nanos is how long these took together, and
	// LongestNanos the longest of them.
	Count               int
	Nanos, LongestNanos int64
	// WaitNanos is the time until threads had stopped for safepoints: see event.Event.
	WaitNanos, LongestWaitNanos int64
	// Counts are the samples in the windows that were taken while such an event lasted.
	Counts Counts
}

// OtherEvents is the Name of the events that have too many names.
const OtherEvents = "(others)"

// An eventSet has a bit for each name of events. Bit waiting is that of no name: threads still
// run, while others wait for them to come to a safepoint.
type eventSet uint64

const (
	waiting  = 63
	maxNames = 63 // bits for names; HotSpot has some 40 names of pauses and safepoints in use
)

func (s eventSet) has(bit int) bool { return s>>bit&1 != 0 }

// A happening says which events lasted at any time. It is a pure function of the events. It
// costs a binary search for each sample, and nothing where there are no events.
type happening struct {
	totals []EventTotal   // by bit, without the counts; of no trial
	byName map[nameOf]int // the bits of kinds and names
	lines  map[threadOf]*eventLine
	events []event.Event
}

// A threadOf is a thread of a JVM; tid is 0 for the JVM as a whole.
type threadOf struct{ pid, tid int }

// threadOfEvent says whom an event is of. One of a thread that nobody knows is of no sample.
func threadOfEvent(e *event.Event) (of threadOf, known bool) {
	if !e.Kind.OfThread() {
		return threadOf{e.PID, 0}, true
	}
	return threadOf{e.PID, e.TID}, e.TID != 0
}

type nameOf struct {
	kind event.Kind
	name string
}

// An eventLine is what happened in a JVM, or to a thread: from at[i] to at[i+1], sets[i].
type eventLine struct {
	at   []int64
	sets []eventSet
	last int // where the last search ended: the next sample is mostly near
}

// newHappening makes the index of events; nil when there are none. It keeps the events, which
// must not change.
func newHappening(events []event.Event) *happening {
	if len(events) == 0 {
		return nil
	}
	h := &happening{byName: map[nameOf]int{}, lines: map[threadOf]*eventLine{}, events: events}
	edges := map[threadOf][]eventEdge{}
	for i := range events {
		e := &events[i]
		bit := h.bit(e)
		of, known := threadOfEvent(e)
		if !known {
			continue
		}
		if end := e.EndMonoNanos(); end > e.MonoNanos {
			edges[of] = append(edges[of], eventEdge{e.MonoNanos, bit, 1}, eventEdge{end, bit, -1})
		}
		if wait := min(e.WaitNanos, e.Nanos); wait > 0 {
			edges[of] = append(edges[of], eventEdge{e.MonoNanos, waiting, 1}, eventEdge{e.MonoNanos + wait, waiting, -1})
		}
	}
	for of, list := range edges {
		h.lines[of] = newEventLine(list)
	}
	return h
}

// bit gives the bit of an event's kind and name. The last bit is for all names that are too
// many.
func (h *happening) bit(e *event.Event) int {
	key := nameOf{e.Kind, e.Name}
	switch e.Kind {
	case event.Compilation, event.Deopt, event.Lock, event.Park, event.Sleep, event.Alloc, event.ClassLoad, event.Thread:
		key.name = ""
	}
	bit, ok := h.byName[key]
	if !ok && len(h.totals) == maxNames-1 {
		key = nameOf{"", OtherEvents}
		bit, ok = h.byName[key]
	}
	if !ok && len(h.totals) >= maxNames {
		return maxNames - 1
	}
	if !ok {
		bit = len(h.totals)
		h.totals = append(h.totals, EventTotal{Kind: key.kind, Name: key.name})
		h.byName[key] = bit
	}
	return bit
}

// An eventEdge is where an event begins (by 1) or ends (by -1).
type eventEdge struct {
	mono int64
	bit  int
	by   int
}

// newEventLine makes a line of all edges of a JVM, which it sorts.
func newEventLine(edges []eventEdge) *eventLine {
	slices.SortFunc(edges, func(a, b eventEdge) int { return cmp.Compare(a.mono, b.mono) })
	l := new(eventLine)
	var depth [64]int
	var now eventSet
	for i, e := range edges {
		depth[e.bit] += e.by
		if depth[e.bit] > 0 {
			now |= 1 << e.bit
		} else {
			now &^= 1 << e.bit
		}
		last := len(l.sets) - 1
		if i+1 < len(edges) && edges[i+1].mono == e.mono || last >= 0 && l.sets[last] == now {
			continue
		}
		l.at, l.sets = append(l.at, e.mono), append(l.sets, now)
	}
	return l
}

// during gives the events of a JVM and of a thread of it that lasted at a time.
func (h *happening) during(pid, tid int, mono int64) eventSet {
	if h == nil {
		return 0
	}
	return h.lines[threadOf{pid, 0}].during(mono) | h.lines[threadOf{pid, tid}].during(mono)
}

func (l *eventLine) during(mono int64) eventSet {
	if l == nil || mono < l.at[0] {
		return 0
	}
	if i := l.last; l.at[i] <= mono && (i+1 == len(l.at) || mono < l.at[i+1]) {
		return l.sets[i]
	}
	l.last = sort.Search(len(l.at), func(i int) bool { return l.at[i] > mono }) - 1
	return l.sets[l.last]
}

// AddEvents has the builder tell what happened while samples were taken. It comes before the
// first sample. The events must not change any more.
func (b *Builder) AddEvents(events []event.Event) {
	if b.happening = newHappening(events); b.happening != nil {
		b.countEvents()
	}
}

// countEvents sums up for each trial the events that began in its windows, by bit.
func (b *Builder) countEvents() {
	h := b.happening
	for i := range h.events {
		e := &h.events[i]
		line := b.lines[e.PID]
		if line == nil {
			continue
		}
		trial, _, in := line.find(max(e.MonoNanos, 0))
		if !in || !b.inThreadWindow(e.PID, e.TID, max(e.MonoNanos, 0), e.Kind) {
			continue
		}
		b.addSites(b.trials[trial], e)
		if b.trials[trial].happened == nil {
			b.trials[trial].happened = slices.Clone(h.totals)
		}
		t := &b.trials[trial].happened[h.bit(e)]
		t.Count++
		t.Nanos += e.Nanos
		t.LongestNanos = max(t.LongestNanos, e.Nanos)
		t.WaitNanos += e.WaitNanos
		t.LongestWaitNanos = max(t.LongestWaitNanos, e.WaitNanos)
	}
}

// addDuring counts a sample of a trial for the events that lasted.
func (t *trialCounts) addDuring(now eventSet, e int) {
	for bit := 0; now != 0; bit++ {
		if now&1 != 0 && bit != waiting {
			for len(t.during) <= bit {
				t.during = append(t.during, nil)
			}
			bump(&t.during[bit], e, 1)
		}
		now >>= 1
	}
}

// eventTotals are the totals of the trial, by kind, those that took longest first.
func (w *work) eventTotals() []EventTotal {
	if w.b.happening == nil {
		return nil
	}
	counted := w.trial.happened
	if counted == nil {
		counted = w.b.happening.totals
	}
	var totals []EventTotal
	for bit, t := range counted {
		t.Counts = make(Counts, w.n)
		if bit < len(w.trial.during) {
			copy(t.Counts, w.trial.during[bit])
		}
		if t.Count > 0 || w.n > 0 && slices.Max(t.Counts) > 0 {
			totals = append(totals, t)
		}
	}
	slices.SortFunc(totals, func(a, b EventTotal) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return totals
}
