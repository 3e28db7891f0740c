package page_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// TestStarOfDeoptimizations: if only Flight Recorder reports events, all compilations may be within the windows, but
// not all deoptimizations.
func TestStarOfDeoptimizations(t *testing.T) {
	ps := reporttest.Profiles(reporttest.Header(), reporttest.Workload(t))
	ps.Trials[0].JIT = &warmup.JIT{Levels: []warmup.Level{{Level: 4, Count: 1, Inside: 1}}, Deoptimizations: 99,
		DeoptimizationsInside: 11, AllDeopts: 2,
		Deopts: []warmup.Deopt{{Method: "A::before", Count: 88, BCI: 1, Reason: "null_check"},
			{Method: "A::inside", Count: 11, Inside: 11, BCI: 1, Reason: "null_check"}}}
	got := page(t, ps)
	assert.Contains(t, got, ">11*<")
	assert.Contains(t, got, ">88<")
}
