package framechains

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
)

func TestChains(t *testing.T) {
	var c Chains
	assert.Zero(t, c.Number(nil))
	inner, outer := printassembly.Frame{Method: "a.A::a", BCI: 3, Line: 7}, printassembly.Frame{Method: "b.B::b", BCI: 9}
	both := c.Number([]printassembly.Frame{inner, outer})
	assert.Equal(t, 2, c.Len())
	assert.Equal(t, both, c.Number([]printassembly.Frame{{Method: strings.Clone(inner.Method), BCI: 3, Line: 7}, outer}))
	assert.Equal(t, c.Callers(both), c.Number([]printassembly.Frame{outer}))
	assert.Zero(t, c.Callers(c.Callers(both)))
	assert.Equal(t, c.Place("a.A::a", 3, 7), c.Innermost(both))
	assert.Equal(t, "a.A::a", c.Method(c.Innermost(both)))
	assert.Equal(t, 2, c.Len())
	for i, other := range [][]printassembly.Frame{{inner}, {outer, inner}, {{Method: "a.A::a", BCI: 3, Line: 8}, outer},
		{{Method: "a.A::a", BCI: 4, Line: 7}, outer}, {{Method: "a.A::", BCI: 3, Line: 7}, outer}} {
		assert.NotEqual(t, both, c.Number(other), i)
	}
}

// Long chains of long names take only as much memory as their frames, because the names are not joined into one string.
func TestLongChains(t *testing.T) {
	frames := slices.Repeat([]printassembly.Frame{{Method: strings.Repeat("n", 100_000)}}, 500)
	copies := make([][]printassembly.Frame, 100)
	for i := range copies {
		copies[i] = slices.Clone(frames)
	}
	var c Chains
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, f := range copies {
		assert.Equal(t, len(frames), c.Number(f))
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	assert.Equal(t, len(frames), c.Len())
	assert.Len(t, c.byAddress, 1)
}
