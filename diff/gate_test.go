package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
)

// benchmark is the side of one benchmark with the scores of its forks' iterations, in us/op.
func benchmark(name string, forks ...[]float64) *Side {
	t := trial(1000, region("p.A::a", 7, code(0x1000, "900 nop")))
	t.Name, t.Score = "p.B.run", &capture.Score{Mode: "avgt", Unit: "us/op", Forks: forks}
	t.Score.Estimate()
	return side(name, t)
}

func judge(a, b *Side, percent float64) *Gate {
	r := Compare(a, b, options())
	r.Gate = r.Judge(percent)
	return r.Gate
}

func TestGateOfBenchmark(t *testing.T) {
	before := benchmark("a", []float64{10, 10.1, 9.9}, []float64{10.05, 9.95, 10})
	for _, c := range []struct {
		name    string
		after   *Side
		percent float64
		failed  bool
	}{
		{"the same", benchmark("b", []float64{10.02, 10.1, 9.9}, []float64{10.05, 9.93, 10}), 0, false},
		{"slower", benchmark("b", []float64{13, 13.1, 12.9}, []float64{13, 13.05, 12.95}), 5, true},
		{"slower, and more is allowed", benchmark("b", []float64{13, 13.1, 12.9}, []float64{13, 13.05, 12.95}), 31, false},
		{"faster", benchmark("b", []float64{7, 7.1, 6.9}, []float64{7, 7.05, 6.95}), 5, false},
		{"slower in one fork of two: forks differ", benchmark("b", []float64{16, 16, 16}, []float64{10, 10, 10}), 5, false},
		{"a single iteration tells no noise", benchmark("b", []float64{20}), 5, false},
		{"nor do iterations of one fork", benchmark("b", []float64{20, 20.1, 19.9}), 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := judge(before, c.after, c.percent)
			require.Len(t, g.Rows, 1)
			assert.Equal(t, c.failed, g.Rows[0].Failed, "%+v", g.Rows[0])
			assert.Equal(t, c.failed, g.Failed == 1)
			assert.Equal(t, c.failed, g.Err() != nil)
		})
	}
	g := judge(before, benchmark("b", []float64{13, 13.1, 12.9}, []float64{13, 13.05, 12.95}), 5)
	assert.ErrorContains(t, g.Err(),
		"slower by more than the 5 % of --fail-above, beyond noise: p.B.run: 10 us -> 13 us per operation, +30.0 % (noise ")
	assert.False(t, judge(benchmark("a", []float64{10}), benchmark("b", []float64{20}), 5).Rows[0].NoiseKnown)
}

// If the throughput falls, the time per operation grows.
func TestGateOfThroughput(t *testing.T) {
	a, b := benchmark("a", []float64{50, 51}, []float64{50, 49}), benchmark("b", []float64{25, 25.1}, []float64{25, 24.9})
	for _, s := range []*Side{a, b} {
		s.Trials[0].Score.Unit = "ops/us"
	}
	row := judge(a, b, 5).Rows[0]
	assert.InDelta(t, 20, row.Before, 0.01, "ns")
	assert.InDelta(t, 100, row.Change, 0.5)
	assert.True(t, row.Failed)
}

// For a program, the gate judges the shares of methods. Two compilations of one method count together.
func TestGateOfProgram(t *testing.T) {
	a := side("a", trial(10000, region("p.A::a", 7, code(0x1000, "8000 nop")),
		region("p.A::b", 8, code(0x2000, "2000 nop"))))
	b := side("b", trial(10000, region("p.A::a", 7, code(0x1000, "5000 nop")),
		region("p.A::b", 9, code(0x2000, "5000 nop"))))
	g := judge(a, b, 10)
	require.Len(t, g.Rows, 1)
	assert.Equal(t, "p.A::b", g.Rows[0].Name)
	assert.InDelta(t, 30, g.Rows[0].Change, 1e-9)
	assert.ErrorContains(t, g.Err(), "p.A::b has 20.00% -> 50.00% of the profile, +30.0 points")
	assert.NoError(t, judge(a, b, 29).Err(), "with its noise")
	assert.NoError(t, judge(a, a, 0).Err())
}

// Reports of older versions of gasm have no scores, so the gate judges CPU time alone.
func TestGateOfCPUTime(t *testing.T) {
	a, b := sideOf(8000, 2e6, "cpu-clock", 1000), sideOf(16000, 2e6, "cpu-clock", 1000)
	assert.False(t, judge(a, b, 5).Rows[0].Failed, "one fork tells nothing of how forks differ")
	a.Trials[0].Forks, b.Trials[0].Forks = []int64{4010, 3990}, []int64{8010, 7990}
	row := judge(a, b, 5).Rows[0]
	assert.True(t, row.CPU)
	assert.True(t, row.Failed)
	assert.InDelta(t, 100, row.Change, 1e-9)
	same := sideOf(8100, 2e6, "cpu-clock", 1000)
	same.Trials[0].Forks = []int64{4060, 4040}
	assert.False(t, judge(a, same, 0).Rows[0].Failed, "1.25 % of 8000 samples are chance")
}

