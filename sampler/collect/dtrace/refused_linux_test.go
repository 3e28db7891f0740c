package dtrace

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
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// helpSample samples until its stdin ends, as the user that it runs as:
//
//	FREQUENCY sudo|direct DIR
//
// It prints whether it samples, the error and its reason, each on a line.
func helpSample(args []string) int {
	frequency, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	d, err := Start(context.Background(), Options{Frequency: frequency, Sudo: args[1] == "sudo", Dir: args[2]})
	var refused *failure.RefusedError
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

// helper returns a command that runs the helper helpSample.
func helper(t *testing.T, frequency int, how, dir string, user *syscall.Credential) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", strconv.Itoa(frequency), how, dir)
	cmd.Env = append(os.Environ(), helperEnv+"=sample")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user, Setpgid: true}
	return cmd
}

// refusedFor starts DTrace. The start must be refused for the given reason and with the given message. The reason 0
// means that DTrace must be missing.
func refusedFor(t *testing.T, opts Options, reason failure.Reason, message string) {
	t.Helper()
	opts.Dir = t.TempDir()
	_, err := Start(t.Context(), opts)
	t.Log(err)
	var refused *failure.RefusedError
	var missing *failure.MissingToolError
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
	noneLeft(t, opts.Frequency)
}

func TestMissing(t *testing.T) {
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil {
		t.Skip("gasm finds /usr/sbin/dtrace whatever PATH is; a machine without it would do")
	}
	t.Setenv("PATH", t.TempDir())
	refusedFor(t, Options{Frequency: 1009}, 0, "dtrace: not on PATH; ")
}

func TestNoSuchProbe(t *testing.T) {
	gasmtest.NeedDTrace(t)
	refusedFor(t, Options{Frequency: 1000000}, failure.ReasonUnknownEvent,
		"dtrace: it has no probe profile-1000000; take a lower --frequency, on Linux 5000 at most")
}

func TestNoFolder(t *testing.T) {
	gasmtest.NeedDTrace(t)
	_, err := Start(t.Context(), Options{Frequency: 1013, Dir: "/nonexistent"})
	if err == nil || err.Error() != "open /nonexistent/dtrace.txt: no such file or directory" {
		t.Errorf("got %v", err)
	}
	noneLeft(t, 1013)
}

// TestNotRoot checks the real refusals for a user who is not root and has no password.
func TestNotRoot(t *testing.T) {
	gasmtest.NeedDTrace(t)
	gasmtest.NeedRoot(t)
	dir := collecttest.NobodysDir(t)
	check := func(frequency int, how, want string) {
		t.Helper()
		out, err := helper(t, frequency, how, dir, collecttest.Nobody).CombinedOutput()
		var failed *exec.ExitError
		if !errors.As(err, &failed) || string(out) != fmt.Sprintf("reason %d\nerror %s\n", failure.ReasonNotRoot, want) {
			t.Errorf("%s: got %v and\n%s\nwant %s", how, err, out, want)
		}
		noneLeft(t, frequency)
	}
	tool := collecttest.ToolPath(t, "dtrace")
	check(1019, "direct", "dtrace: only root may sample with it; run gasm as root, or with --sudo")
	gasmtest.NeedTool(t, "sudo", "apt install sudo")
	check(1021, "sudo", "dtrace: sudo -n is refused (a password is required); run 'sudo -v' first, or let this user run "+tool+" and kill without a password (visudo)")
}

func TestNoSudo(t *testing.T) {
	gasmtest.NeedDTrace(t)
	tool := collecttest.ToolPath(t, "dtrace")
	dir := t.TempDir()
	if err := os.Symlink(tool, filepath.Join(dir, "dtrace")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	refusedFor(t, Options{Frequency: 1031, Sudo: true}, 0, "sudo: not on PATH; run gasm as root, without --sudo")
}

func TestRefusedByKernel(t *testing.T) {
	gasmtest.NeedDTrace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tool := collecttest.ToolPath(t, "dtrace")
	check := func(frequency int, filter, message string) {
		t.Helper()
		collecttest.FakeTool(t, "dtrace", fmt.Sprintf("%s=%s exec '%s' '%s' \"$@\"", helperEnv, filter, self, tool))
		refusedFor(t, Options{Frequency: frequency}, failure.ReasonKernel,
			"dtrace: refused by the kernel (could not enable tracing: "+message+"); it needs a kernel with BPF and BTF (Linux 5.10) that is not locked down, and in a container --privileged")
	}
	check(1033, "seccomp", "Failed to enable dtrace:::BEGIN: Operation not permitted")
	check(1039, "no-perf-events", "Failed to enable dtrace:::BEGIN: Function not implemented")
	check(1049, "bpf-forbidden", "failed to create BPF map 'state'")
	check(1051, "no-bpf", "failed to create BPF map 'state': Function not implemented")
}

// TestRace checks that a DTrace that fails because another one starts or ends is started again.
func TestRace(t *testing.T) {
	gasmtest.NeedDTrace(t)
	tool := collecttest.ToolPath(t, "dtrace")
	const race = `echo "dtrace: could not enable tracing: Failed to enable dtrace:::BEGIN: No such file or directory" >&2
		exit 1`
	tried := filepath.Join(t.TempDir(), "tried")
	collecttest.FakeTool(t, "dtrace", fmt.Sprintf(`echo >>%[1]s; [ $(wc -l <%[1]s) -ge 3 ] && exec '%[2]s' "$@"; %[3]s`,
		tried, tool, race))
	d := starts(t, Options{Frequency: 1021})
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	d.Wait()

	collecttest.FakeTool(t, "dtrace", race)
	refusedFor(t, Options{Frequency: 1019}, failure.ReasonKernel,
		"dtrace: refused by the kernel (could not enable tracing: "+
			"Failed to enable dtrace:::BEGIN: No such file or directory); it needs a kernel with BPF")
}

// TestSystemTap checks the script that SystemTap installs as dtrace. The script prints its usage on stdout, and here
// on stderr.
func TestSystemTap(t *testing.T) {
	const script = `echo "$0 invalid option $1"
		echo "Usage $0 [--help] [-h | -G] [-C [-I<Path>]] -s File.d [-o <File>]"
		exit 1`
	dir := collecttest.FakeTool(t, "dtrace", script)
	refusedFor(t, Options{Frequency: 1061}, 0,
		"dtrace: "+dir+"/dtrace is SystemTap's, which only makes headers; ")
	collecttest.FakeTool(t, "dtrace", "("+script+") >&2; exit 1")
	refusedFor(t, Options{Frequency: 1063}, 0, "dtrace is SystemTap's, which only makes headers; ")
}

// TestFind checks that gasm uses the DTrace at the other path if PATH leads to SystemTap's
// script.
func TestFind(t *testing.T) {
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
		if got, err := find(elsewhere); got != want || (err == nil) != (want != "") {
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
