// Package events finds out which events of a JVM, such as pauses of its garbage collector, were going on at a given
// time. It also sums up the events of a trial, for example of one JMH benchmark.
//
// An [Index] has a time line of each JVM with events, and of each thread with events. It distinguishes at most 63 kinds
// and names of events, so the [Set] of those that were going on at some time is a single word.
package events

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Total sums up the events of one kind and name.
type Total struct {
	Kind event.Kind
	// Name is "" for the kinds whose events are named after methods, classes or threads. All events of such a kind are
	// summed up together.
	Name string
	// Tool is true if the events were caused by Flight Recorder or an agent and not by the program, see
	// [event.Event.OfTool].
	Tool bool
	// Count is the number of events that began in the windows, which are the times when the trial was measured. If an
	// event reports several allocations at once, each of them counts. Nanos is how long these events took together, and
	// LongestNanos is how long the longest of them took. They are 0 if that is unknown, or if such events have no length.
	Count               int
	Nanos, LongestNanos int64
	// WaitNanos is the time until threads had stopped for safepoints, see [event.Event].
	WaitNanos, LongestWaitNanos int64
	// Counts has the samples that were taken while such an event was going on. Samples outside the windows do not
	// count.
	Counts tally.Counts
}

// Others is the Name of the Total that sums up all further names when there are too many names.
const Others = "(others)"

// OfTool is the Name of events that Flight Recorder caused, if all events of their kind are summed up together.
const OfTool = "(Flight Recorder's own)"

// A Set has a bit for each kind and name of events. One more bit (waiting, below) is set while some threads still run
// and others wait for them to come to a safepoint.
type Set uint64

const (
	waiting  = 63
	maxNames = 63 // number of bits for kinds and names; HotSpot has about 40 names of pauses and safepoints
)

func (s Set) has(bit int) bool { return s>>bit&1 != 0 }

func (s Set) without(bit int) Set { return s &^ (1 << bit) }

// Waiting reports whether some threads still run while others wait for them to come to a safepoint. Safepoints that
// Flight Recorder or an agent asked for do not count.
func (s Set) Waiting() bool { return s.has(waiting) }

// Named returns the events of the set, without the wait for a safepoint.
func (s Set) Named() Set { return s.without(waiting) }

// An Index finds the events that were going on at a given time. A lookup takes at most two binary searches: one for the
// JVM, and one for the thread.
type Index struct {
	totals []Total     // the total of each bit, with only Kind, Name and Tool set
	bits   map[key]int // the bit for each kind and name of events
	lines  map[threadID]*timeline
}

// A threadID names a thread of a JVM. tid is 0 for the JVM as a whole.
type threadID struct{ pid, tid int }

// A key identifies a bit of a Set: all events with the same key share the bit.
type key struct {
	kind event.Kind
	name string
	tool bool
}

// A timeline says which events were going on in a JVM, or in one of its threads. From at[i] to at[i+1], these were the
// events in sets[i].
type timeline struct {
	at   []int64
	sets []Set
	last int // index that the last search found; the next search is usually for a time nearby
}

// New returns the index of events, or nil if there are none.
func New(events []event.Event) *Index {
	if len(events) == 0 {
		return nil
	}
	x := &Index{bits: map[key]int{}, lines: map[threadID]*timeline{}}
	edges := map[threadID][]edge{}
	for i := range events {
		e := &events[i]
		bit := x.bit(e)
		tid, known := e.Owner()
		if !known {
			continue
		}
		of := threadID{e.PID, tid}
		if end := e.EndMonoNanos(); end > e.MonoNanos {
			edges[of] = append(edges[of], edge{e.MonoNanos, bit, 1}, edge{end, bit, -1})
		}
		if wait := min(e.WaitNanos, e.Nanos); wait > 0 && !e.OfTool() {
			edges[of] = append(edges[of], edge{e.MonoNanos, waiting, 1}, edge{e.MonoNanos + wait, waiting, -1})
		}
	}
	for of, list := range edges {
		x.lines[of] = newTimeline(list)
	}
	return x
}

// bit returns the bit of an event's kind and name. When there are too many names, all further ones share the last bit,
// whose name is Others.
func (x *Index) bit(e *event.Event) int {
	k := key{e.Kind, e.Name, e.OfTool()}
	switch e.Kind {
	case event.Compilation, event.Deopt, event.Discard, event.Lock, event.Park, event.Sleep, event.Alloc, event.ClassLoad,
		event.Thread:
		k.name = ""
		if k.tool {
			k.name = OfTool
		}
	}
	bit, ok := x.bits[k]
	if !ok && len(x.totals) == maxNames-1 {
		k = key{name: Others}
		bit, ok = x.bits[k]
	}
	if !ok && len(x.totals) >= maxNames {
		return maxNames - 1
	}
	if !ok {
		bit = len(x.totals)
		x.totals = append(x.totals, Total{Kind: k.kind, Name: k.name, Tool: k.tool})
		x.bits[k] = bit
	}
	return bit
}

// Names returns the labels that a location gets for the events in a set, sorted and without duplicates. If the program
// made the event itself, the label is the event's name. Otherwise, the label is the event's kind, or Others if there
// are too many kinds and names.
func (x *Index) Names(set Set) []string {
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

// An edge is the beginning or the end of an event. The field by is 1 at the beginning and -1 at the end.
type edge struct {
	mono int64
	bit  int
	by   int
}

// newTimeline returns the timeline of a JVM or a thread from all its edges. It sorts the edges in place.
func newTimeline(edges []edge) *timeline {
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.mono, b.mono) })
	l := new(timeline)
	var depth [64]int
	var now Set
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

// During returns the events of a JVM and of one of its threads that were going on at a given time.
func (x *Index) During(pid, tid int, mono int64) Set {
	if x == nil {
		return 0
	}
	return x.lines[threadID{pid, 0}].during(mono) | x.lines[threadID{pid, tid}].during(mono)
}

func (l *timeline) during(mono int64) Set {
	if l == nil || mono < l.at[0] {
		return 0
	}
	if i := l.last; l.at[i] <= mono && (i+1 == len(l.at) || mono < l.at[i+1]) {
		return l.sets[i]
	}
	l.last = sort.Search(len(l.at), func(i int) bool { return l.at[i] > mono }) - 1
	return l.sets[l.last]
}
