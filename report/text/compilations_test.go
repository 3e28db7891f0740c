package text

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// TestCompiledBefore: it is unknown when code was compiled that existed already when gasm attached. The report must not
// say 0 seconds.
func TestCompiledBefore(t *testing.T) {
	p := paused(t)
	p.Compilations = []warmup.Version{
		{Source: "c2, level 4", Method: "A::a", CompileID: 7, PID: 25134, Counts: c(10)},
		{Source: "c2, level 4", Method: "A::a", CompileID: 99, PID: 25134, MadeMillis: 13_700, MadeInside: true,
			Counts: c(5)},
		{Source: "c2, level 4", Method: "A::a", CompileID: 100, PID: 25134, MadeMillis: 14_000, MadeByMillis: 14_250,
			MadeInside: true, Counts: c(5)},
	}
	got := string(text(t, reporttest.Header(), []profile.Profile{p}, options()))
	assert.Regexp(t,
		`(?m)^A::a\n +\S+ +before   c2, level 4, compile id 7, pid 25134\n +\S+ +13\.700\*  c2, level 4, compile id 99, pid 25134\n`+
			` +\S+ +14\.000 to 14\.250\*  c2, level 4, compile id 100, pid 25134$`, got)
	assert.NotContains(t, got, "0.000")
	assert.Contains(t, got, "Code that was there when gasm\nattached was made before.")
}
