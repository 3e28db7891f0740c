package windows

import (
	"sort"

	"github.com/gasm-profiler/gasm/capture"
)

// Cut calls yield for each part of s that is in a window of the JVM, in the order of time. trial is the index of the
// trial with that window. If there are no windows, the JVM is measured all the time.
func (l *Timeline) Cut(s capture.Span, yield func(trial int, part capture.Span)) {
	if len(l.windows) == 0 {
		if !l.out && s.FromMonoNanos < s.ToMonoNanos {
			yield(l.trial, s)
		}
		return
	}
	first := sort.Search(len(l.windows), func(i int) bool { return l.windows[i].ToMonoNanos > s.FromMonoNanos })
	for i := first; i < len(l.windows) && l.windows[i].FromMonoNanos < s.ToMonoNanos; i++ {
		if part := common(s, l.windows[i].Span); part.FromMonoNanos < part.ToMonoNanos {
			yield(l.windows[i].trial, part)
		}
	}
}

// Cut calls yield for each part of s in which the thread counts, in the order of time. If t is nil, this is all of s.
func (t *OfThreads) Cut(pid, tid int, s capture.Span, yield func(part capture.Span)) {
	if t == nil {
		yield(s)
		return
	}
	list := t.spans[threadID{pid, tid}]
	if !t.outside {
		cut(list, s, yield)
		return
	}
	at := s.FromMonoNanos
	cut(list, s, func(inside capture.Span) {
		if at < inside.FromMonoNanos {
			yield(capture.Span{FromMonoNanos: at, ToMonoNanos: inside.FromMonoNanos})
		}
		at = inside.ToMonoNanos
	})
	if at < s.ToMonoNanos {
		yield(capture.Span{FromMonoNanos: at, ToMonoNanos: s.ToMonoNanos})
	}
}

// Cut calls yield for each part of s in which the thread was in the method, in the order of time. If m is nil, this is
// all of s.
func (m InsideMethod) Cut(pid, tid int, s capture.Span, yield func(part capture.Span)) {
	if m == nil {
		yield(s)
		return
	}
	cut(m[threadID{pid, tid}], s, yield)
}

// cut calls yield for each part of s that is in one of the spans of list, which must be sorted and must not overlap.
func cut(list []capture.Span, s capture.Span, yield func(part capture.Span)) {
	first := sort.Search(len(list), func(i int) bool { return list[i].ToMonoNanos > s.FromMonoNanos })
	for i := first; i < len(list) && list[i].FromMonoNanos < s.ToMonoNanos; i++ {
		if part := common(s, list[i]); part.FromMonoNanos < part.ToMonoNanos {
			yield(part)
		}
	}
}

// common returns the intersection of two spans. It is empty if they do not overlap.
func common(a, b capture.Span) capture.Span {
	return capture.Span{FromMonoNanos: max(a.FromMonoNanos, b.FromMonoNanos),
		ToMonoNanos: min(a.ToMonoNanos, b.ToMonoNanos)}
}
