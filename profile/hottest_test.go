package profile

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Of many loops, only the hottest are described: to describe all would take several times the memory that is allowed
// here.
func TestOnlyHottestLoopsAreDescribed(t *testing.T) {
	const n = 2000
	c := &hotCode{from: &mergedCode{sampledBlob: &sampledBlob{Blob: &printassembly.Blob{}}}}
	for i := range uint64(n) {
		lo := 0x1000 + 8*i
		c.lines = append(c.lines,
			code.Line{Instruction: printassembly.Instruction{Lo: lo, Hi: lo + 4, Text: "imul %rcx,%rax"},
				Counts: tally.Counts{1 + int64(i)*7919%n}},
			code.Line{Instruction: printassembly.Instruction{Lo: lo + 4, Hi: lo + 8, Text: fmt.Sprintf("jl 0x%x", lo),
				Kind: disasm.CondJump, Target: lo}, Counts: tally.Counts{0}})
	}
	c.blocks = code.BlocksOf(c.lines, 1)
	c.loops, c.whole = code.FindLoops(c.lines, c.blocks, 1)
	require.Equal(t, n, len(c.loops))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hottest := loopsOf([]*hotCode{c})
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*8<<10))
	require.Equal(t, hottestLoops, len(hottest))
	for i, l := range hottest {
		assert.Equal(t, tally.Counts{int64(n - i)}, l.Counts)
		assert.True(t, strings.HasPrefix(l.Facts.Limit(), "no faster than 3 cycles a round"), l.Facts.Limit())
	}
}
