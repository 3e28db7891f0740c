// Package collecttest contains what the tests of the samplers share: processes to be sampled, fake tools that replace
// the real ones, and checks that all samplers must pass.
package collecttest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// Busy is an endless shell loop. It ends when the test kills the shell.
const Busy = `while :; do :; done`

// Nobody makes a process run as the user nobody, who has no privileges.
var Nobody = &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}

// A Target is a shell that waits until the test calls Release, and then runs a script.
type Target struct {
	Cmd  *exec.Cmd
	gate io.WriteCloser
}

// Hold starts a Target. It is killed at the end of the test.
func Hold(t *testing.T, script string) *Target {
	t.Helper()
	return HoldAs(t, script, nil)
}

// HoldAs starts a Target that runs as this user; nil means the user of the test.
func HoldAs(t *testing.T, script string, user *syscall.Credential) *Target {
	t.Helper()
	cmd := exec.Command("sh", "-c", "read -r go; "+script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: user}
	gate, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	return &Target{Cmd: cmd, gate: gate}
}

// PID returns the process id of the shell.
func (x *Target) PID() int { return x.Cmd.Process.Pid }

// Release makes the shell run its script.
func (x *Target) Release(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(x.gate, "go\n"); err != nil {
		t.Fatal(err)
	}
}

// Works waits until the target has used another 100 ms of CPU time. In this time, a sampler takes about a hundred
// samples at 999 Hz.
func (x *Target) Works(t *testing.T) {
	t.Helper()
	Works(t, x.PID())
}

// Works waits until a process has used another 100 ms of CPU time.
func Works(t *testing.T, pid int) {
	t.Helper()
	until := CPUTime(t, pid) + 100*time.Millisecond
	Eventually(t, "the process works", func() bool { return CPUTime(t, pid) >= until })
}

// Alive checks that the target still runs.
func (x *Target) Alive(t *testing.T) {
	t.Helper()
	if err := x.Cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the target has ended with the sampler: %v", err)
	}
}

// Eventually waits until ok returns true. If that takes more than a minute, the test fails with a message that says
// what did not happen.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// ProcessesWith returns the processes whose command line contains a text, each as its path in /proc and its command
// line.
func ProcessesWith(t *testing.T, text string) (found []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no processes in /proc: %v", err)
	}
	for _, path := range paths {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, path+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// NobodysDir returns a new folder that belongs to the user nobody. It is removed at the end of the test.
func NobodysDir(t *testing.T) string {
	t.Helper()
	// The folders of t.TempDir are in a folder that other users may not enter.
	dir, err := os.MkdirTemp("/tmp", "gasm-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, gasmtest.Nobody, gasmtest.Nobody); err != nil {
		t.Fatal(err)
	}
	return dir
}

// FakeTool creates a shell script that is found on PATH instead of the real tool. It returns the script's folder.
func FakeTool(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

// ToolPath returns the path of the real tool, for a fake tool that runs the real one. It must be called before
// FakeTool.
func ToolPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// CPUTime returns the CPU time that a process has used. The kernel counts it in steps of 10 ms.
func CPUTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	used, ok := gasmtest.CPUTime(pid)
	if !ok {
		t.Fatalf("process %d has ended", pid)
	}
	return used
}

// Execs returns a script that runs the given script in a new program (sh -c), because native sampling begins at an
// exec.
func Execs(script string) string {
	return "exec sh -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'"
}
