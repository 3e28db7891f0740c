package amount

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile/history"
)

// TestWarmthSummary: each JVM counts in one line, for its own reason.
func TestWarmthSummary(t *testing.T) {
	of := func(w history.Warmth) JVMWarmth { return JVMWarmth{Warmth: w, OriginMonoNanos: 0} }
	after := func(seconds int64) JVMWarmth {
		return of(history.Warmth{Known: true, Warm: true, FromMonoNanos: seconds * 1e9, Work: 1000, Interpreted: 10})
	}
	atOnce := of(history.Warmth{Known: true, Warm: true, AtOnce: true, FromMonoNanos: 3600e9, Work: 1000, C1: 20})
	cold := of(history.Warmth{Known: true, Work: 500, Interpreted: 250})
	few := of(history.Warmth{Work: 299})
	unknown := of(history.Warmth{Work: 10_000})
	for _, c := range []struct {
		all  []JVMWarmth
		want []string
	}{
		{nil, nil},
		{[]JVMWarmth{after(14)}, []string{"warm after 14.0 s: from then on 1.0% interpreted, 0.0% C1, 0.0% JIT (1000 samples)"}},
		{[]JVMWarmth{atOnce}, []string{"warm from the first sample on: 0.0% interpreted, 2.0% C1, 0.0% JIT (1000 samples)"}},
		{[]JVMWarmth{cold}, []string{"not warm by the end: 50.0% interpreted, 0.0% C1, 0.0% JIT (the last 500 samples)"}},
		{[]JVMWarmth{few}, []string{"unknown: 299 samples of Java code and JIT compilers, 300 are needed"}},
		{[]JVMWarmth{unknown}, []string{"unknown: it is not known which compiler made much of the code"}},
		{[]JVMWarmth{atOnce, atOnce}, []string{"warm from the first sample on: 2 JVMs"}},
		{[]JVMWarmth{after(2), cold, after(3), atOnce, few, few, unknown}, []string{
			"2 of 7 JVMs warm after 2.0 s to 3.0 s; the last one from then on 1.0% interpreted, 0.0% C1, 0.0% JIT",
			"warm from the first sample on: 1 JVM",
			"not warm by the end: 1 JVM",
			"unknown, with fewer than 300 samples of Java code and JIT compilers: 2 JVMs",
			"unknown, because much of the code is of an unknown compiler: 1 JVM",
		}},
	} {
		assert.Equal(t, c.want, WarmthSummary(c.all))
	}
}
