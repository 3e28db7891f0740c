package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSimulateFleet checks that the server gets the samples of all hosts, and none twice.
func TestSimulateFleet(t *testing.T) {
	t.Parallel()
	kinds, err := fleetProfiles()
	require.NoError(t, err)
	r, err := simulateFleet(t.Context(), 5, 1, kinds)
	require.NoError(t, err)
	assert.EqualValues(t, 5*fleetJVMs, r.made)
	assert.Equal(t, r.made, r.profiles)
	assert.Equal(t, r.sentSamples, r.samples)
	assert.Equal(t, 2*5*fleetJVMs, r.series)
	assert.Less(t, r.pprofBytes, r.bodyBytes)
}
