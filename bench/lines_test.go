package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The capture is of two programs in three JVMs with DebugNonSafepoints. Each has one hot loop.
func TestScoreLines(t *testing.T) {
	c, err := scoreLines(gasmtest.UnpackFolder(t, gasmtest.Programs))
	require.NoError(t, err)
	assert.Equal(t, 198, c.byFlow.Samples)
	assert.Equal(t, c.byFlow.Samples, c.byAddress.Samples)
	assert.Equal(t, 198, c.recordedFlow.Samples)
	assert.Zero(t, wrong(&c.byFlow, c.byFlow.Method))
	assert.Positive(t, wrong(&c.byAddress, c.byAddress.Method))
	assert.Zero(t, wrong(&c.byFlow, c.byFlow.Certain))
	assert.Zero(t, c.left)
}
