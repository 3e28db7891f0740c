package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A recording of perf has the same report whichever way perf script prints it: with stacks, as `perf record -g` has
// them, without them, and with the fields that gasm asks for.
func TestPerfStacks(t *testing.T) {
	gasmtest.NeedPerf(t)
	dir := t.TempDir()
	data, log := filepath.Join(dir, "perf.data"), filepath.Join(dir, "asm.log")
	args := []string{"record", "-q", "-k", "mono", "-F", "499", "-e", "cpu-clock", "-g", "-o", data, gasmtest.NeedJava(t),
		"-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintAssembly", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput", "-XX:LogFile=" + log,
		"-Dsec=1", "-Dhertz=97", "-cp", javaPrograms(t), "Lockstep"}
	out, err := exec.Command("perf", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var reports []string
	for _, fields := range [][]string{nil, {"-G"}, {"-G", "--ns", "-F", "comm,pid,tid,time,event,ip,sym,dso"}} {
		text, err := exec.Command("perf", append([]string{"script", "-i", data}, fields...)...).Output()
		require.NoError(t, err)
		file := filepath.Join(dir, "samples.txt")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		r := runGasm(t, []string{"report", file, log})
		require.Equal(t, 0, r.code, r.stderr)
		reports = append(reports, r.stdout)
	}
	assert.Contains(t, reports[0], "Lockstep::alpha")
	assert.NotContains(t, reports[0], "could not be read")
	assert.Equal(t, reports[1], reports[0], "with stacks and without")
	assert.Equal(t, reports[2], reports[0], "the default fields, and those that gasm asks for")
}
