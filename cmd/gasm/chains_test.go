package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestChainGoldens checks what users see of perf's call stacks, for a JVM with frame pointers, and for the same JVM
// as if it had none. All formats must have the same samples.
func TestChainGoldens(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, gasmtest.Chains)
	file := filepath.Join(dir, capture.DescriptionFile)
	description, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, c := range []struct{ name, framePointers string }{{"chains", "true"}, {"chains-cut", "false"}} {
		text := strings.Replace(string(description), `"frame_pointers": true`, `"frame_pointers": `+c.framePointers, 1)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		got := reportOf(t, "--skip-asm", "--width", "100", "--tree", "--callers", "3", dir)
		gasmtest.GoldenGzip(t, "report/"+c.name+".gz", []byte(strings.ReplaceAll(got, dir, "DIR")))
		assert.Equal(t, c.framePointers == "false", strings.Contains(strings.Join(strings.Fields(got), " "),
			"are cut at their innermost Java frame"))

		p := readReport(t, []byte(reportOf(t, "--format", "json", "--skip-asm", dir))).Profiles[0]
		event := hottestEvent(&p)
		a := p.Account.Of(event)
		assert.Equal(t, a.Profiled, a.StackWhole+a.StackCut+a.StackFrozen+a.StackUnwalked)
		assert.Equal(t, a.Profiled, p.Stacks.Nodes[0].Counts.Of(event))
		assert.Equal(t, a.Profiled, collapsedTotal(t, reportOf(t, "--format", "collapsed", dir)))
		assert.Equal(t, a.Profiled, pprofTotal(t, reportOf(t, "--format", "pprof", dir)))
	}
}

// TestStackSamplers checks that a sampler that records no call stacks is refused if the user asks for stacks. perf is
// not refused.
func TestStackSamplers(t *testing.T) {
	t.Parallel()
	for _, sampler := range []string{"dtrace", "xctrace"} {
		r := runGasm(t, []string{"profile", "--sampler", sampler, "-o", filepath.Join(t.TempDir(), "capture"), "--stacks",
			"--", "true"})
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, "--stacks on can't record call stacks: "+sampler+" records none: use --sampler native")
	}
}
