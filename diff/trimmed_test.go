package diff

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
)

// captures returns a side with a capture of one fork for each of the given times, in ns.
func captures(name string, times ...float64) *Side {
	t := TrialSide{Name: "p.B.run", Samples: 1000, Event: "cpu-clock", Runs: times,
		Score: &capture.Score{Mode: "avgt", Unit: "ns/op"}}
	for _, x := range times {
		t.Score.Forks = append(t.Score.Forks, []float64{x, x, x})
	}
	t.Score.Estimate()
	return &Side{Name: name, Trials: []TrialSide{t}}
}

// If one recording of three was disturbed, the gate still fails for a change that the others show.
func TestGateOfDisturbedMachine(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []float64
		leftOut       int // number of recordings left out in the row; -1 if the gate does not fail
	}{
		{"none", []float64{300, 303, 305}, []float64{700, 705, 710}, 0},
		{"one after", []float64{300, 303, 305}, []float64{700, 705, 1900}, 1},
		{"one before", []float64{300, 900, 305}, []float64{700, 705, 720}, 1},
		{"one of each", []float64{300, 305, 900}, []float64{1900, 705, 720}, 1},
		// no need to leave any out
		{"two of six", []float64{300, 305, 302, 306, 301, 303}, []float64{700, 1200, 720, 710, 1900, 715}, 0},
		{"two of three", []float64{300, 305, 302}, []float64{700, 1200, 1900}, -1},
		{"one of two", []float64{300, 305}, []float64{700, 1900}, -1},
		{"the same code", []float64{300, 305, 302}, []float64{900, 306, 301}, -1},
		{"the same code, apart by chance", []float64{300, 305, 310}, []float64{312, 320, 900}, -1},
	} {
		g := judge(captures("a", c.before...), captures("b", c.after...), 5)
		require.Len(t, g.Rows, 1)
		row := g.Rows[0]
		assert.Equal(t, c.leftOut >= 0, row.Failed, "%s: %+v", c.name, row)
		assert.Equal(t, max(0, c.leftOut), row.LeftOut, "%s: %+v", c.name, row)
		if row.LeftOut > 0 {
			assert.InDelta(t, 135, row.Change, 6, "%s: what the others have", c.name)
		}
	}
	r := Compare(captures("a", 300, 303, 305), captures("b", 700, 705, 1900), options())
	r.Gate = r.Judge(5)
	assert.ErrorContains(t, r.Gate.Err(),
		"302 ns -> 702 ns per operation, without the slowest 1 of each side, +133.0 % (noise ")
	var text bytes.Buffer
	require.NoError(t, r.WriteMarkdown(&text, "v1"))
	assert.Contains(t, text.String(), " %, without the slowest 1 of each side |")
	// CPU time is judged in the same way.
	for _, s := range []*TrialSide{r.Trials[0].A, r.Trials[0].B} {
		s.Samples, s.CPURuns, s.Runs, s.Score = 100_000, s.Runs, nil, nil
		s.NanosPerOp = mean(s.CPURuns)
	}
	g := r.Judge(5)
	require.Len(t, g.Rows, 1)
	assert.True(t, g.Rows[0].CPU)
	assert.Equal(t, 1, g.Rows[0].LeftOut)
	assert.True(t, g.Rows[0].Failed)
}

// noises are distributions of times: those of recordings of the same code.
var noises = map[string]func(*rand.Rand) float64{
	"normal":      func(r *rand.Rand) float64 { return 1 + 0.03*r.NormFloat64() },
	"skewed":      func(r *rand.Rand) float64 { return math.Exp(0.3 * r.NormFloat64()) },
	"exponential": func(r *rand.Rand) float64 { return 1 + 0.1*r.ExpFloat64() },
	"uniform":     func(r *rand.Rand) float64 { return 1 + 0.05*r.Float64() },
	"Pareto":      func(r *rand.Rand) float64 { return 1 + 0.03*(1/(1-r.Float64())-1) },
	"disturbed": func(r *rand.Rand) float64 { // one of four
		x := 1 + 0.03*r.NormFloat64()
		if r.Float64() < 0.25 {
			x *= 1 + r.ExpFloat64()
		}
		return x
	},
}

// For two sides of the same code, a gate of 0 % fails in at most 3 % of all cases, whatever the noise is. It fails by
// chance in 1 % of them, the judgement without the slowest recordings adds 0.5 %, and times that are not normally
// distributed add more. Ten benchmarks together do not fail more often.
func TestGateFalseAlarmsOfNoise(t *testing.T) {
	for name, noise := range noises {
		for _, c := range []struct{ recordings, benchmarks int }{{3, 1}, {4, 1}, {6, 1}, {4, 10}} {
			random := rand.New(rand.NewPCG(1, 2))
			times := func() (times []float64) {
				for range c.recordings {
					times = append(times, 100*noise(random))
				}
				return times
			}
			runs, alarms := 500, 0
			if c.benchmarks > 1 {
				runs = 100
			}
			for range runs {
				failed := false
				for range c.benchmarks {
					r := Result{Trials: []Comparison{{A: &captures("a", times()...).Trials[0],
						B: &captures("b", times()...).Trials[0]}}}
					m := r.Trials[0].measures()[0]
					plain := r.Trials[0].timeRow(m, c.benchmarks)
					without, ok := r.Trials[0].trimmedRow(m, c.benchmarks)
					require.True(t, ok)
					failed = failed || plain.failed(0) || without.failed(0)
				}
				if failed {
					alarms++
				}
			}
			// The limit allows three standard deviations of the count.
			limit := 0.03*float64(runs) + 3*math.Sqrt(0.03*float64(runs))
			t.Logf("%s, %+v: %d of %d", name, c, alarms, runs)
			assert.LessOrEqual(t, float64(alarms), limit, "%s, %+v: %d of %d", name, c, alarms, runs)
		}
	}
}

// Code that is twice as slow fails, also where one recording of three on each side was disturbed.
func TestGatePower(t *testing.T) {
	for _, c := range []struct {
		recordings int
		noise      float64
		least      float64 // the least share of the cases in which it must fail
	}{{3, 0.01, 0.95}, {4, 0.05, 0.98}, {6, 0.1, 0.95}} {
		random := rand.New(rand.NewPCG(3, 4))
		times := func(level float64) (times []float64) {
			for i := range c.recordings {
				x := level * (1 + c.noise*random.NormFloat64())
				if i == 0 {
					x *= 1.5 + random.ExpFloat64()
				}
				times = append(times, x)
			}
			return times
		}
		const runs = 1000
		found := 0
		for range runs {
			found += judge(captures("a", times(100)...), captures("b", times(200)...), 5).Failed
		}
		assert.GreaterOrEqual(t, float64(found), c.least*runs, "%+v", c)
	}
}
