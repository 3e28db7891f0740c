package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Two JVMs in three trials, and a JVM that is in no trial.
func TestCodeCounts(t *testing.T) {
	b := NewBuilder(choice.Config{
		JVMs: []capture.JVM{{PID: 1, Log: smallLog(t)}, {PID: 2, Log: smallLog(t)}, {PID: 3, Log: smallLog(t)}},
		Trials: []capture.Trial{{Windows: []capture.Window{window(1, 0, 500e6), window(2, 0, 500e6)}},
			{Windows: []capture.Window{window(2, 500e6, 1e9)}}, {Windows: []capture.Window{always(4)}}},
	})
	add(b, at(1, 100, 0x700), at(1, 100, 0x700), at(1, 600, 0x700), at(1, 100, 0x101), at(2, 100, 0x200),
		at(2, 600, 0x203), at(3, 100, 0x700), at(4, 100, 0x700))
	late := at(1, 100, 0x700)
	late.Event = "cache-misses"
	add(b, late)
	c := b.CodeCounts()
	require.Len(t, c, 2)
	assert.Equal(t, []int{1, 2}, []int{c[0].PID, c[1].PID})
	assert.Equal(t, []string{"cycles", "cache-misses"}, c[0].Counters)
	assert.Equal(t, map[uint64]tally.Counts{0x700: {2, 1}}, c[0].At(6))
	assert.Equal(t, map[uint64]tally.Counts{0x101: {1, 0}}, c[0].At(0))
	assert.Nil(t, c[0].At(1))
	assert.Equal(t, map[uint64]tally.Counts{0x200: {1, 0}, 0x203: {1, 0}}, c[1].At(1), "of both trials")

	var code int64
	for _, p := range build(t, b, choice.DefaultOptions()) {
		for _, a := range p.Accounts {
			code += a.Compiled + a.Stub + a.Interpreter
		}
	}
	var sum int64
	for i := range c {
		for blob := range c[i].Log.Blobs {
			for _, counts := range c[i].At(blob) {
				sum += counts[0] + counts[1]
			}
		}
	}
	assert.Equal(t, code, sum)
}
