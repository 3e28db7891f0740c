package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestSharesLikePerf lets perf sample gasm and everything that gasm runs, while gasm samples the program. In this
// single run, both must have the same shares of the program's methods, according to the same log of the program's
// code.
func TestSharesLikePerf(t *testing.T) {
	t.Parallel()
	gasmtest.NeedTime(t)
	gasmtest.NeedNative(t)
	gasmtest.NeedPerf(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			capture, data := filepath.Join(dir, "capture"), filepath.Join(dir, "perf.data")
			args := []string{"record", "-q", "-k", "mono", "-F", "1001", "-e", "cpu-clock", "-B", "-N", "-o", data, "--",
				binary, "profile", "--sampler", "native", "--event", "cpu-clock", "--frequency", "1001", "--fixed-frequency", "-o",
				capture, "--", java}
			for _, method := range []string{"heavy", "middle", "light"} {
				args = append(args, "-XX:CompileCommand=dontinline,Shares::"+method)
			}
			out, err := exec.Command("perf", append(args, "-cp", javaPrograms(t), "Shares")...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			text, err := exec.Command("perf", "script", "--ns", "-F", "comm,pid,tid,time,event,ip,sym,dso", "-i", data).Output()
			require.NoError(t, err)
			file := filepath.Join(dir, "perf.txt")
			require.NoError(t, os.WriteFile(file, text, 0o600))
			logs, err := filepath.Glob(filepath.Join(capture, "asm-*.log"))
			require.NoError(t, err)
			require.Len(t, logs, 1)

			ours := wholeRun(t, capture)
			theirs := wholeRun(t, file, logs[0])
			a, b := methodsOfShares(ours), methodsOfShares(theirs)
			n, m := float64(ours.Account.Of("cpu-clock").Profiled), float64(theirs.Account.Of("cpu-clock").Profiled)
			t.Logf("%.0f samples, %.0f of perf", n, m)
			// These are two counts of the same thing, so their difference has the error sqrt(n+m). The last moments
			// of the JVM may be in only one of them.
			assert.InDelta(t, m, n, 4*math.Sqrt(n+m)+0.01*m, "samples of the JVM")
			require.NotEmpty(t, a)
			for method := range b {
				p, q := float64(a[method])/n, float64(b[method])/m
				t.Logf("%-8s %.1f %%, by perf %.1f %%", method, 100*p, 100*q)
				assert.InDelta(t, q, p, 4*math.Sqrt(q*(1-q)*(1/n+1/m))+1e-3, method)
			}
		})
	}
}

// wholeRun returns the profile of a whole run, from a capture, or from samples and a log.
func wholeRun(t *testing.T, sources ...string) *schema.Profile {
	t.Helper()
	r := runGasm(t, append([]string{"report", "--format", "json"}, sources...))
	require.Equal(t, 0, r.code, r.stderr)
	rep := readReport(t, []byte(r.stdout))
	require.Len(t, rep.Profiles, 1)
	return &rep.Profiles[0]
}
