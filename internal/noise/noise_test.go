package noise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// slowVariance calculates the variance of a ratio estimator by its definition.
func slowVariance(wholes, parts []int64) float64 {
	var whole, part float64
	for i := range wholes {
		whole, part = whole+float64(wholes[i]), part+float64(parts[i])
	}
	var sum float64
	for i := range wholes {
		off := float64(parts[i]) - part/whole*float64(wholes[i])
		sum += off * off
	}
	n := float64(len(wholes))
	return n / (n - 1) * sum / (whole * whole)
}

func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var g Groups
		var wholes, parts []int64
		for range 2 + r.IntN(20) {
			whole := 1 + r.Int64N(100_000)
			wholes, parts = append(wholes, whole), append(parts, r.Int64N(whole+1))
			g.Add(wholes[len(wholes)-1], parts[len(parts)-1])
		}
		assert.InEpsilon(t, slowVariance(wholes, parts), g.Variance(), 1e-6)
		g.Add(77, 33)
		g.Remove(77, 33)
		assert.InEpsilon(t, slowVariance(wholes, parts), g.Variance(), 1e-6)
		assert.Equal(t, len(wholes), g.Len())
	}
	var one Groups
	one.Add(10, 5)
	assert.Zero(t, one.Variance())
}

// TestFactor checks that two samples of the same program differ by more than Factor(1) standard errors once in a
// hundred times.
func TestFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int64) (hits int64) {
		for range n {
			if r.Float64() < 0.3 {
				hits++
			}
		}
		return hits
	}
	const rounds = 3000
	above := 0
	for range rounds {
		a, b := draw(200), draw(400)
		if math.Abs(float64(a)/200-float64(b)/400) > Factor(1)*SamplingError(a, 200, b, 400) {
			above++
		}
	}
	// 30 are expected; five standard errors are 27.
	assert.InDelta(t, 30, above, 27)
	assert.Greater(t, Factor(100), Factor(1))
	assert.InDelta(t, 2*Factor(1), SpreadFactor(Factor(1), 1), 1e-9)
	assert.InDelta(t, Factor(1), SpreadFactor(Factor(1), 1000), 0.01)
}
