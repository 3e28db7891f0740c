package waits

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/wall"
)

// A Span is an interval in the life of a thread that is in a window. Its state is the one in which the thread was for
// most of the interval. So the lengths of a thread's spans add up to nearly its Times, but not exactly.
type Span struct {
	capture.Span
	State        wall.State
	Stack        callstack.ID // the thread's stack; 0 if it is not known
	Lock, Detail int32        // 1 + the index in Table.Locks and in Table.Details; 0 for none
}

// same reports whether two spans have the same place and state.
func (s *Span) same(other *Span) bool {
	return s.State == other.State && s.Stack == other.Stack && s.Lock == other.Lock && s.Detail == other.Detail
}

// maxSpans is the maximum number of spans of a Counter. A span takes 40 bytes. Tests change it.
var maxSpans = 1 << 20

// A spanBudget holds the number of spans, and the length below which spans are joined.
type spanBudget struct {
	n    int
	step int64 // spans shorter than this are joined, in ns; 0 as long as none are joined
}

// firstStep is the length in ns below which spans are joined when there are too many for the first time. Later, the
// step grows up to maxStep, which is a day. If there are more threads than maxSpans, no step is large enough.
const firstStep, maxStep = 1e6, 24 * 3600e9

// addSpan adds a span of a thread. If there are too many spans, short ones are joined.
func (x *Counter) addSpan(to *trial, thread int32, s Span) {
	list := to.spans[thread]
	if n := len(list); n > 0 && list[n-1].ToMonoNanos == s.FromMonoNanos && list[n-1].same(&s) {
		list[n-1].ToMonoNanos = s.ToMonoNanos
		return
	}
	if x.spans.step >= maxStep && x.spans.n > maxSpans/4*3 {
		return // joining spans does not help if there are too many threads
	}
	to.spans[thread] = append(list, s)
	if x.spans.n++; x.spans.n <= maxSpans {
		return
	}
	x.joinSpans()
	for x.spans.n > maxSpans/2 && x.spans.step < maxStep {
		x.spans.step = max(2*x.spans.step, firstStep)
		x.joinSpans()
	}
}

// joinSpans joins all spans that are shorter than the step.
func (x *Counter) joinSpans() {
	x.spans.n = 0
	for _, t := range x.trials {
		for i, list := range t.spans {
			t.spans[i] = Coarsen(list, x.spans.step)
			x.spans.n += len(t.spans[i])
		}
	}
}

// Coarsen joins each span that is shorter than step (in ns) with those that follow it without a gap, until together
// they are at least as long as step. A joined span has the state and place of the longest one. Coarsen changes the list
// in place, and returns the shortened list.
func Coarsen(list []Span, step int64) []Span {
	out := list[:0]
	longest := int64(0) // if the last span in out was joined from several, the length of the longest of these
	for _, s := range list {
		length := length64(s.Span)
		if n := len(out); n > 0 && out[n-1].ToMonoNanos == s.FromMonoNanos {
			last := &out[n-1]
			if last.same(&s) || length64(last.Span) < step && length < step {
				if length > longest {
					last.State, last.Stack, last.Lock, last.Detail = s.State, s.Stack, s.Lock, s.Detail
					longest = length
				}
				last.ToMonoNanos = s.ToMonoNanos
				continue
			}
		}
		out = append(out, s)
		longest = length
	}
	return out
}
