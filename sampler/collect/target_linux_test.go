package collect

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

// busy is a shell loop that ends when the test kills it.
const busy = `while :; do :; done`

// nobody makes a process run as the user without rights.
var nobody = &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}

// A target is a shell that waits for release and then runs a script.
type target struct {
	cmd  *exec.Cmd
	gate io.WriteCloser
}

// hold starts a target, which is killed after the test.
func hold(t *testing.T, script string) *target {
	t.Helper()
	return holdAs(t, script, nil)
}

func holdAs(t *testing.T, script string, user *syscall.Credential) *target {
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
	return &target{cmd: cmd, gate: gate}
}

func (x *target) pid() int { return x.cmd.Process.Pid }

func (x *target) release(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(x.gate, "go\n"); err != nil {
		t.Fatal(err)
	}
}

// works waits until the target has worked for a while: at 999 Hz it has a hundred more samples then.
func (x *target) works(t *testing.T) {
	t.Helper()
	works(t, x.pid())
}

func works(t *testing.T, pid int) {
	t.Helper()
	until := cpuTime(t, pid) + 100*time.Millisecond
	eventually(t, "the process works", func() bool { return cpuTime(t, pid) >= until })
}

// alive checks that the target still runs.
func (x *target) alive(t *testing.T) {
	t.Helper()
	if err := x.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the target has ended with the sampler: %v", err)
	}
}

// eventually waits until something has happened.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// processesWith returns the processes whose command line contains a text.
func processesWith(t *testing.T, text string) (found []string) {
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

// nobodysDir returns a new folder that belongs to nobody.
func nobodysDir(t *testing.T) string {
	t.Helper()
	// t.TempDir is below a folder that others may not enter.
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

// fakeTool puts a shell script on PATH, before the real tool, and returns the folder that it is in.
func fakeTool(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

// toolPath returns the real path of a sampler that works here, for a fake one that runs it.
func toolPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
