package capture

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScore(t *testing.T) {
	// Iterations, and the score that JMH 1.37 computes for them.
	s := Score{Mode: "avgt", Unit: "ns/op", Forks: [][]float64{{588.5361639914452, 377.41126541976814},
		{418.3985101602229, 561.186523083268}}}
	s.Estimate()
	assert.InDelta(t, 486.38311566367605, s.Value, 1e-9)
	assert.InDelta(t, 672.8703480613134, s.Error, 1e-6)
	assert.Equal(t, "486.383 ±672.870 ns/op (avgt, 4 iterations in 2 forks)", s.String())
	s = Score{Unit: "ops/us", Forks: [][]float64{{0.25}}}
	s.Estimate()
	assert.Equal(t, "0.2500 ops/us (1 iteration in 1 fork)", s.String())
	s.Forks = nil
	s.Estimate()
	assert.EqualValues(t, 0.25, s.Value, "there are no iterations to estimate from")
}

func TestScoreSound(t *testing.T) {
	good := Score{Unit: "ns/op", Value: 1}
	assert.True(t, good.Sound())
	for _, bad := range []Score{{Value: 1}, {Unit: "x", Value: math.NaN()}, {Unit: "x", Error: -1},
		{Unit: "x", Error: math.Inf(1)}, {Unit: "x", Forks: [][]float64{{1, math.NaN()}}}} {
		assert.False(t, bad.Sound(), "%+v", bad)
	}
}

func TestNanos(t *testing.T) {
	for unit, want := range map[string]float64{"ns/op": 4, "us/op": 4000, "ms/op": 4e6, "s/op": 4e9, "ops/ns": 0.25,
		"ops/us": 250, "ops/s": 2.5e8, "B/op": 0, "ops": 0, "": 0} {
		nanos, ok := Nanos(4, unit)
		assert.InDelta(t, want, nanos, 1e-9, unit)
		assert.Equal(t, want > 0, ok, unit)
	}
	_, ok := Nanos(0, "ops/s")
	assert.False(t, ok, "no operation was done")
}

func TestScoreWith(t *testing.T) {
	a, b := &Score{Mode: "avgt", Unit: "ns/op", Value: 2, Forks: [][]float64{{2}}}, &Score{Mode: "avgt", Unit: "ns/op",
		Value: 4, Forks: [][]float64{{3, 5}}}
	both := a.With(b)
	assert.Equal(t, [][]float64{{2}, {3, 5}}, both.Forks)
	assert.InDelta(t, 10.0/3, both.Value, 1e-9)
	assert.Len(t, a.Forks, 1, "With does not change it")
	assert.Nil(t, a.With(nil))
	assert.Nil(t, (*Score)(nil).With(a))
	assert.Nil(t, a.With(&Score{Unit: "us/op", Forks: [][]float64{{1}}}))
}
