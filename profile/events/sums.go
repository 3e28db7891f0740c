package events

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Sums sum up the events of one trial, and the samples that were taken during these events.
type Sums struct {
	totals []Total        // the total of each bit, without Counts; nil if no event was added
	during []tally.Counts // by bit: the samples that were taken while such events were going on
}

// Add counts an event.
func (s *Sums) Add(x *Index, e *event.Event) {
	if s.totals == nil {
		s.totals = slices.Clone(x.totals)
	}
	t := &s.totals[x.bit(e)]
	t.Count += e.Times()
	t.Nanos += e.Nanos
	t.LongestNanos = max(t.LongestNanos, e.Nanos)
	t.WaitNanos += e.WaitNanos
	t.LongestWaitNanos = max(t.LongestWaitNanos, e.WaitNanos)
}

// AddSample adds a sample to the counts of the events that were going on when it was taken. counter is the index of the
// sample's counter.
func (s *Sums) AddSample(lasted Set, counter int) {
	for bit, rest := 0, lasted.Named(); rest != 0; bit, rest = bit+1, rest>>1 {
		if rest.has(0) {
			for len(s.during) <= bit {
				s.during = append(s.during, nil)
			}
			s.during[bit].Bump(counter, 1)
		}
	}
}

// Totals returns the totals of the events. It leaves out a total that has no samples, if none of its events began in
// the windows. The totals are sorted by kind. Within a kind, those that took longest come first.
func (s *Sums) Totals(x *Index, counters int) []Total {
	if x == nil {
		return nil
	}
	counted := s.totals
	if counted == nil {
		counted = x.totals
	}
	var totals []Total
	for bit, t := range counted {
		t.Counts = make(tally.Counts, counters)
		if bit < len(s.during) {
			copy(t.Counts, s.during[bit])
		}
		if t.Count > 0 || counters > 0 && slices.Max(t.Counts) > 0 {
			totals = append(totals, t)
		}
	}
	slices.SortFunc(totals, func(a, b Total) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Name, b.Name))
	})
	return totals
}
