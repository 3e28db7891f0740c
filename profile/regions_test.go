package profile

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

// Regions of a method of 256 instructions of one byte each at 0x1000. Another method follows it.
func TestRegions(t *testing.T) {
	log := newLog(t, c2(0, 1, "A::a", 0x1000, nops(256)), c2(0, 2, "B::b", 0x1100, nops(16)),
		stub("copy", 0x1110, nops(16)))
	hits := func(pcs ...uint64) (samples []sampler.Sample) {
		for _, pc := range pcs {
			samples = append(samples, at(1, 10, pc))
		}
		return samples
	}
	options := func(change func(*choice.Options)) choice.Options {
		o := choice.DefaultOptions()
		change(&o)
		return o
	}
	margin := func(n int) choice.Options { return options(func(o *choice.Options) { o.MergeMargin = n }) }
	for _, c := range []struct {
		name    string
		opts    choice.Options
		samples []sampler.Sample
		want    string
	}{
		{"a lone PC", choice.DefaultOptions(), hits(0x1040), "A::a 1040-1041 1 hot, 21 lines"},
		{"as far as the merge margin", choice.DefaultOptions(), hits(0x1040, 0x1060), "A::a 1040-1061 2 hot, 53 lines"},
		{"one further", choice.DefaultOptions(), hits(0x1040, 0x1061),
			"A::a 1040-1041 1 hot, 21 lines\nA::a 1061-1062 1 hot, 21 lines"},
		{"a chain", choice.DefaultOptions(), hits(0x1080, 0x1040, 0x1060), "A::a 1040-1081 3 hot, 85 lines"},
		{"no merge margin", margin(0), hits(0x1040, 0x1040, 0x1041),
			"A::a 1040-1041 2 hot, 21 lines\nA::a 1041-1042 1 hot, 21 lines"},
		{"never across blobs", choice.DefaultOptions(), hits(0x10ff, 0x10ff, 0x10ff, 0x1100, 0x1100, 0x110f, 0x1110),
			"A::a 10ff-1100 3 hot, 11 lines\nB::b 1100-1110 3 hot, 16 lines\nStubRoutines::copy 1110-1111 1 hot, 11 lines"},
		{"the print margin ends with the blob", choice.DefaultOptions(), hits(0x1002), "A::a 1002-1003 1 hot, 13 lines"},
		{"at its end", choice.DefaultOptions(), hits(0x10fe), "A::a 10fe-10ff 1 hot, 12 lines"},
		{"no print margin", options(func(o *choice.Options) { o.PrintMargin = 0 }), hits(0x1040, 0x1042),
			"A::a 1040-1043 2 hot, 3 lines"},
		{"as big as may be", options(func(o *choice.Options) { o.TooBigThreshold = 3 }), hits(0x1040, 0x1042),
			"A::a 1040-1043 2 hot, 23 lines"},
		{"too big", options(func(o *choice.Options) { o.TooBigThreshold = 2 }), hits(0x1040, 0x1042),
			"A::a 1040-1043 2 hot, 3 lines, too big: 3"},
		{"at the hot threshold and below", options(func(o *choice.Options) { o.HotThreshold = 0.25 }),
			slices.Concat(hits(0x1000, 0x1080), repeat(2, at(1, 10, 0x1040)), repeat(4, native(1, 10, "libc.so.6", "f"))),
			"A::a 1040-1041 2 hot, 21 lines\nA::a 1000-1001 1\nA::a 1080-1081 1"},
		{"none is hot", options(func(o *choice.Options) { o.HotThreshold = 0.9 }), hits(0x1000, 0x1040, 0x1040),
			"A::a 1040-1041 2 hot, 21 lines\nA::a 1000-1001 1"},
		{"no samples in code", choice.DefaultOptions(), []sampler.Sample{native(1, 10, "libc.so.6", "f")}, ""},
		{"no code wanted", options(func(o *choice.Options) { o.SkipLines = true }), hits(0x1040, 0x1050), "A::a 1040-1051 2"},
		{"no stubs wanted", options(func(o *choice.Options) { o.SkipStubs = true }), hits(0x1040, 0x1110, 0x1110),
			"A::a 1040-1041 1 hot, 21 lines"},
	} {
		p := one(t, c.opts, log, c.samples...)
		assert.Equal(t, c.want, regionsText(p), c.name)
	}
}

