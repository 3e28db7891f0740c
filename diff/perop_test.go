package diff

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report"
)

// sideOf returns a side with one benchmark, which has three quarters of its samples in a method and one quarter in a
// stub.
func sideOf(samples int64, operations float64, event string, frequency int) *Side {
	return FromReport("x", report.JSON(&profile.Profiles{
		Capture: capture.Description{Sampler: "perf", Events: []string{event}, Frequency: frequency},
		Trials: []profile.Profile{{
			Trial: "Bench.run", Counters: []string{event}, Operations: operations,
			Accounts: []profile.Account{{Total: samples, Profiled: samples, Compiled: samples}},
			Methods: []profile.Method{
				{Source: "c2, level 4", Name: "Bench::run", Counts: tally.Counts{samples * 3 / 4}},
				{Source: "stub", Name: "copy", Counts: tally.Counts{samples / 4}}},
		}},
	}, "v1"))
}

// At 1000 Hz a sample is a millisecond. 8000 samples for 2e6 operations make 4 us for
// each operation, a quarter of that in the stub.
func TestNanosPerOp(t *testing.T) {
	a, b := sideOf(8000, 2e6, "cpu-clock", 1000), sideOf(4000, 2e6, "cpu-clock", 1000)
	assert.InDelta(t, 4000, a.Trials[0].NanosPerOp, 1e-6)
	b.Trials[0].Methods[1].Count, b.Trials[0].Methods[0].Count = 3000, 1000 // now the stub has most samples
	r := Compare(a, b, Options{MinChange: 0.01, HotThreshold: 0.1})
	require.Len(t, r.Trials[0].Methods, 2)
	stub := r.Trials[0].Methods[0]
	if stub.Name != "copy" {
		stub = r.Trials[0].Methods[1]
	}
	assert.InDelta(t, 1000, stub.NanosA, 1e-6)
	assert.InDelta(t, 1500, stub.NanosB, 1e-6)
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text, TextOptions{}))
	assert.Contains(t, text.String(), "CPU time:  A 4 us, B 2 us per operation: -50.0 %\n")
	assert.Contains(t, text.String(), "1 us -> 1.5 us per op")

	assert.Zero(t, sideOf(8000, 0, "cpu-clock", 1000).Trials[0].NanosPerOp, "no operations")
	assert.Zero(t, sideOf(8000, 2e6, "page-faults", 1000).Trials[0].NanosPerOp, "a page fault stands for no time")
	assert.Zero(t, sideOf(8000, 2e6, "cpu-clock", 0).Trials[0].NanosPerOp, "no frequency")
}
