package text

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/text/view"
)

func TestJITSummary(t *testing.T) {
	for _, c := range []struct {
		name string
		jit  warmup.JIT
		want []string
	}{
		{"a method at two levels", warmup.JIT{Levels: []warmup.Level{{Level: 3, Count: 2, Inside: 2},
			{Level: 4, Count: 2, Inside: 2}}, AllAgain: 2, MethodsAgain: 1},
			[]string{"4 compilations: 2 by C1, 2 by C2", "1 method compiled again"}},
		{"no times", warmup.JIT{Levels: []warmup.Level{{Level: 0, Count: 9, Inside: 9}, {Level: 2, Count: 1, Inside: 1},
			{Level: 3, Count: 1, Inside: 1, Discarded: 1}}}, []string{"2 compilations: 2 by C1", "1 discarded"}},
		{"wrappers alone", warmup.JIT{Levels: []warmup.Level{{Level: 0, Count: 9}}}, nil},
		{"unknown levels", warmup.JIT{Levels: []warmup.Level{{Level: warmup.UnknownLevel, Count: 3, Inside: 3, Failed: 1,
			Discarded: 1, Timed: 2, Nanos: 7e9}, {Level: 4, Count: 2, Inside: 2, Failed: 1, Timed: 2, Nanos: 1e9}}},
			[]string{"5 compilations: 2 by C2 in 1.00 s, 3 of unknown level (2 of them in 7.00 s)", "1 discarded, 2 failed"}},
		{"windows", warmup.JIT{Levels: []warmup.Level{{Level: 0, Count: 9}, {Level: 4, Count: 5, Inside: 1}}},
			[]string{"5 compilations: 5 by C2", "in the whole run; within the windows: 1 compilation"}},
		{"deoptimizations outside", warmup.JIT{Levels: []warmup.Level{{Level: 4, Count: 1, Inside: 1}}, Deoptimizations: 3},
			[]string{"1 compilation: 1 by C2", "3 deoptimizations",
				"in the whole run; within the windows: 1 compilation, 0 deoptimizations"}},
		{"deoptimizations alone", warmup.JIT{Deoptimizations: 3, DeoptimizationsInside: 2},
			[]string{"3 deoptimizations", "in the whole run; within the windows: 2 deoptimizations"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, jitSummary(&view.View{Profile: &profile.Profile{JIT: &c.jit}}))
		})
	}
}

// TestStarOfDeoptimizations: if only Flight Recorder reports events, all compilations may be within the windows, but
// not all deoptimizations.
func TestStarOfDeoptimizations(t *testing.T) {
	ps := reporttest.Profiles(reporttest.Header(), paused(t))
	ps.Trials[0].JIT = &warmup.JIT{Levels: []warmup.Level{{Level: 4, Count: 1, Inside: 1}}, Deoptimizations: 3,
		DeoptimizationsInside: 1, AllDeopts: 2,
		Deopts: []warmup.Deopt{{Method: "A::before", Count: 2, BCI: 1, Reason: "null_check"},
			{Method: "A::inside", Count: 1, Inside: 1, BCI: 1, Reason: "null_check"}}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, ps, "", options()))
	assert.Regexp(t, `(?m)^ +2  A::before`, b.String())
	assert.Regexp(t, `(?m)^ +1\*  A::inside`, b.String())
	assert.Contains(t, b.String(), "* is within the window.")
}
