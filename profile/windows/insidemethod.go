package windows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/capture"
)

// InsideMethod says when each thread was in the method that --window-method names.
type InsideMethod map[threadID][]capture.Span // ascending, without overlaps

// ErrNoWindow is wrapped by the error of NewInsideMethod if the capture has no times for the method.
var ErrNoWindow = errors.New("the capture has no such window, and no call stacks")

// NewInsideMethod returns the times at which threads were in a method. name is the method as the
// user wrote it. If it is "", the result is nil. The notes are about calls whose times are not
// known. If the capture has no times for this method, the error wraps ErrNoWindow.
func NewInsideMethod(name string, probes []capture.Probes) (InsideMethod, []string, error) {
	if name == "" {
		return nil, nil, nil
	}
	inside, found := InsideMethod{}, false
	var dropped, virtual int64
	for i := range probes {
		p := &probes[i]
		windows := map[int]bool{}
		for _, s := range p.Sites {
			windows[s.ID] = s.Window && s.Probe == name
			found = found || windows[s.ID]
		}
		for _, w := range p.Windows {
			dropped += w.Dropped
			for _, s := range w.Spans {
				if windows[s.Site] {
					key := threadID{p.PID, s.TID}
					inside[key] = append(inside[key], capture.Span{FromMonoNanos: s.FromMonoNanos, ToMonoNanos: s.ToMonoNanos})
				}
			}
		}
		for _, c := range p.Calls {
			if c.Slot < 0 && windows[c.Site] {
				virtual += c.Entries
			}
		}
	}
	if !found {
		return nil, nil, fmt.Errorf("--window-method %s: %w; record one of them: gasm profile --window-method, or --stacks on", name, ErrNoWindow)
	}
	for key, spans := range inside {
		inside[key] = joined(spans)
	}
	var notes []string
	if dropped > 0 {
		notes =
			append(notes, fmt.Sprintf("--window-method: the times of %d calls were overwritten before gasm read them: their samples count as outside", dropped))
	}
	if virtual > 0 {
		notes =
			append(notes, fmt.Sprintf("--window-method: %d calls were made by virtual threads, or by threads beyond the limit: their samples count as outside", virtual))
	}
	return inside, notes, nil
}

// joined sorts spans and joins those that overlap. If a pattern matches several methods, one of
// them may call another, and then the spans of the two calls overlap.
func joined(spans []capture.Span) (list []capture.Span) {
	slices.SortFunc(spans, func(a, b capture.Span) int { return cmp.Compare(a.FromMonoNanos, b.FromMonoNanos) })
	for _, s := range spans {
		list = joinSpan(list, s)
	}
	return list
}

// Has reports whether a thread was in the method at a time. If m is nil, it returns true.
func (m InsideMethod) Has(pid, tid int, mono int64) bool {
	if m == nil {
		return true
	}
	spans := m[threadID{pid, tid}]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].ToMonoNanos > mono })
	return i < len(spans) && spans[i].FromMonoNanos <= mono
}