func TestSkipInterpreter(t *testing.T) {
	opts := choice.DefaultOptions()
	opts.SkipInterpreter = true
	p := one(t, opts, smallLog(t), at(1, 50, 0x200), at(1, 50, 0x700))
	require.Len(t, p.Methods, 1)
	assert.Equal(t, "A::a", p.Methods[0].Name)
	assert.EqualValues(t, 1, p.Accounts[0].Interpreter)
	assert.Len(t, p.Sources, 2)
}

// PCs may be inside instructions. Lines have counts, and the names of their jump targets.
func TestLines(t *testing.T) {
	log := newLog(t, stub("copy", 0x100, nops(16)), c2(20, 1, "A::later", 0x200, nops(16)), c2(10, 1, "A::a", 0x1000,
		`4889 c2e8 f8f0 ffff
		 ; *goto {reexecute=0}
		 ; - A::a@7 (line 12)
		 ebf8 e8f1 f1ff ffc3`))
	p := one(t, choice.DefaultOptions(), log, at(1, 30, 0x1000), at(1, 30, 0x1004), at(1, 30, 0x1007), at(1, 30, 0x1008),
		at(1, 30, 0x100f))
	require.Equal(t, "A::a 1000-1010 5 hot, 5 lines", regionsText(p))
	type line struct {
		lo     uint64
		text   string
		direct bool
		target string
		n      int64
	}
	var got []line
	for _, l := range p.Regions[0].Lines {
		got = append(got, line{l.Lo, strings.Join(strings.Fields(l.Text), " "), l.Direct(), l.TargetName, l.Counts[0]})
	}
	assert.Equal(t, []line{
		{0x1000, "mov %rax,%rdx", false, "", 1},
		{0x1003, "call 0x100", true, "StubRoutines::copy", 2},
		{0x1008, "jmp 0x1002", true, "", 1},
		{0x100a, "call 0x200", true, "A::later", 0},
		{0x100f, "ret", false, "", 1},
	}, got)

	// A region that starts and ends inside instructions.
	p = one(t, choice.DefaultOptions(), log, at(1, 30, 0x1004), at(1, 30, 0x100b))
	assert.Equal(t, "A::a 1003-100f 2 hot, 5 lines", regionsText(p))
	opts := choice.DefaultOptions()
	opts.Syntax = disasm.Intel
	p = one(t, opts, log, at(1, 30, 0x1000))
	assert.Equal(t, "mov    rdx,rax", p.Regions[0].Lines[0].Text)
}

// The log may lack the code of a blob, or a part of it.
func TestNoCode(t *testing.T) {
	bare, _, _ := strings.Cut(c2(10, 1, "A::a", 0x1000, nops(64)), "[MachCode]")
	p := one(t, choice.DefaultOptions(), newLog(t, bare), at(1, 30, 0x1004), at(1, 30, 0x1010))
	assert.Equal(t, "A::a 1004-1011 2 hot, 0 lines", regionsText(p))
	assert.Equal(t, []FrameTotal{{Method: "A::a", Counts: tally.Counts{2}, Total: tally.Counts{2},
		Lines: []LineTotal{{Line: 0, Counts: tally.Counts{2}}}, PerJVM: []tally.Counts{{2}}}}, p.Frames)
	assert.Len(t, p.Warnings, 1, "few samples, and nothing else: %q", p.Warnings)

	part := strings.Replace(c2(10, 1, "A::a", 0x1000, nops(16)), "1010] = 1", "1040] = 1", 1)
	p = one(t, choice.DefaultOptions(), newLog(t, part), at(1, 30, 0x1020), at(1, 30, 0x1021))
	assert.Equal(t, "A::a 1020-1022 2 hot, 0 lines", regionsText(p))
	assert.Contains(t, strings.Join(p.Warnings, "\n"),
		"samples at 0x1020 to 0x1022 of A::a are outside the code that the log has for it")
}
