package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With the name of a helper in helperEnv the test binary is not a test but that
// program.
const helperEnv = "GASM_DOCTOR_HELPER"

var helpers = map[string]func(args []string) int{"check": helpCheck}

func TestMain(m *testing.M) {
	if run := helpers[os.Getenv(helperEnv)]; run != nil {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// helpCheck prints the report as JSON, as the user that it runs as.
func helpCheck([]string) int {
	r, err := Check(context.Background(), Options{})
	if err == nil {
		err = WriteJSON(os.Stdout, r)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// check runs all checks in a folder for temporary files of their own, and looks
// for what they leave behind.
func check(t *testing.T) *Report {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r, err := Check(t.Context(), Options{})
	require.NoError(t, err)
	assertClean(t, temp)
	return r
}

// assertClean checks that nothing is left in the folder, and no process that has
// it for its temporary files but this one.
func assertClean(t *testing.T, temp string) {
	t.Helper()
	files, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, files)
	var left []string
	for range 20 {
		left = nil
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte("TMPDIR="+temp)) && len(command) > 0 {
				left = append(left, strings.ReplaceAll(string(command), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("left running: %q", left)
}

// finding is the one with this name in an area that begins so.
func finding(t *testing.T, r *Report, area, name string) Finding {
	t.Helper()
	for _, f := range r.Checks {
		if strings.HasPrefix(f.Area, area) && f.Name == name {
			return f
		}
	}
	t.Fatalf("there is no %s, %s in %+v", area, name, r.Checks)
	return Finding{}
}

func needPerf(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("no perf on PATH: scripts/setup.sh installs it")
	}
	if testing.Short() {
		t.Skip("runs perf and JVMs")
	}
}

// needJava gives the real path of the java on PATH.
func needJava(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java on PATH: scripts/setup.sh installs it")
	}
	real, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	return real
}

// script writes a shell script.
func script(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

// onlyOnPath makes a PATH of links to these tools; those that are not here are
// left out.
func onlyOnPath(t *testing.T, tools ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range tools {
		if path, err := exec.LookPath(tool); err == nil {
			require.NoError(t, os.Symlink(path, filepath.Join(dir, tool)))
		}
	}
	t.Setenv("PATH", dir)
}

func readReport(t *testing.T, text []byte) *Report {
	t.Helper()
	var j jsonReport
	require.NoError(t, json.Unmarshal(text, &j), "%s", text)
	require.Equal(t, 1, j.Schema)
	return &Report{CanProfile: j.CanProfile, Sampler: j.Sampler, Event: j.Event, Sudo: j.Sudo, Cause: j.Cause, Mend: j.Mend, Checks: j.Checks}
}

func exitText(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}
