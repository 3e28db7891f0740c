package profile

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

// nativeTable has two functions of a library, which two JVMs have mapped at different addresses, and one of the kernel.
// The first function is 0x100 bytes of nop, of which the first 8 are a function that was inlined.
func nativeTable(t *testing.T) *nativecode.Table {
	t.Helper()
	table := &nativecode.Table{}
	nop := func(n int) []byte { return bytes.Repeat([]byte{0x90}, n) }
	call := append(nop(3), 0xe8, 0xf8, 0, 0, 0) // to 0x2100
	for _, f := range []nativecode.Function{
		{Module: "libx.so", Symbol: "work", Arch: disasm.AMD64, Lo: 0x1000, Code: nop(0x100),
			Rows: []nativecode.Row{{Lo: 0x1000, Hi: 0x1008, Frames: []nativecode.Frame{{Function: "mix", File: "/x/mix.h",
				Line: 3}, {Function: "work", File: "/x/work.c", Line: 7}}}},
			Places: []nativecode.Place{{PID: 1, Lo: 0x7f00_0000_1000}, {PID: 2, Lo: 0x7f11_0000_1000}}},
		{Module: "libx.so", Arch: disasm.AMD64, Lo: 0x2000, Code: call, Targets: map[uint64]string{0x2100: "callee"},
			Places: []nativecode.Place{{PID: 1, Lo: 0x7f00_0000_2000}}},
		{Module: "kernel", Symbol: "copy", Arch: disasm.AMD64, Lo: 0xffff_ffff_8100_0000, Code: nop(16)},
	} {
		require.True(t, table.Add(f))
	}
	table.Index()
	return table
}

func inModule(pid int, pc uint64, module, symbol string) sampler.Sample {
	s := at(pid, 10+int64(pc%5), pc)
	s.Module, s.Symbol = module, symbol
	return s
}

func nativeSamples() []sampler.Sample {
	return slices.Concat(
		repeat(40, inModule(1, 0x7f00_0000_1004, "libx.so", "work")),
		repeat(20, inModule(2, 0x7f11_0000_1004, "libx.so", "work")),
		repeat(30, inModule(1, 0x7f00_0000_1080, "libx.so", "work")),
		repeat(25, inModule(1, 0x7f00_0000_2003, "libx.so", "")),
		// whose code is not known
		repeat(15, inModule(1, 0x7f00_0000_3000, "libx.so", "")),
		repeat(3, inModule(1, 0x7f00_0000_1004, "liby.so", "work")),
		repeat(2, inModule(1, 0x7f00_0000_1004, "libx.so", "play")), // of libraries that were there before
		repeat(12, inModule(1, 0xffff_ffff_8100_0002, "kernel", "copy")), repeat(18, at(1, 10, 0x1000)))
}

// Native functions whose code is known have regions and listings, with the samples of all JVMs that have mapped them.
// No sample counts twice: checkProfile checks the sums, also those of the parts.
func TestNativeRegions(t *testing.T) {
	log := newLog(t, c2(0, 1, "A::a", 0x1000, nops(64)))
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}, {PID: 2, Log: newLog(t)}},
		NativeCode: nativeTable(t),
		Parts:      true})
	add(b, nativeSamples()...)
	o := choice.DefaultOptions()
	o.Parts, o.Listings, o.Hottest = true, 1000, true
	profiles := build(t, b, o)
	require.Len(t, profiles, 1)
	p := &profiles[0]
	type region struct {
		source, method string
		lo, hi         uint64
		native, hot    bool
		n              int64
		pids           int
	}
	var got []region
	for _, r := range p.Regions {
		got = append(got, region{r.Source, r.Method, r.Lo, r.Hi, r.Native, r.Hot, r.Counts[0], len(r.PIDs)})
	}
	assert.Equal(t, []region{
		{"libx.so", "work", 0x1004, 0x1005, true, true, 60, 2},
		{"libx.so", "work", 0x1080, 0x1081, true, true, 30, 1},
		{"libx.so", "libx.so+0x2000 (no symbol)", 0x2003, 0x2008, true, true, 25, 1},
		{"c2, level 4", "A::a", 0x1000, 0x1001, false, true, 18, 1},
		{"kernel", "copy", 0xffff_ffff_8100_0002, 0xffff_ffff_8100_0003, true, true, 12, 1},
	}, got)
	inlined := p.Regions[0].Lines[0]
	assert.Equal(t, []printassembly.Frame{{Method: "mix", BCI: -1, Line: 3, File: "/x/mix.h"},
		{Method: "work", BCI: -1, Line: 7, File: "/x/work.c"}}, inlined.Frames)
	assert.Empty(t, p.Regions[1].Lines[0].Frames)
	lines := p.Regions[2].Lines
	assert.Equal(t, "callee", lines[len(lines)-1].TargetName)

	require.NotEmpty(t, p.Listings)
	l := &p.Listings[0]
	assert.Equal(t, "work", l.Method)
	assert.True(t, l.Native)
	assert.Len(t, l.Lines, 0x100)
	assert.Equal(t, tally.Counts{60}, l.Lines[4].Counts)
	assert.Equal(t, []int{1, 2}, l.PIDs)
	require.NotNil(t, p.Parts)
	var all, line int64
	for _, c := range l.Parts.All {
		all += c.Counts[0]
	}
	for _, c := range l.Parts.Lines[4] {
		line += c.Counts[0]
	}
	assert.Equal(t, []int64{90, 60}, []int64{all, line})
	assert.Equal(t, "mix", p.Hottest[0].Frames[0].Method)
	assert.Equal(t, []string{"work", "", "copy"}, []string{p.Native[0].Symbol, p.Native[1].Symbol, p.Native[2].Symbol})

	o.SkipNative = true
	p = &build(t, b, o)[0]
	require.Len(t, p.Regions, 1)
	assert.Equal(t, "A::a", p.Regions[0].Method)
	assert.Equal(t, tally.Counts{90}, p.Native[0].Counts)
}

// If a native function is hot as a whole but none of its regions is, its hottest region is annotated.
func TestHotFunctionWithoutHotRegion(t *testing.T) {
	var samples []sampler.Sample
	for i := range uint64(4) {
		samples = append(samples, repeat(int(5+i), inModule(1, 0x7f00_0000_1000+0x40*i, "libx.so", "work"))...)
	}
	samples = append(samples, repeat(74, at(1, 10, 0x1000))...)
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: newLog(t, c2(0, 1, "A::a", 0x1000, nops(64)))}},
		NativeCode: nativeTable(t)})
	add(b, samples...)
	o := choice.DefaultOptions()
	o.Regions = 1
	p := &build(t, b, o)[0]
	require.Len(t, p.Regions, 5)
	assert.Equal(t, []bool{true, true, false, false, false},
		[]bool{p.Regions[0].Hot, p.Regions[1].Hot, p.Regions[2].Hot, p.Regions[3].Hot, p.Regions[4].Hot})
	assert.Equal(t, uint64(0x10c0), p.Regions[1].Lo)
}
