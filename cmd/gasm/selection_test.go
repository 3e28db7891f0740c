package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestSelectedMethods checks that the samples of methods are counted even if their code is not printed.
func TestSelectedMethods(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for name, java := range jdks(t) {
		for _, flags := range [][]string{{"--method", "Shares::heavy", "--method", "no.such::*"}, {"--skip-c1"}} {
			t.Run(name+"/"+flags[0], func(t *testing.T) {
				t.Parallel() // other load does not matter: samples are compared with CPU time
				p, own := sharesRun{sampler: "native", inline: "dontinline", java: []string{java}, flags: flags}.profile(t)
				own.compare(t, methodsOfShares(p))
				unresolvedAtMost(t, p, 0.005)
				// A method may have several regions that are as hot as another method's hottest one. Only its first
				// region is certain to be printed.
				for _, method := range []string{"Shares::heavy", "Shares::middle", "Shares::light"} {
					i := slices.IndexFunc(p.Regions, func(r schema.Region) bool { return r.Method == method })
					require.NotEqual(t, -1, i, method)
					r := p.Regions[i]
					want := flags[0] == "--skip-c1" && strings.HasPrefix(r.Source, "c2") || r.Method == "Shares::heavy"
					assert.Equal(t, want, len(r.Lines) > 0, "%s %s", r.Source, r.Method)
				}
			})
		}
	}
}

// TestSelectionUnderJMH checks that when JMH tries out the abilities of its JVM, the result is the same as without
// gasm.
func TestSelectionUnderJMH(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	for name, java := range jdks(t) {
		r := runGasm(t, append([]string{"profile", "--method", "*VectorSum*::*", "--"},
			jmhCommand(t, java, "-f", "1", "-wi", "1", "-w", "1", "-i", "1", "-r", "1", "VectorSum")...))
		require.Equal(t, 0, r.code, r.stderr)
		assert.Contains(t, r.stdout, "# Blackhole mode: compiler (auto-detected", name)
		assert.Contains(t, strings.Join(strings.Fields(r.stdout), " "),
			"note: HotSpot printed the code of *VectorSum*::* only (--method *VectorSum*::*): all other methods")
		assert.Regexp(t, `c2, level 4(, osr)?, org\.gasm\.bench\.\S*VectorSum\S*, compile id \d+\n\n(.*;;.*\n)*.* 0x`,
			r.stdout)
	}
}

func TestBadSelection(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"--method=heavy":     "name a class and a method",
		"--method=a.B::c*d":  "first or the last letter",
		"--method=a::b c::d": "is not a pattern",
		"--skip-c1":          "--skip-c1 takes a command of JDK 9 or newer itself",
		"--code=none":        `--code is "none"; it can be auto, print or copy`,
	} {
		r := runGasm(t, []string{"profile", flag, "--", "sh", "-c", "echo ran"})
		assert.Equal(t, 2, r.code)
		assert.Contains(t, strings.Join(strings.Fields(r.stderr), " "), want)
		assert.Empty(t, r.stdout)
	}
}
