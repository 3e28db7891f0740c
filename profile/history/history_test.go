package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Bins are merged as the run gets longer. No sample is lost by that.
func TestHistory(t *testing.T) {
	h := NewBuilder()
	n := 0
	for i := int64(0); i < 50_000; i += 7 {
		h.Add(1+int(i%2), 1e9+(i*7919%50_000)*1e6, Doing(i%int64(doings)), i%3 == 0)
		n++
	}
	h.Add(1, -1, RanC2, true) // without a time
	out := h.History()
	require.Len(t, out.JVMs, 2)
	assert.LessOrEqual(t, out.Bins, maxBins)
	assert.Greater(t, out.Bins, maxBins/3)
	assert.Equal(t, n, out.JVMs[0].Samples()+out.JVMs[1].Samples())
	assert.LessOrEqual(t, out.FromMonoNanos, int64(1e9))
	assert.GreaterOrEqual(t, out.FromMonoNanos+int64(out.Bins)*out.StepNanos, int64(1e9+49_999e6))
	assert.Empty(t, out.Of([]int{3}))
	assert.Nil(t, NewBuilder().History())
}
