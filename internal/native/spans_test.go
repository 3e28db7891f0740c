package native

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFlatten looks at every address, before and after.
func TestFlatten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		spans := make([]span, rng.IntN(12))
		for i := range spans {
			spans[i] = span{rng.Uint64N(30), rng.Uint64N(30), int32(i)}
		}
		flat := flatten(spans)
		for i, s := range flat {
			assert.Less(t, s.lo, s.hi)
			if i > 0 {
				assert.LessOrEqual(t, flat[i-1].hi, s.lo)
				assert.False(t, flat[i-1].hi == s.lo && flat[i-1].id == s.id, "cut for nothing")
			}
		}
		at := func(spans []span, addr uint64) int32 {
			id := int32(-1)
			for _, s := range spans {
				if s.lo <= addr && addr < s.hi {
					id = s.id
				}
			}
			return id
		}
		for addr := range uint64(32) {
			if !assert.Equal(t, at(spans, addr), at(flat, addr), "%v %v", spans, flat) {
				return
			}
		}
	}
	top := ^uint64(0)
	assert.Equal(t, []span{{0, top - 1, 0}, {top - 1, top, 1}}, flatten([]span{{0, top, 0}, {top - 1, top, 1}}))
}

func TestArrange(t *testing.T) {
	pieces := arrange([]symbol{
		{lo: 0x10, hi: 0x20, name: "local", binding: 2},
		{lo: 0x10, hi: 0x18, name: "__global"},
		{lo: 0x10, hi: 0x18, name: "_weak", binding: 1},
		{lo: 0x10, hi: 0x18, name: "_long_global"},
		{lo: 0x10, hi: 0x18, name: "_b"},
		{lo: 0x10, hi: 0x18, name: "_a"},
		{lo: 0x12, hi: 0x14, name: "inner", binding: 2},
		{lo: 0x16, hi: 0x16 + longestUnsized, name: "label", unsized: true}, // inside _a and local
		{lo: 0x30, hi: 0x30 + longestUnsized, name: "assembler", unsized: true, binding: 2},
		{lo: 0x40, hi: 0x40 + longestUnsized, name: "last", unsized: true},
	})
	type want struct {
		lo, hi uint64
		name   string
	}
	var got []want
	for _, p := range pieces {
		got = append(got, want{p.lo, p.hi, p.name})
	}
	assert.Equal(t, []want{
		{0x10, 0x12, "_a"}, {0x12, 0x14, "inner"}, {0x14, 0x18, "_a"}, {0x18, 0x20, "local"},
		{0x20, 0x30, "label"}, {0x30, 0x40, "assembler"}, {0x40, 0x40 + longestUnsized, "last"},
	}, got)
}
