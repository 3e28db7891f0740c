package windows

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
)

// An EventChoice narrows the windows, which are the times that are measured. For example, only the
// times during a garbage collection count, or only the times outside one. If the events belong to
// threads, the events of a thread narrow only the samples of that thread. The zero value narrows
// nothing.
type EventChoice struct {
	kind    event.Kind
	name    string // the name of one of the program's own JFR events; "" for all events of the kind
	outside bool
}

// windowKinds are the event kinds that --window-event accepts by name. During such an event the
// whole program is stopped.
var windowKinds = []event.Kind{event.GC, event.Safepoint}

// ParseEventChoice parses an EventChoice, such as "gc", "safepoint" or "jfr:com.acme.Request". A "!" before it, as in
// "!gc", chooses all other times. The empty text narrows nothing.
func ParseEventChoice(text string) (EventChoice, error) {
	if text == "" {
		return EventChoice{}, nil
	}
	word, outside := strings.CutPrefix(text, "!")
	if name, ok := strings.CutPrefix(word, string(event.Own)+":"); ok && name != "" {
		return EventChoice{event.Own, name, outside}, nil
	}
	if !slices.Contains(windowKinds, event.Kind(word)) {
		return EventChoice{}, fmt.Errorf("%q is not an event: use gc, safepoint or jfr:NAME, for example jfr:com.acme.Request; "+
			"a ! before it chooses all other times", text)
	}
	return EventChoice{event.Kind(word), "", outside}, nil
}

// String returns the text that ParseEventChoice parses.
func (w EventChoice) String() string {
	text := string(w.kind)
	if w.name != "" {
		text += ":" + w.name
	}
	if w.outside {
		return "!" + text
	}
	return text
}

// has reports whether an event is one of the chosen events.
func (w EventChoice) has(e *event.Event) bool {
	return e.Kind == w.kind && (w.name == "" || e.Name == w.name)
}

// Kind returns the kind of the events that narrow the windows, or "" if nothing narrows them.
func (w EventChoice) Kind() event.Kind { return w.kind }

// Name returns the name of the events that narrow the windows. It is "" if all events of the kind
// narrow them.
func (w EventChoice) Name() string { return w.name }

// Narrow narrows the windows of the measurements in place. The events must be in the order of their
// start. If the events belong to threads, the result says when each thread's samples count.
// Otherwise the result is nil.
func (w EventChoice) Narrow(measured []Measurement, events []event.Event) (*OfThreads, error) {
	if w.kind == "" {
		return nil, nil
	}
	spans, threads, some := w.spans(events)
	if err := w.checkSome(some, len(spans) > 0 || len(threads.spans) > 0, events); err != nil {
		return nil, err
	}
	for i := range measured {
		m := &measured[i]
		if len(m.Windows) == 0 {
			return nil, fmt.Errorf("--window-event %s: it is not known when the capture began and ended, because it has no %s",
				w, capture.DescriptionFile)
		}
		m.Operations, m.Score = 0, nil      // these numbers are for the whole windows only
		if w.outside && w.kind.OfThread() { // an event of one thread does not stop the other threads
			continue
		}
		var err error
		if m.Windows, err = w.cut(m.Windows, spans); err != nil {
			return nil, err
		}
	}
	if !w.kind.OfThread() {
		return nil, nil
	}
	return threads, nil
}

// spans returns the times of the chosen events by JVM. If the events belong to threads, it also
// returns the times by thread. The spans of a JVM or thread ascend and do not overlap. The last
// result is the number of chosen events, including those that have no duration or whose thread is
// unknown.
func (w EventChoice) spans(events []event.Event) (spans map[int][]capture.Span, threads *OfThreads, some int) {
	spans, threads = map[int][]capture.Span{}, &OfThreads{map[threadID][]capture.Span{}, w.outside}
	for i := range events {
		e := &events[i]
		if !w.has(e) {
			continue
		}
		some++
		tid, known := e.Owner()
		if e.Nanos <= 0 || !known {
			continue
		}
		span := capture.Span{FromMonoNanos: e.MonoNanos, ToMonoNanos: e.EndMonoNanos()}
		spans[e.PID] = joinSpan(spans[e.PID], span)
		if tid != 0 {
			of := threadID{e.PID, tid}
			threads.spans[of] = joinSpan(threads.spans[of], span)
		}
	}
	return spans, threads, some
}

