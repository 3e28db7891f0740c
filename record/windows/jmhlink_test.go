package windows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
)

func TestIterationLength(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"2 iterations, 400 ms each":               400 * time.Millisecond,
		"5 iterations, 10 s each":                 10 * time.Second,
		"1 iterations, 1 min each":                time.Minute,
		"5 iterations, 2 hr each":                 2 * time.Hour,
		"5 iterations, 10 s each, 5 calls per op": 10 * time.Second,
		"5 iterations, single-shot each":          0,
		"<none>":                                  0,
		"5 iterations, 9999999999999 hr each":     0,
		"5 iterations, -1 s each":                 0,
		"5 iterations, 99999999999999999999 ns":   0,
	} {
		assert.Equal(t, want, iterationLength(value), value)
	}
}

// TestMended checks the corrected times of iterations. The earlier one of a line's time and its message's time
// counts. An iteration ends before the next one begins. The number of operations is in proportion to the corrected
// length of the iteration.
func TestMended(t *testing.T) {
	for _, c := range []struct {
		name   string
		sent   []sentTimes
		want   []capture.Span
		factor float64 // factor for the operations of the first iteration
	}{
		{"nothing is known", []sentTimes{{}, {}}, []capture.Span{{FromMonoNanos: 100, ToMonoNanos: 200},
			{FromMonoNanos: 210, ToMonoNanos: 310}}, 1},
		{"lines are late", []sentTimes{{began: 70, ended: 195, over: 190}, {began: 192, ended: 300}},
			[]capture.Span{{FromMonoNanos: 70, ToMonoNanos: 190}, {FromMonoNanos: 192, ToMonoNanos: 300}}, 1.2},
		{"messages seem to be later", []sentTimes{{began: 101, ended: 250, over: 220}, {began: 215, ended: 400}},
			[]capture.Span{{FromMonoNanos: 100, ToMonoNanos: 200}, {FromMonoNanos: 210, ToMonoNanos: 310}}, 1},
		{"the next one began before", []sentTimes{{}, {began: 190}},
			[]capture.Span{{FromMonoNanos: 100, ToMonoNanos: 190}, {FromMonoNanos: 190, ToMonoNanos: 310}}, 0.9},
		{"an end that can't be", []sentTimes{{ended: 90, over: 100}, {ended: 5}},
			[]capture.Span{{FromMonoNanos: 100, ToMonoNanos: 200}, {FromMonoNanos: 210, ToMonoNanos: 310}}, 1},
	} {
		f := jmhFork{iterations: []capture.Span{{FromMonoNanos: 100, ToMonoNanos: 200},
			{FromMonoNanos: 210, ToMonoNanos: 310}}, operations: []float64{1000, 0}, sent: c.sent}
		for range 2 { // asking again changes nothing
			iterations, operations := f.corrected()
			assert.Equal(t, c.want, iterations, c.name)
			assert.InDelta(t, 1000*c.factor, operations[0], 1e-6, c.name)
			assert.Zero(t, operations[1], c.name)
		}
	}
	open := jmhFork{iterations: []capture.Span{{FromMonoNanos: 100}}, operations: []float64{0},
		sent: []sentTimes{{began: 90, over: 95}}}
	iterations, _ := open.corrected()
	assert.Equal(t, []capture.Span{{FromMonoNanos: 90}}, iterations, "one that has not ended")
}
