package profile

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

// When few regions are hot, the hottest region of each of the hottest methods is annotated too. A method's heat is the
// sum over all its regions, hot ones and others.
func TestChooseHot(t *testing.T) {
	log := newLog(t, c2(0, 1, "A::many", 0x1000, nops(256)), c2(0, 2, "B::one", 0x2000, nops(64)),
		c2(0, 3, "C::hot", 0x3000, nops(64)),
		c2(0, 4, "D::cold", 0x4000, nops(64)), stub("copy", 0x5000, nops(16)))
	samples := slices.Concat(
		repeat(40, at(1, 10, 0x1000)), repeat(45, at(1, 10, 0x1040)), repeat(30, at(1, 10, 0x10f0)),
		repeat(60, at(1, 10, 0x2000)), repeat(120, at(1, 10, 0x3000)), repeat(4, at(1, 10, 0x4000)),
		repeat(10, at(1, 10, 0x5000)),
		repeat(691, native(1, 10, "libc.so.6", "f")))
	require.Len(t, samples, 1000)
	const a, b, c, stub = "A::many 1040", "B::one 2000", "C::hot 3000", "StubRoutines::copy 5000"
	for _, test := range []struct {
		regions   int
		threshold float64
		want      []string
	}{
		{1, 0.1, []string{c}},
		{2, 0.1, []string{c, a}}, // A has more samples than B, its hottest region fewer
		{3, 0.1, []string{c, b, a}},
		{5, 0.1, []string{c, b, a, stub}}, // D has less than 0.5 %
		{4, 0.1, []string{c, b, a, stub}},
		{2, 0.03, []string{c, b, a, "A::many 1000", "A::many 10f0"}},
		{9, 0.99, []string{c, b}}, // the minimum is one twentieth of the threshold
		{0, 0.99, []string{c}},
	} {
		o := choice.DefaultOptions()
		o.Regions, o.HotThreshold = test.regions, test.threshold
		var got []string
		for _, r := range one(t, o, log, samples...).Regions {
			if r.Hot {
				got = append(got, r.Method+" "+strconv.FormatUint(r.Lo, 16))
			}
		}
		assert.Equal(t, test.want, got, "%d regions, threshold %g", test.regions, test.threshold)
	}
}

// When nothing is hot or warm, a compiled method is annotated. If only hot regions are wanted, it is the hottest
// region.
func TestFallback(t *testing.T) {
	log := newLog(t, codelet("iload", 0x500, nops(16)), c2(0, 1, "A::a", 0x1000, nops(16)))
	samples := slices.Concat(repeat(4, at(1, 10, 0x500)), repeat(2, at(1, 10, 0x1000)),
		repeat(994, native(1, 10, "libc.so.6", "f")))
	for regions, want := range map[int]string{5: "A::a", 1: "iload"} {
		o := choice.DefaultOptions()
		o.Regions = regions
		p := one(t, o, log, samples...)
		require.Len(t, p.Regions, 2)
		assert.Equal(t, "iload", p.Regions[0].Method)
		for _, r := range p.Regions {
			assert.Equal(t, r.Method == want, r.Hot, "%d regions: %s", regions, r.Method)
		}
	}
}

// The lines and the gaps of a region that is too big have all its instructions and all its samples together. The
// omitted parts are cooler than the parts that are shown.
func TestExcerpt(t *testing.T) {
	log := newLog(t, c2(0, 1, "A::a", 0x1000, nops(2048)))
	var samples []sampler.Sample
	for i := range 2048 {
		n := 1
		if i%400 == 0 {
			n = 10
		}
		samples = append(samples, repeat(n, at(1, 10, 0x1000+uint64(i)))...)
	}
	p := one(t, choice.DefaultOptions(), log, samples...)
	r := p.Regions[0]
	require.Equal(t, 2048, r.TooBig)
	assert.InDelta(t, excerptLines, len(r.Lines), 2*excerptMargin+code.LeastGap)
	instructions, counts := len(r.Lines), make(tally.Counts, 1)
	for _, l := range r.Lines {
		counts.Add(l.Counts)
	}
	for i, gap := range r.Gaps {
		instructions += gap.Instructions
		counts.Add(gap.Counts)
		assert.Equal(t, int64(gap.Instructions), gap.Counts[0], "no hot instruction is left out")
		assert.GreaterOrEqual(t, gap.Instructions, code.LeastGap)
		if i > 0 {
			assert.Less(t, r.Gaps[i-1].Before, gap.Before)
		}
	}
	assert.Equal(t, 2048, instructions)
	assert.Equal(t, r.Counts, counts)
	assert.Equal(t, int64(2048+6*9), counts[0])

	o := choice.DefaultOptions()
	o.TooBigThreshold = 0
	r = one(t, o, log, samples...).Regions[0]
	assert.Empty(t, r.Lines)
	assert.Equal(t, []Gap{{0, 2048, r.Counts}}, r.Gaps)
}

// A region that is not hot is annotated only if it has a minimum number of samples. A hot region, or the only region,
// needs no minimum.
func TestMinSamples(t *testing.T) {
	log := newLog(t, c2(0, 1, "A::a", 0x1000, nops(64)), c2(0, 2, "B::b", 0x2000, nops(64)),
		c2(0, 3, "C::c", 0x3000, nops(64)))
	samples := slices.Concat(repeat(20, at(1, 10, 0x1000)), repeat(10, at(1, 10, 0x2000)), repeat(9, at(1, 10, 0x3000)),
		repeat(961, native(1, 10, "libc.so.6", "f")))
	for _, test := range []struct {
		least     int
		threshold float64
		hot, few  int
	}{
		{10, 0.1, 2, 1},
		{9, 0.1, 3, 0},
		{100, 0.1, 1, 2}, // a report is never without code
		{100, 0.005, 3, 0},
		{0, 0.1, 3, 0},
	} {
		o := choice.DefaultOptions()
		o.MinSamples, o.HotThreshold = test.least, test.threshold
		p := one(t, o, log, samples...)
		hot := 0
		for _, r := range p.Regions {
			if r.Hot {
				hot++
			}
		}
		assert.Equal(t, []int{test.hot, test.few}, []int{hot, p.TooFew}, "at least %d, threshold %g", test.least,
			test.threshold)
	}
}
