package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// A warning says why code is unresolved: either some JVMs (which it names) ended before gasm had read anything from
// them, or the code was gone.
func TestWhyUnresolved(t *testing.T) {
	const start = "100.0% of the profile is at addresses of code that gasm did not get to read: "
	for _, c := range []struct {
		name    string
		read    int         // how many JVMs gasm has read, the first ones; the others have an empty log
		samples map[int]int // unresolved ones, by JVM
		want    string
	}{
		{"one that was read", 1, map[int]int{1: 600}, "the JVM ended, or the code was gone, before that"},
		{"one that was not", 0, map[int]int{1: 600}, "the JVM with pid 1 ended before that"},
		{"several that were read", 2, map[int]int{1: 10, 2: 600},
			"the JVM ended, or the code was gone, before that (pid 2 and 1)"},
		{"most in some that were not", 0, map[int]int{1: 300, 2: 100, 3: 200, 4: 50, 5: 40},
			"5 JVMs ended before that (pid 1, 3, 2 and 2 more)"},
		{"most in one that was read", 1, map[int]int{1: 300, 2: 299},
			"the JVM ended, or the code was gone, before that (pid 1 and 2)"},
	} {
		config := choice.Config{Code: capture.CodeCopied}
		for pid := range 5 {
			j := capture.JVM{PID: pid + 1, Log: newLog(t)}
			if pid < c.read {
				j.Log = newLog(t, c2(1, 1, "A::a", 0x1000, nops(8)))
			}
			if c.samples[j.PID] > 0 {
				config.JVMs = append(config.JVMs, j)
			}
		}
		b := NewBuilder(config)
		for pid, n := range c.samples {
			add(b, repeat(n, at(pid, 1, 0x9000))...)
		}
		p := build(t, b, choice.DefaultOptions())
		require.NotEmpty(t, p, c.name)
		assert.Contains(t, p[0].Warnings, start+c.want, c.name)
	}
}
