package windows

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
)

func TestOperations(t *testing.T) {
	const second = 1e9
	for line, want := range map[string]float64{
		"Iteration   1: 500.000 ns/op":             4e6, // two threads
		"500.000 ±(99.9%) 7.1 ns/op":               4e6,
		"Iteration   2: 2.5 us/op":                 8e5,
		"Iteration   3: 4000000.000 ops/s":         4e6, // of all threads
		"Iteration   3: 0.004 ±(99.9%) 0.1 ops/ns": 4e6,
		"Iteration   3: 500,000 ns/op":             4e6, // a locale's comma
		"Iteration   3: ≈ 10⁻⁵ s/op":               0,
		"Iteration   3: NaN s/op":                  0,
		"Iteration   3: 7 B/op":                    0,
		"ns/op":                                    0,
		"":                                         0,
	} {
		assert.InDelta(t, want, operations([]byte(line), second, 2), 1e-3, line)
	}
}

func TestAddOperations(t *testing.T) {
	var trial capture.Trial
	addOperations(&trial, true, []float64{3, 4})
	addOperations(&trial, false, []float64{5})
	assert.EqualValues(t, 12, trial.Operations)
	addOperations(&trial, false, []float64{5, 0})
	addOperations(&trial, false, []float64{5})
	assert.Zero(t, trial.Operations, "one iteration is unknown")
}
