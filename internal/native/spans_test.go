package native

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFlatten compares the owner of every address before and after flattening.
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
	texts := names{nil}
	name := func(text string) nameAt {
		at := nameAt{offset: uint32(len(texts[0]))}
		texts[0] = append(append(texts[0], text...), 0)
		return at
	}
	symbols := []symbol{
		{lo: 0x10, hi: 0x20, name: name("local"), binding: 2},
		{lo: 0x10, hi: 0x18, name: name("__global")},
		{lo: 0x10, hi: 0x18, name: name("_weak"), binding: 1},
		{lo: 0x10, hi: 0x18, name: name("_long_global")},
		{lo: 0x10, hi: 0x18, name: name("_b")},
		{lo: 0x10, hi: 0x18, name: name("_a")},
		{lo: 0x12, hi: 0x14, name: name("inner"), binding: 2},
		{lo: 0x16, hi: 0x16 + longestUnsized, name: name("label"), unsized: true}, // inside _a and local
		{lo: 0x30, hi: 0x30 + longestUnsized, name: name("assembler"), unsized: true, binding: 2},
		{lo: 0x40, hi: 0x40 + longestUnsized, name: name("last"), unsized: true},
	}
	type want struct {
		lo, hi uint64
		name   string
	}
	var got []want
	for _, p := range arrange(symbols, texts) {
		got = append(got, want{p.lo, p.hi, string(texts.at(p.name))})
	}
	assert.Equal(t, []want{
		{0x10, 0x12, "_a"}, {0x12, 0x14, "inner"}, {0x14, 0x18, "_a"}, {0x18, 0x20, "local"},
		{0x20, 0x30, "label"}, {0x30, 0x40, "assembler"}, {0x40, 0x40 + longestUnsized, "last"},
	}, got)
}

// TestSortByStart: many spans are sorted as the standard library would sort them, whichever bits their addresses have.
func TestSortByStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, fewSpans, fewSpans + 1, 5 * fewSpans} {
		for _, bits := range []uint64{0, 1, 0xff, 1<<25 - 1, 0x7ff << 30, 1 << 63, ^uint64(0)} {
			spans := make([]span, n)
			for i := range spans {
				spans[i] = span{0x5555_5555_5555_5555&^bits | rng.Uint64()&bits, 0, int32(i)}
			}
			want := slices.Clone(spans)
			slices.SortStableFunc(want, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
			sortByStart(spans)
			assert.Equal(t, want, spans, "%d spans, bits %#x", n, bits)
		}
	}
}
