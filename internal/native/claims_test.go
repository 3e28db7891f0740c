package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClaims(t *testing.T) {
	lib := compile(t, shared...)
	stripped := lib + ".stripped"
	run(t, "strip", "-s", "-o", stripped, lib)
	hidden, a, d := symbolOf(t, lib, "hidden_c"), symbolOf(t, lib, "exported_a"), symbolOf(t, lib, "exported_d")
	r := NewResolver()
	mapLibrary(t, r, lib, 1, base)
	mapLibrary(t, r, stripped, 2, base)
	pc := base + hidden.lo + 2

	check := func(pid int, pc uint64, claim string, want Range) {
		t.Helper()
		for range 2 {
			got, ok := r.Resolve(pid, pc, claim)
			assert.True(t, ok)
			want.PID = pid
			assert.Equal(t, want, got, "claim %q", claim)
		}
	}
	ours := Range{Lo: base + hidden.lo, Hi: base + hidden.lo + hidden.size, Module: "lib.so", Symbol: "hidden_c"}
	check(1, pc, "", ours)
	check(1, pc, "exported_a", ours)
	gap := Range{Lo: base + a.lo + a.size, Hi: base + d.lo, Module: "lib.so.stripped"}
	check(2, pc, "", gap)
	check(2, pc, "exported_a", gap)         // the name of the nearest symbol
	check(2, pc, "exported_f@@VERS_1", gap) // another symbol, with its version
	check(2, pc, "puts@plt", gap)           // the address is not in a stub
	check(2, pc, "hidden_c", Range{Lo: pc, Hi: pc + 1, Module: "lib.so.stripped", Symbol: "hidden_c"})
	check(2, pc+1, "", gap)
	check(2, base+a.lo, "hidden_c", Range{Lo: base + a.lo, Hi: base + a.lo + a.size, Module: "lib.so.stripped",
		Symbol: "exported_a"})

	table := r.Table()
	got, ok := table.Resolve(2, pc)
	assert.True(t, ok)
	assert.Equal(t, "hidden_c", got.Symbol, "the claim lies in the gap")
	for _, at := range []uint64{pc - 1, pc + 1} {
		got, ok = table.Resolve(2, at)
		assert.True(t, ok)
		assert.Empty(t, got.Symbol)
	}
}

func TestClaimForms(t *testing.T) {
	c := newClaims([]string{"_ZN17GCTraceTimeDriverD1Ev", "_ZN3FooIS_IiEE3barEPKc",
		"JVM_Halt@@SUNWprivate_1.1", "memcpy"})
	cases := map[string]bool{
		"GCTraceTimeDriver::~GCTraceTimeDriver":   true,
		"GCTraceTimeDriver::~GCTraceTimeDriver()": true,
		"_ZN17GCTraceTimeDriverD1Ev":              true,
		"_ZN17GCTraceTimeDriverD2Ev":              true, // an alias
		"Foo<Foo<int> >::bar":                     true,
		"Foo<Foo<int>>::bar(char const*)":         true,
		"Foo<Foo<int> >::bar [clone .cold]":       true,
		"Foo<Foo<long> >::bar":                    false,
		"JVM_Halt":                                true,
		"JVM_Halt@SUNWprivate_1.1":                true,
		"JVM_Hal":                                 false,
		"memcpy":                                  true,
		"__memcpy_avx_unaligned_erms":             false,
	}
	require.NotEmpty(t, cases)
	for claim, want := range cases {
		assert.Equal(t, want, c.has(claim), claim)
		assert.Equal(t, want, c.has(claim), claim)
	}
}

// TestPLT: samplers may name stubs of imported functions (puts@plt), although no symbol table contains them.
func TestPLT(t *testing.T) {
	path := compile(t, "-pie", "-fPIE", "-DMAIN")
	img := load(t, path)
	require.NotEmpty(t, img.plt)
	stub := img.plt[len(img.plt)-1].lo
	assert.True(t, img.believes("printf@plt", stub))
	assert.False(t, img.believes("printf", stub))
	assert.False(t, img.believes("printf@plt", symbolOf(t, path, "main").lo))
}
