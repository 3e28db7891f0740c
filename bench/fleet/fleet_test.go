package fleet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSimulate checks that the server gets the samples of all hosts, and none twice.
func TestSimulate(t *testing.T) {
	t.Parallel()
	kinds, err := Kinds()
	require.NoError(t, err)
	r, err := Simulate(t.Context(), 5, 1, kinds)
	require.NoError(t, err)
	assert.EqualValues(t, 5*JVMs, r.Made)
	assert.Equal(t, r.Made, r.Profiles)
	assert.Equal(t, r.SentSamples, r.Samples)
	assert.Equal(t, 2*5*JVMs, r.Series)
	assert.Less(t, r.PprofBytes, r.BodyBytes)
}
