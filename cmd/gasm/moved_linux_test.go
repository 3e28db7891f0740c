package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestMoved profiles a JVM that moves its hot methods next to each other. Each method must remain one version, with
// the samples at both its addresses.
func TestMoved(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	jdk := gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature >= 28 })[0]
	t.Parallel() // nothing is measured
	dir := t.TempDir()
	var rep schema.Report
	var p *schema.Profile
	file, capt := filepath.Join(dir, "report.json"), ""
	for _, sec := range []string{"8", "20", "120"} { // a busy machine needs longer for enough samples
		capt = filepath.Join(dir, "capture"+sec)
		r := runGasm(t, []string{"profile", "--format", "json", "--report", file, "-o", capt, "--events", "default,compile",
			"--", jdk.Java(),
			"-XX:+UnlockExperimentalVMOptions", "-XX:+NMethodRelocation", "-XX:+HotCodeHeap", "-XX:HotCodeHeapSize=16m",
			"-XX:HotCodeStartupDelaySeconds=1", "-XX:HotCodeSampleSeconds=1", "-XX:HotCodeIntervalSeconds=1",
			"-Dsec=" + sec, "-Dwarmup=0.5", "-cp", javaPrograms(t), "Shares"})
		require.Equal(t, 0, r.code, r.stderr)
		rep = readReport(t, readFile(t, file))
		p = &rep.Profiles[0]
		if slices.ContainsFunc(p.Regions, func(r schema.Region) bool { return r.Moved }) {
			break
		}
	}
	unresolvedAtMost(t, p, 0.005)
	event := hottestEvent(p)
	moved, ids := 0, map[int]bool{}
	for _, c := range p.Compilations {
		assert.False(t, ids[c.CompileID], "compile id %d of %s is there twice", c.CompileID, c.Method)
		ids[c.CompileID] = true
		if c.Moved > 0 {
			moved++
			assert.Nil(t, c.Left, "%s goes on at another address", c.Method)
		}
	}
	assert.Positive(t, moved, "%+v", p.Compilations)
	i := slices.IndexFunc(p.Regions, func(r schema.Region) bool { return r.Moved })
	require.GreaterOrEqual(t, i, 0)
	region := &p.Regions[i]
	assert.Positive(t, region.Counts.Of(event))

	r := runGasm(t, []string{"report", capt})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `c2, level 4, Shares::\w+, compile id \d+, moved`, r.stdout)
}
