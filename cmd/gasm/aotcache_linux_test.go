package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestAOTCache profiles and attaches to JVMs that take their classes from an AOT cache; from JDK 26 on, the cache
// also has adapters and stubs. All addresses must have names, and hot code must have frames.
func TestAOTCache(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	jar := jarOf(t, "Shares") // a cache needs jars
	all := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 25 })
	for _, jdk := range slices.Concat(all[:1], all[1:][max(0, len(all)-2):]) { // the oldest and the newest
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel() // nothing is measured
			cache := filepath.Join(t.TempDir(), "app.aot")
			out, err := exec.Command(jdk.Java(), "-XX:AOTCacheOutput="+cache, "-Dsec=1", "-Dwarmup=0.1", "-jar",
				jar).CombinedOutput()
			require.NoError(t, err, "%s", out)
			info, err := os.Stat(cache)
			require.NoError(t, err, "%s", out)
			t.Logf("a cache of %d MB", info.Size()>>20)
			// With AOTMode=on, a JVM that can't use the cache does not start. So the cache is in use if the JVM
			// starts.
			command := func(seconds string) []string {
				return []string{jdk.Java(), "-XX:AOTCache=" + cache, "-XX:AOTMode=on", "-Dsec=" + seconds, "-Dwarmup=0.5", "-jar",
					jar}
			}

			file := filepath.Join(t.TempDir(), "report.json")
			capt := filepath.Join(t.TempDir(), "capture")
			flags := []string{"--frequency", "1001", "--fixed-frequency", "--format", "json", "--report", file}
			r := runGasm(t, slices.Concat([]string{"profile", "-o", capt}, flags, []string{"--"}, command("2")))
			require.Equal(t, 0, r.code, r.stderr)
			rep := readReport(t, readFile(t, file))
			checkCached(t, &rep, "profiled")
			checkAdapters(t, capt)

			// On a busy machine a JVM may not run for a second.
			attachUntilUsed(t, time.Second, command("600"), flags)
			rep = readReport(t, readFile(t, file))
			checkCached(t, &rep, "attached to")
		})
	}
}

// checkAdapters checks that adapters are named as such. In an AOT cache, the name of an adapter is its signature:
// "LIJ", or "".
func checkAdapters(t *testing.T, capt string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(capt, "asm-*.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	log := readFile(t, logs[0])
	assert.Greater(t, bytes.Count(log, []byte("\nDecoding I2C/C2I adapters ")), 50)
	assert.NotRegexp(t, `\nDecoding (RuntimeStub - )?[LIJFDV]* ?0x`, string(log))
}

// checkCached checks the report of the program Shares.
func checkCached(t *testing.T, rep *schema.Report, how string) {
	t.Helper()
	require.Len(t, rep.Profiles, 1)
	p := &rep.Profiles[0]
	a := p.Account.Of(hottestEvent(p))
	t.Logf("%s: %d samples, %d unresolved", how, a.Profiled, a.Unresolved)
	unresolvedAtMost(t, p, 0.005)
	require.NotEmpty(t, p.Regions)
	assert.NotEmpty(t, p.Regions[0].Lines, how)
	assert.True(t, slices.ContainsFunc(p.Frames, func(f schema.Frames) bool {
		return f.Method == "Shares::heavy" &&
			f.Counts.Of(hottestEvent(p)) > 0
	}), "%s: frames", how)
}
