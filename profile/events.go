package profile

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// An EventTotal sums up the events of one kind and name.
type EventTotal struct {
	Kind event.Kind
	// Name is "" for the kinds whose names are those of methods, classes and threads. Such events are summed up
	// together.
	Name string
	// Count is how many began in the windows. Nanos is how long these took together, and LongestNanos how long the
	// longest of them took.
	Count               int
	Nanos, LongestNanos int64
	// WaitNanos is the time until threads had stopped for safepoints, see [event.Event].
	WaitNanos, LongestWaitNanos int64
	// Counts are the samples in the windows that were taken while such an event lasted.
	Counts tally.Counts
}

// OtherEvents is the Name under which the events of further names are summed up when there are too many names.
const OtherEvents = "(others)"

// An eventSet has a bit for each kind and name of events. The bit waiting has no name: it means that some threads
// still run while others wait for them to come to a safepoint.
type eventSet uint64

const (
	waiting  = 63
	maxNames = 63 // bits for names; HotSpot has some 40 names of pauses and safepoints in use
)

func (s eventSet) has(bit int) bool { return s>>bit&1 != 0 }

func (s eventSet) without(bit int) eventSet { return s &^ (1 << bit) }

// An eventIndex finds the events that lasted at any time. A search costs two binary searches, and nothing where there
// are no events.
type eventIndex struct {
	totals []EventTotal      // by bit, with only Kind and Name
	bits   map[eventName]int // of kinds and names
	lines  map[threadID]*eventLine
	events []event.Event
}

// A threadID names a thread of a JVM. tid is 0 for the JVM as a whole.
type threadID struct{ pid, tid int }

// An eventName tells events apart.
type eventName struct {
	kind event.Kind
	name string
}

// An eventLine says which events lasted in a JVM, or in a thread of it: the events sets[i] from at[i] to at[i+1].
type eventLine struct {
	at   []int64
	sets []eventSet
	last int // where the last search ended; the next sample is usually near
}

// newEventIndex returns the index of events, or nil if there are none. The index keeps the slice, which must not
// change any more.
func newEventIndex(events []event.Event) *eventIndex {
	if len(events) == 0 {
		return nil
	}
	x := &eventIndex{bits: map[eventName]int{}, lines: map[threadID]*eventLine{}, events: events}
	edges := map[threadID][]eventEdge{}
	for i := range events {
		e := &events[i]
		bit := x.bit(e)
		tid, known := e.Owner()
		if !known {
			continue
		}
		of := threadID{e.PID, tid}
		if end := e.EndMonoNanos(); end > e.MonoNanos {
			edges[of] = append(edges[of], eventEdge{e.MonoNanos, bit, 1}, eventEdge{end, bit, -1})
		}
		if wait := min(e.WaitNanos, e.Nanos); wait > 0 {
			edges[of] = append(edges[of], eventEdge{e.MonoNanos, waiting, 1}, eventEdge{e.MonoNanos + wait, waiting, -1})
		}
	}
	for of, list := range edges {
		x.lines[of] = newEventLine(list)
	}
	return x
}

// bit returns the bit of an event's kind and name. When there are too many names, the last bit stands for all others.
func (x *eventIndex) bit(e *event.Event) int {
	key := eventName{e.Kind, e.Name}
	switch e.Kind {
	case event.Compilation, event.Deopt, event.Lock, event.Park, event.Sleep, event.Alloc, event.ClassLoad, event.Thread:
		key.name = ""
	}
	bit, ok := x.bits[key]
	if !ok && len(x.totals) == maxNames-1 {
		key = eventName{"", OtherEvents}
		bit, ok = x.bits[key]
	}
	if !ok && len(x.totals) >= maxNames {
		return maxNames - 1
	}
	if !ok {
		bit = len(x.totals)
		x.totals = append(x.totals, EventTotal{Kind: key.kind, Name: key.name})
		x.bits[key] = bit
	}
	return bit
}

