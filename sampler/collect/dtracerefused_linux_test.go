package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func init() { helpers["dtrace"] = helpDTrace }

// helpDTrace samples until its stdin ends, as the user that it runs as:
//
//	FREQUENCY sudo|direct DIR
//
// It prints whether it samples, the error and its reason, each on a line.
func helpDTrace(args []string) int {
	frequency, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	d, err := StartDTrace(context.Background(), DTraceOptions{Frequency: frequency, Sudo: args[1] == "sudo", Dir: args[2]})
	var refused *RefusedError
	if errors.As(err, &refused) {
		fmt.Printf("reason %d\n", refused.Reason)
	}
	if err != nil {
		fmt.Printf("error %v\n", err)
		return 1
	}
	fmt.Println("samples")
	io.Copy(io.Discard, os.Stdin)
	fmt.Printf("stop %v\n", d.Stop())
	return 0
}

// dtraceHelper prepares a helper that samples.
func dtraceHelper(t *testing.T, frequency int, how, dir string, user *syscall.Credential) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", strconv.Itoa(frequency), how, dir)
	cmd.Env = append(os.Environ(), helperEnv+"=dtrace")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user, Setpgid: true}
	return cmd
}

// refusedDTrace starts DTrace, which must be refused for the reason, or be missing (0), with the
// message.
func refusedDTrace(t *testing.T, opts DTraceOptions, reason Reason, message string) {
	t.Helper()
	opts.Dir = t.TempDir()
	_, err := StartDTrace(t.Context(), opts)
	t.Log(err)
	var refused *RefusedError
	var missing *MissingToolError
	switch {
	case err == nil || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "\n"):
		t.Errorf("got %v, want %s", err, message)
	case reason == 0 && !errors.As(err, &missing):
		t.Errorf("got a %T", err)
	case reason != 0 && (!errors.As(err, &refused) || refused.Reason != reason || refused.Stderr == ""):
		t.Errorf("got %+v, want reason %d", refused, reason)
	}
	if files, _ := os.ReadDir(opts.Dir); len(files) > 0 {
		t.Errorf("left %v", files)
	}
	noDTraceLeft(t, opts.Frequency)
}

func TestDTraceMissing(t *testing.T) {
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil {
		t.Skip("gasm finds /usr/sbin/dtrace whatever PATH is; a machine without it would do")
	}
	t.Setenv("PATH", t.TempDir())
	refusedDTrace(t, DTraceOptions{Frequency: 1009}, 0, "dtrace: not on PATH; ")
}

func TestDTraceNoSuchProbe(t *testing.T) {
	gasmtest.NeedDTrace(t)
	refusedDTrace(t, DTraceOptions{Frequency: 1000000}, ReasonUnknownEvent,
		"dtrace: it has no probe profile-1000000; take a lower --frequency, on Linux 5000 at most")
}

func TestDTraceNoFolder(t *testing.T) {
	gasmtest.NeedDTrace(t)
	_, err := StartDTrace(t.Context(), DTraceOptions{Frequency: 1013, Dir: "/nonexistent"})
	if err == nil || err.Error() != "open /nonexistent/dtrace.txt: no such file or directory" {
		t.Errorf("got %v", err)
	}
	noDTraceLeft(t, 1013)
}

// TestDTraceNotRoot checks the real refusals for a user who is not root and has no password.
func TestDTraceNotRoot(t *testing.T) {
	gasmtest.NeedDTrace(t)
	gasmtest.NeedRoot(t)
	dir := nobodysDir(t)
	check := func(frequency int, how, want string) {
		t.Helper()
		out, err := dtraceHelper(t, frequency, how, dir, nobody).CombinedOutput()
		var failed *exec.ExitError
		if !errors.As(err, &failed) || string(out) != fmt.Sprintf("reason %d\nerror %s\n", ReasonNotRoot, want) {
			t.Errorf("%s: got %v and\n%s\nwant %s", how, err, out, want)
		}
		noDTraceLeft(t, frequency)
	}
	tool := toolPath(t, "dtrace")
	check(1019, "direct", "dtrace: only root may sample with it; run gasm as root, or with --sudo")
	gasmtest.NeedTool(t, "sudo", "apt install sudo")
	check(1021, "sudo", "dtrace: sudo -n is refused (a password is required); run 'sudo -v' first, or let this user run "+tool+" and kill without a password (visudo)")
}