// Two sides of the same code, whose forks differ by 3 % and iterations by 1 %: a gate of 0 % fails in about one of a
// hundred comparisons, as documented, and detects code that is twice as slow.
func TestGateFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	made := func(name string, level float64) *Side {
		var forks [][]float64
		for range 3 {
			fork := level * (1 + 0.03*random.NormFloat64())
			var scores []float64
			for range 5 {
				scores = append(scores, fork*(1+0.01*random.NormFloat64()))
			}
			forks = append(forks, scores)
		}
		return benchmark(name, forks...)
	}
	const runs = 2000
	alarms, found := 0, 0
	for range runs {
		alarms += judge(made("a", 10), made("b", 10), 0).Failed
		found += judge(made("a", 10), made("b", 20), 5).Failed
	}
	// 20 are expected, with a standard deviation of 4.5.
	assert.LessOrEqual(t, alarms, 38, "of %d", runs)
	assert.Greater(t, alarms, 4, "the noise is not put higher than it is")
	assert.Equal(t, runs, found)
}

// The result of a gate is in the text and in the JSON.
func TestGateShown(t *testing.T) {
	r := Compare(benchmark("a", []float64{10, 10.1}, []float64{10, 10.1}),
		benchmark("b", []float64{20, 20.1}, []float64{20, 20.1}), options())
	r.Gate = r.Judge(5)
	var text, out bytes.Buffer
	require.NoError(t, r.WriteText(&text, TextOptions{}))
	assert.Contains(t, text.String(),
		"Limit:     5 % (--fail-above): failed\n  failed: p.B.run: 10.1 us -> 20.1 us per operation, +99.5 %")
	assert.Contains(t, text.String(), "Score:     A 10.050 ±")
	require.NoError(t, r.WriteJSON(&out, "v1"))
	var got jsonDiff
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.NotNil(t, got.Gate)
	assert.Equal(t, 1, got.Gate.Failed)
	assert.Equal(t, "us/op", got.Trials[0].B.Score.Unit)
}

// Three captures of each side.
func TestJoin(t *testing.T) {
	one := func(score float64, samples int64) *Side {
		s := benchmark(fmt.Sprint("c", score), []float64{score, score + 0.1})
		s.Trials[0].Samples, s.Trials[0].Methods[0].Count, s.Trials[0].Frames[0].Count = samples, samples*9/10, samples*9/10
		s.Trials[0].NanosPerOp, s.Trials[0].Operations = 1000*score, 100
		s.Trials[0].Slices, s.Trials[0].Methods[0].Slices, s.Trials[0].Frames[0].Slices = []int64{samples / 2,
			samples / 2}, []int64{1, 2}, []int64{1, 2}
		return s
	}
	other := one(12, 500)
	other.Trials[0].Methods = append(other.Trials[0].Methods,
		Item{Source: "libc.so.6", Name: "memcpy", Count: 50, Slices: []int64{25, 25}})
	all, err := Join([]*Side{one(10, 1000), other, one(11, 700)})
	require.NoError(t, err)
	assert.Equal(t, "c10, c12, c11", all.Name)
	require.Len(t, all.Trials, 1)
	x := all.Trials[0]
	assert.EqualValues(t, 2200, x.Samples)
	assert.Equal(t, []int64{1000, 500, 700}, x.Forks)
	assert.Len(t, x.Slices, 6)
	assert.Equal(t, []int64{900, 450, 630}, x.Methods[0].Forks)
	assert.Len(t, x.Methods[0].Slices, 6)
	assert.Equal(t, []int64{0, 50, 0}, x.Methods[1].Forks)
	assert.Equal(t, []int64{0, 0, 25, 25, 0, 0}, x.Methods[1].Slices)
	assert.InDelta(t, 11000, x.NanosPerOp, 1e-6)
	assert.Len(t, x.Score.Forks, 3)
	assert.Len(t, x.Runs, 3)
	var listed int64
	for _, r := range x.Regions {
		listed += r.Count
	}
	assert.EqualValues(t, 2700, listed)
	assert.Equal(t, 0, judge(all, all, 0).Failed)

	single := one(10, 1000)
	same, err := Join([]*Side{single})
	require.NoError(t, err)
	assert.Same(t, single, same)
	chosen := one(10, 1000)
	chosen.Chosen = "--thread app"
	_, err = Join([]*Side{single, chosen})
	assert.ErrorContains(t, err, "they can't be one side")
	cycles := one(10, 1000)
	cycles.Trials[0].Event = "instructions"
	_, err = Join([]*Side{single, cycles})
	assert.ErrorContains(t, err, "has samples of instructions")
}
