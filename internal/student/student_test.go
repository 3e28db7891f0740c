package student

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The values are from published tables.
func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		probability float64
		degrees     int
		want        float64
	}{
		{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 3, 3.182}, {0.975, 4, 2.776}, {0.975, 10, 2.228}, {0.975, 30, 2.042},
		{0.975, 120, 1.980},
		{0.9995, 1, 636.619}, {0.9995, 2, 31.599}, {0.9995, 3, 12.924}, {0.9995, 4, 8.610}, {0.9995, 5, 6.869},
		{0.9995, 9, 4.781}, {0.9995, 60, 3.460},
		{0.995, 5, 4.032}, {0.9, 7, 1.415}, {0.975, 5000, 1.960},
	} {
		assert.InDelta(t, c.want, Quantile(c.probability, c.degrees), 0.0006*max(1, c.want), "%g, %d degrees",
			c.probability, c.degrees)
	}
	assert.Zero(t, Quantile(0.5, 3))
	assert.Zero(t, Quantile(math.NaN(), 3))
	assert.Equal(t, Quantile(0.975, 1), Quantile(0.975, 0), "no fewer than one degree")
}
