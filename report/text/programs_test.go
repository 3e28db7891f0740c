package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// programs returns profiles of Main on two JDKs, and of a helper that hardly ran.
func programs(t *testing.T) *profile.Profiles {
	h := reporttest.Header()
	h.JVMs = []capture.JVM{{PID: 1, Main: "Main", Version: "17.0.15+6-Debian"}, {PID: 2, Main: "Main", Version: "25+36"},
		{PID: 3, Main: "Helper", Version: "25+36"}, {PID: 4, Main: "Helper", Version: "25+36"}}
	ps := reporttest.Profiles(h, reporttest.Workload(t), reporttest.Workload(t), reporttest.Empty())
	for i, version := range []string{"17.0.15+6-Debian", "25+36"} {
		p := &ps.Trials[i]
		p.Program, p.JDK, p.PIDs = "Main", version, []int{i + 1}
		p.Shares = []profile.JVMShare{{PID: i + 1, Counts: c(3000), Native: c(777), Java: c(2100), JIT: c(600), GC: c(90)}}
	}
	p := &ps.Trials[2]
	p.Program, p.JDK, p.PIDs = "Helper", "25+36", []int{3, 4}
	p.Shares = []profile.JVMShare{{PID: 3, Counts: c(0), Native: c(0), Java: c(0), JIT: c(0), GC: c(0)},
		{PID: 4, Counts: c(0), Native: c(0), Java: c(0), JIT: c(0), GC: c(0)}}
	return ps
}

// A program that hardly ran is in the table of JVMs, and has no report of its own. The JDK distinguishes programs of
// the same name.
func TestPrograms(t *testing.T) {
	var b strings.Builder
	assert.NoError(t, Write(&b, programs(t), "0.1.0", options()))
	got := b.String()
	for _, want := range []string{
		"====[Program 1 of 3: Main (JDK 17.0.15+6-Debian), 50.0% of the samples]====",
		"====[Program 2 of 3: Main (JDK 25+36), 50.0% of the samples]====",
		"\n    3000  50.00%  70.00%  20.00%  3.00%   7.00%    1  17.0.15+6  Main\n",
		"\n       0                                           3      25+36  Helper\n",
		"not shown: 1 more program with less than 1% of the samples",
	} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "Program 3 of 3")
	assert.NotContains(t, got, "Other JVMs")
	assert.Equal(t, 1, strings.Count(got, "[JVMs of the Command]"))
}