func TestDTraceNoSudo(t *testing.T) {
	gasmtest.NeedDTrace(t)
	tool := toolPath(t, "dtrace")
	dir := t.TempDir()
	if err := os.Symlink(tool, filepath.Join(dir, "dtrace")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	refusedDTrace(t, DTraceOptions{Frequency: 1031, Sudo: true}, 0, "sudo: not on PATH; run gasm as root, without --sudo")
}

func TestDTraceRefusedByKernel(t *testing.T) {
	gasmtest.NeedDTrace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tool := toolPath(t, "dtrace")
	check := func(frequency int, filter, message string) {
		t.Helper()
		fakeTool(t, "dtrace", fmt.Sprintf("%s=%s exec '%s' '%s' \"$@\"", helperEnv, filter, self, tool))
		refusedDTrace(t, DTraceOptions{Frequency: frequency}, ReasonKernel,
			"dtrace: refused by the kernel (could not enable tracing: "+message+"); it needs a kernel with BPF and BTF (Linux 5.10) that is not locked down, and in a container --privileged")
	}
	check(1033, "seccomp", "Failed to enable dtrace:::BEGIN: Operation not permitted")
	check(1039, "no-perf-events", "Failed to enable dtrace:::BEGIN: Function not implemented")
	check(1049, "bpf-forbidden", "failed to create BPF map 'state'")
	check(1051, "no-bpf", "failed to create BPF map 'state': Function not implemented")
}

// TestDTraceRace checks that a DTrace that fails because another one starts or ends is started again.
func TestDTraceRace(t *testing.T) {
	gasmtest.NeedDTrace(t)
	tool := toolPath(t, "dtrace")
	const race = `echo "dtrace: could not enable tracing: Failed to enable dtrace:::BEGIN: No such file or directory" >&2
		exit 1`
	tried := filepath.Join(t.TempDir(), "tried")
	fakeTool(t, "dtrace", fmt.Sprintf(`echo >>%[1]s; [ $(wc -l <%[1]s) -ge 3 ] && exec '%[2]s' "$@"; %[3]s`, tried, tool, race))
	d := startDTrace(t, DTraceOptions{Frequency: 1021})
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	d.Wait()

	fakeTool(t, "dtrace", race)
	refusedDTrace(t, DTraceOptions{Frequency: 1019}, ReasonKernel, "dtrace: refused by the kernel (could not enable tracing: "+
		"Failed to enable dtrace:::BEGIN: No such file or directory); it needs a kernel with BPF")
}

// TestDTraceOfSystemTap has the script that SystemTap installs, which prints its usage on stdout, and
// here on stderr.
func TestDTraceOfSystemTap(t *testing.T) {
	const script = `echo "$0 invalid option $1"
		echo "Usage $0 [--help] [-h | -G] [-C [-I<Path>]] -s File.d [-o <File>]"
		exit 1`
	dir := fakeTool(t, "dtrace", script)
	refusedDTrace(t, DTraceOptions{Frequency: 1061}, 0,
		"dtrace: "+dir+"/dtrace is SystemTap's, which only makes headers; ")
	fakeTool(t, "dtrace", "("+script+") >&2; exit 1")
	refusedDTrace(t, DTraceOptions{Frequency: 1063}, 0, "dtrace is SystemTap's, which only makes headers; ")
}

// TestFindDTrace checks that gasm uses the DTrace at the other path if PATH leads to SystemTap's
// script.
func TestFindDTrace(t *testing.T) {
	script := func(content string) string {
		path := filepath.Join(t.TempDir(), "dtrace")
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	python, shell, elsewhere := script("#!/usr/bin/python3\n"), script("#!/bin/sh\n"), script("\x7fELF")
	check := func(onPath, elsewhere, want string) {
		t.Helper()
		t.Setenv("PATH", filepath.Dir(onPath))
		if got, err := findDTrace(elsewhere); got != want || (err == nil) != (want != "") {
			t.Errorf("%s and %s: got %s, %v, want %s", onPath, elsewhere, got, err, want)
		}
	}
	check(python, elsewhere, elsewhere)
	check(python, "/nonexistent/dtrace", python)
	check(shell, elsewhere, shell)
	check(elsewhere, shell, elsewhere)
	check("/nonexistent/dtrace", elsewhere, elsewhere)
	check("/nonexistent/dtrace", "/nonexistent/dtrace", "")
}