// checkSome returns nil if usable is true, that is, if at least one of the chosen events can narrow the windows.
// Otherwise its error says why no window is left. The first argument is the number of chosen events, usable or not.
func (w EventChoice) checkSome(some int, usable bool, events []event.Event) error {
	switch {
	case usable:
		return nil
	case some > 0:
		return fmt.Errorf("--window-event %s: none of the %d events of this name lasts, or belongs to a thread that the kernel knows: "+
			"JFR does not say where virtual threads run", w, some)
	case w.name != "":
		return fmt.Errorf("--window-event %s: the capture has no event of this name%s (gasm profile --events jfr records a program's own events, "+
			"and --jfr FILE reads another recording)", w, ownNames(events))
	}
	return fmt.Errorf("--window-event %s: the capture has no events of this kind (gasm profile --events gc,safepoint records them with JDK 9 and newer)", w)
}

// maxNamed is the largest number of events that an error names.
const maxNamed = 10

// ownNames returns the names of the program's own events in the form "; it has com.acme.A, com.acme.B", for an error.
// It returns "" if there are no such events.
func ownNames(events []event.Event) string {
	var names []string
	for i := range events {
		if e := &events[i]; e.Kind == event.Own && !slices.Contains(names, e.Name) {
			if names = append(names, e.Name); len(names) == maxNamed {
				break
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; it has " + strings.Join(names, ", ")
}

// A threadID names a thread of a JVM.
type threadID struct{ pid, tid int }

// OfThreads says at which times a thread's samples count: while one of the chosen events of the thread is going on or,
// if the field outside is true, at all other times. The spans are the times of the chosen events.
type OfThreads struct {
	spans   map[threadID][]capture.Span
	outside bool
}

// Has reports whether a sample or an event of a thread counts. If t is nil, all of them do.
func (t *OfThreads) Has(pid, tid int, mono int64) bool {
	if t == nil {
		return true
	}
	list := t.spans[threadID{pid, tid}]
	after := sort.Search(len(list), func(i int) bool { return list[i].FromMonoNanos > mono })
	return (after > 0 && mono < list[after-1].ToMonoNanos) != t.outside
}

// joinSpan adds a span to an ascending list. The span must not begin before the last one of the list. If the two
// overlap, they become one.
func joinSpan(list []capture.Span, s capture.Span) []capture.Span {
	if n := len(list); n > 0 && s.FromMonoNanos <= list[n-1].ToMonoNanos {
		list[n-1].ToMonoNanos = max(list[n-1].ToMonoNanos, s.ToMonoNanos)
		return list
	}
	return append(list, s)
}

// cut returns the parts of windows that are inside the spans of their JVM. If w.outside is true, it
// returns the parts outside the spans instead. If nothing is left of a window, an empty window
// takes its place, because it still says which trial the JVM belongs to.
func (w EventChoice) cut(windows []capture.Window, spans map[int][]capture.Span) ([]capture.Window, error) {
	var parts []capture.Window
	for _, win := range windows {
		list := spans[win.PID]
		first, _ := slices.BinarySearchFunc(list, win.FromMonoNanos,
			func(s capture.Span, at int64) int { return cmp.Compare(s.ToMonoNanos, at) })
		before, at := len(parts), win.FromMonoNanos
		add := func(from, to int64) {
			if from < to {
				parts = append(parts, capture.Window{PID: win.PID, Span: capture.Span{FromMonoNanos: from, ToMonoNanos: to}})
			}
		}
		for _, s := range list[first:] {
			if s.FromMonoNanos >= win.ToMonoNanos {
				break
			}
			if len(parts) > maxParts {
				return nil, fmt.Errorf("--window-event %s: %s is damaged: its windows overlap so often that there are more than %d parts", w, capture.DescriptionFile, maxParts)
			}
			from, to := max(s.FromMonoNanos, win.FromMonoNanos), min(s.ToMonoNanos, win.ToMonoNanos)
			if w.outside {
				add(at, from)
				at = to
			} else {
				add(from, to)
			}
		}
		if w.outside {
			add(at, win.ToMonoNanos)
		}
		if len(parts) == before {
			parts = append(parts, capture.Window{PID: win.PID, Span: capture.Span{FromMonoNanos: win.FromMonoNanos,
				ToMonoNanos: win.FromMonoNanos}})
		}
	}
	return parts, nil
}

// maxParts limits the number of parts into which windows are cut. In a damaged capture, many
// windows of a JVM may overlap. Each of them could then be cut into as many parts as there are
// events.
const maxParts = 8_000_000
