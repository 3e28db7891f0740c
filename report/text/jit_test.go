package text

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

func TestJITSummary(t *testing.T) {
	for _, c := range []struct {
		name string
		jit  warmup.JIT
		want []string
	}{
		{"a method at two levels", warmup.JIT{Levels: []warmup.Level{{Level: 3, Count: 2, Inside: 2}, {Level: 4, Count: 2, Inside: 2}}, AllAgain: 2, MethodsAgain: 1},
			[]string{"4 compilations: 2 by C1, 2 by C2", "1 method compiled again"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, jitSummary(&view{amounts: amounts{p: &profile.Profile{JIT: &c.jit}}}))
		})
	}
}
