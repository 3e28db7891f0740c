package top

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// TestUnprinted checks that all samples in a piece of code that HotSpot does not print are in the same Code.
func TestUnprinted(t *testing.T) {
	j := newJVM(JVM{PID: 1})
	for _, lo := range []uint64{0x1000, 0x3000} {
		j.blobs = append(j.blobs, printassembly.Blob{Kind: printassembly.Stub, Name: "stub", Lo: lo, Hi: lo + 0x1000})
		j.code, j.copy, j.at = append(j.code, nil), append(j.copy, nil), append(j.at, 0)
	}
	between := j.find(&sampler.Sample{PC: 0x2100})
	require.NotNil(t, between)
	assert.Equal(t, printassembly.Unprinted, between.Kind)
	assert.Same(t, between, j.find(&sampler.Sample{PC: 0x2200}))
	assert.NotSame(t, between, j.find(&sampler.Sample{PC: 0x3100}))
}