// names returns the names of the events in a set for a [Location]: the name of an event of the program's own, and the
// kind of any other.
func (x *eventIndex) names(set eventSet) []string {
	var names []string
	for bit := 0; set != 0; bit++ {
		if set&1 != 0 {
			t := &x.totals[bit]
			name := string(t.Kind)
			if t.Kind == event.Own {
				name = t.Name
			}
			if name = cmp.Or(name, t.Name); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		set >>= 1
	}
	slices.Sort(names)
	return names
}

// An eventEdge is where an event begins (by is 1) or ends (by is -1).
type eventEdge struct {
	mono int64
	bit  int
	by   int
}

// newEventLine returns the line of all edges of a JVM or a thread. It sorts the edges.
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
			now = now.without(e.bit)
		}
		last := len(l.sets) - 1
		if i+1 < len(edges) && edges[i+1].mono == e.mono || last >= 0 && l.sets[last] == now {
			continue
		}
		l.at, l.sets = append(l.at, e.mono), append(l.sets, now)
	}
	return l
}

// during returns the events of a JVM and of one of its threads that lasted at a time.
func (x *eventIndex) during(pid, tid int, mono int64) eventSet {
	if x == nil {
		return 0
	}
	return x.lines[threadID{pid, 0}].during(mono) | x.lines[threadID{pid, tid}].during(mono)
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

// eventCounts has what one trial counts of events.
type eventCounts struct {
	totals []EventTotal          // by bit, without Counts; nil if no event began in the windows
	during []tally.Counts        // by bit: the samples in the windows while such events lasted
	delays map[spot]tally.Counts // samples of application threads while other threads waited for a safepoint
	locks  map[lockKey]*LockSite
	allocs map[allocKey]*AllocSite
}

// countEvents counts each event for the trial in whose windows it began.
func (b *Builder) countEvents() {
	if b.events == nil {
		return
	}
	for i := range b.events.events {
		e := &b.events.events[i]
		p := b.processes[e.PID]
		if p == nil {
			continue
		}
		at := max(e.MonoNanos, 0)
		trial, _, in := p.Find(at)
		if !in || e.Kind.OfThread() && !b.eventWindows.Has(e.PID, e.TID, at) {
			continue
		}
		t := b.trials[trial]
		b.addSites(t, e)
		t.addTotal(b.events, e)
	}
}

// addTotal counts an event.
func (c *eventCounts) addTotal(x *eventIndex, e *event.Event) {
	if c.totals == nil {
		c.totals = slices.Clone(x.totals)
	}
	t := &c.totals[x.bit(e)]
	t.Count++
	t.Nanos += e.Nanos
	t.LongestNanos = max(t.LongestNanos, e.Nanos)
	t.WaitNanos += e.WaitNanos
	t.LongestWaitNanos = max(t.LongestWaitNanos, e.WaitNanos)
}

// addDuring counts a sample for the events that lasted when it was taken, and for the delay of a safepoint.
func (c *eventCounts) addDuring(j *joinedSample) {
	for bit, rest := 0, j.events.without(waiting); rest != 0; bit, rest = bit+1, rest>>1 {
		if rest.has(0) {
			for len(c.during) <= bit {
				c.during = append(c.during, nil)
			}
			c.during[bit].Bump(j.counter, 1)
		}
	}
	if j.events.has(waiting) && j.thread.Kind == threads.Application {
		if c.delays == nil {
			c.delays = map[spot]tally.Counts{}
		}
		tally.BumpAt(c.delays, j.spot, j.counter)
	}
}

// sums returns the totals of a trial's events, by kind; within a kind, those that took longest come first.
func (c *eventCounts) sums(x *eventIndex, counters int) []EventTotal {
	if x == nil {
		return nil
	}
	counted := c.totals
	if counted == nil {
		counted = x.totals
	}
	var totals []EventTotal
	for bit, t := range counted {
		t.Counts = make(tally.Counts, counters)
		if bit < len(c.during) {
			copy(t.Counts, c.during[bit])
		}
		if t.Count > 0 || counters > 0 && slices.Max(t.Counts) > 0 {
			totals = append(totals, t)
		}
	}
	slices.SortFunc(totals, func(a, b EventTotal) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return totals
}
