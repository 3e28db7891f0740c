package doctor

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// check runs all checks of the doctor with their own folder for temporary files. It fails the test if they leave
// anything behind.
func check(t *testing.T) *Report {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r, err := Check(t.Context(), Options{})
	require.NoError(t, err)
	assertClean(t, temp)
	return r
}

// checkAsUser is like check, but runs as a user without rights: the current user or, if that is root, the user nobody.
// PATH leads only to the given tools, or to all if none are given.
func checkAsUser(t *testing.T, tools ...string) *Report {
	t.Helper()
	return helperAsUser(t, "check", tools...)
}

// helperAsUser runs a helper as that user. The helper prints the report.
func helperAsUser(t *testing.T, helper string, tools ...string) *Report {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "gasm-doctor-test-") // only this user can enter t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	bin, temp := filepath.Join(base, "bin"), filepath.Join(base, "temp")
	for _, dir := range []string{base, bin, temp} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperEnv+"="+helper, "TMPDIR="+temp, "HOME=/nonexistent")
	cmd.Dir = temp
	if len(tools) > 0 {
		for _, tool := range tools {
			path, err := exec.LookPath(tool)
			require.NoError(t, err)
			require.NoError(t, os.Symlink(path, filepath.Join(bin, tool)))
		}
		cmd.Env = append(cmd.Env, "PATH="+bin)
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(temp, gasmtest.Nobody, gasmtest.Nobody))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: gasmtest.JVMOfNobody(t)}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	assertClean(t, temp)
	return readReport(t, out)
}

// assertClean checks that a folder for temporary files is empty, and that no running process uses it as its TMPDIR.
func assertClean(t *testing.T, temp string) {
	t.Helper()
	files, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, files)
	assert.Empty(t, processesWith(t, "TMPDIR="+temp), "left running")
}

// processesWith returns the command lines of the other processes that have the given setting in their environment.
func processesWith(t *testing.T, setting string) (found []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	require.NotEmpty(t, environs)
	for _, path := range environs {
		env, err := os.ReadFile(path)
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // empty for a zombie
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+setting+"\x00")) && len(command) > 0 {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// assertNoUprobesLeft checks at the end of a test that DTrace left no uprobes in the kernel. Other DTrace processes may
// run at the same time, so it only counts uprobes of a DTrace that has ended.
func assertNoUprobesLeft(t *testing.T) {
	t.Helper()
	_, before, _ := dtraceUprobes()
	t.Cleanup(func() {
		_, after, _ := dtraceUprobes()
		for _, line := range after {
			var pid int
			_, err := fmt.Sscanf(line, "p:dt_%d_", &pid)
			if err == nil && !slices.Contains(before, line) && syscall.Kill(pid, 0) != nil {
				t.Errorf("left in the kernel: %s", line)
			}
		}
	})
}

// scriptOnPath writes a shell script that comes first on PATH. It returns the script's folder, in which a test can put
// more scripts.
func scriptOnPath(t *testing.T, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	script(t, filepath.Join(dir, name), text)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}
