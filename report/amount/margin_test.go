package amount

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMargin(t *testing.T) {
	for _, c := range []struct {
		n, total int64
		want     string
	}{
		{0, 3000, ""}, {1, 3000, "0.07"}, {99, 3000, "0.64"}, {1000, 3000, "1.7"}, {2000, 3000, "1.7"}, {3000, 3000, ""},
		{5, 10, "31.0"}, {0, 0, ""}, {1, 0, ""}, {1000, 10_000_000, ""}, {5_000_000, 10_000_000, "0.03"},
	} {
		assert.Equal(t, c.want, Margin(c.n, c.total), "%d of %d", c.n, c.total)
	}
}

// In 95 of 100 simulated recordings, the true share is within the margin that the recording reports.
func TestMarginHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0.02, 0.1, 0.5} {
		within := 0
		const recordings, samples = 2000, 2000
		for range recordings {
			n := int64(0)
			for range samples {
				if random.Float64() < share {
					n++
				}
			}
			margin, err := strconv.ParseFloat(Margin(n, samples), 64)
			require.NoError(t, err)
			if d := 100*float64(n)/samples - 100*share; d <= margin && d >= -margin {
				within++
			}
		}
		// Its standard error is 0.5 points; the normal distribution is an approximation for small shares.
		assert.InDelta(t, 0.95, float64(within)/recordings, 0.02, "%v", share)
	}
}
