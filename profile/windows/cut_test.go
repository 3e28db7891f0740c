package windows

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
)

// TestCut checks that what Cut yields for a span agrees with Find and Has at each moment of the span.
func TestCut(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const end = 60
	span := func() capture.Span {
		from := random.Int64N(end)
		return capture.Span{FromMonoNanos: from, ToMonoNanos: from + random.Int64N(10)}
	}
	for range 500 {
		trials := []Measurement{{PIDs: []int{1}}, {PIDs: []int{1, 2}}}
		inside := InsideMethod{}
		threads := &OfThreads{map[threadID][]capture.Span{}, random.IntN(2) == 0}
		for range random.IntN(5) {
			m := &trials[random.IntN(2)]
			m.Windows = append(m.Windows, capture.Window{PID: 1, Span: span()})
			inside[threadID{1, 7}] = append(inside[threadID{1, 7}], span())
			threads.spans[threadID{1, 7}] = append(threads.spans[threadID{1, 7}], span())
		}
		if len(trials[0].Windows) == 0 {
			trials[0].PIDs = nil // the timeline is that of the other trial, or of a JVM without windows
		}
		inside[threadID{1, 7}] = joined(inside[threadID{1, 7}])
		threads.spans[threadID{1, 7}] = joined(threads.spans[threadID{1, 7}])
		lines, _ := Timelines(trials)
		line := lines[1]
		whole := span()
		var inWindow [end + 10]int
		var ofThread, inMethod [end + 10]bool
		line.Cut(whole, func(trial int, s capture.Span) {
			for at := s.FromMonoNanos; at < s.ToMonoNanos; at++ {
				inWindow[at] = trial + 1
			}
		})
		mark := func(to *[end + 10]bool) func(capture.Span) {
			return func(s capture.Span) {
				for at := s.FromMonoNanos; at < s.ToMonoNanos; at++ {
					assert.False(t, to[at], "twice")
					to[at] = true
				}
			}
		}
		threads.Cut(1, 7, whole, mark(&ofThread))
		inside.Cut(1, 7, whole, mark(&inMethod))
		for at := range int64(end + 10) {
			in := at >= whole.FromMonoNanos && at < whole.ToMonoNanos
			trial, _, found := line.Find(at)
			want := 0
			if in && found {
				want = trial + 1
			}
			assert.Equal(t, want, inWindow[at])
			assert.Equal(t, in && threads.Has(1, 7, at), ofThread[at])
			assert.Equal(t, in && inside.Has(1, 7, at), inMethod[at])
		}
	}
}

// TestCutNothing checks that a span is whole if nothing narrows it.
func TestCutNothing(t *testing.T) {
	whole := capture.Span{FromMonoNanos: 5, ToMonoNanos: 9}
	var got []capture.Span
	add := func(s capture.Span) { got = append(got, s) }
	(*OfThreads)(nil).Cut(1, 2, whole, add)
	InsideMethod(nil).Cut(1, 2, whole, add)
	assert.Equal(t, []capture.Span{whole, whole}, got)
	NotMeasured().Cut(whole, func(int, capture.Span) { t.Error("the JVM is not measured") })
}
