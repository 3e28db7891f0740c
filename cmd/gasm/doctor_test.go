package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// runDoctorTo runs gasm doctor with the given files as stdout and stderr, and returns the exit code.
func runDoctorTo(out, stderr *os.File, args ...string) (int, error) {
	cmd := doctorCommand(streams{os.Stdin, out, stderr})
	cmd.SetArgs(append([]string{}, args...)) // if the slice were nil, cobra would use the test's own arguments
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return exit.code, exit.err
	case err != nil:
		return 1, err
	}
	return 0, nil
}

// doctorOutput runs gasm doctor with files as its outputs, and returns what it prints and the exit code.
func doctorOutput(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer out.Close()
	errs, err := os.Create(filepath.Join(dir, "err"))
	require.NoError(t, err)
	defer errs.Close()
	code, err = runDoctorTo(out, errs, args...)
	require.NoError(t, err)
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	said, err := os.ReadFile(errs.Name())
	require.NoError(t, err)
	assert.Empty(t, string(said), "stderr is no terminal")
	return string(text), code
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestDoctor(t *testing.T) {
	gasmtest.NeedNative(t)
	javaPrograms(t)
	text, code := doctorOutput(t)
	assert.Equal(t, 0, code, text)
	assert.Regexp(t, `^gasm can profile here: native, \S+\.$`, lastLine(text))
	assert.NotContains(t, text, "\x1b", "colour in a file")
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 100, line)
	}
	t.Setenv("LC_ALL", "C")
	text, _ = doctorOutput(t)
	assert.Equal(t, strings.ToValidUTF8(text, ""), text)
	assert.NotContains(t, text, "✓")
	assert.Contains(t, text, "fix: export LC_ALL=C.UTF-8\n")
}

// TestDoctorNoSampler checks that on a machine without a sampler the exit code is 1, and that both the text and the
// JSON say what to do.
func TestDoctorNoSampler(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil {
		t.Skip("has a dtrace that is found without PATH")
	}
	blocked := withBlocked(t, "all", "java")
	text := runGasm(t, []string{"doctor"}, blocked)
	assert.Equal(t, 1, text.code)
	assert.Contains(t, text.stdout, "\ngasm can't profile here: ")

	structured := runGasm(t, []string{"doctor", "--json"}, blocked)
	assert.Equal(t, 1, structured.code)
	var r struct {
		Schema     int
		CanProfile *bool `json:"can_profile"`
		Sampler    string
		Mend       string
		Checks     []struct{ Area, Name, Status, Text, Mend string }
	}
	require.NoError(t, json.Unmarshal([]byte(structured.stdout), &r))
	assert.Equal(t, 1, r.Schema)
	require.NotNil(t, r.CanProfile)
	assert.False(t, *r.CanProfile)
	assert.Empty(t, r.Sampler)
	assert.NotEmpty(t, r.Mend)
	assert.Greater(t, len(r.Checks), 8)
}

func TestDoctorUsage(t *testing.T) {
	code, err := runDoctorTo(os.Stdout, os.Stderr, "now")
	assert.Equal(t, 2, code)
	assert.EqualError(t, err, "doctor takes no arguments")
}

// TestDoctorTerminal checks that on a terminal, the report has colours and is as wide as the terminal.
func TestDoctorTerminal(t *testing.T) {
	ours, theirs, err := pty.Open()
	require.NoError(t, err)
	defer ours.Close()
	require.NoError(t, pty.Setsize(theirs, &pty.Winsize{Rows: 40, Cols: 72}))
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	t.Setenv("LC_ALL", "C.UTF-8")
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(ours) // ends with an error, as terminals do
		read <- string(text)
	}()
	_, err = runDoctorTo(theirs, theirs)
	theirs.Close()
	require.NoError(t, err)
	text := <-read
	assert.Contains(t, text, "\x1b[1;33m!\x1b[0m  terminal      72 columns, colour: names are shortened,")
	assert.Contains(t, text, "\x1b[1mperf\x1b[0m")
}
