package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestHelpSaysHowToCall checks that gasm's help says that it needs a command, and that the help of a command says how
// to call it.
func TestHelpSaysHowToCall(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"": "gasm COMMAND [flags] [ARGUMENT ...]",
		"profile": "gasm profile [flags] -- COMMAND [ARG ...]", "version": "gasm version [flags]"} {
		r := runGasm(t, append(strings.Fields(command), "--help"))
		assert.Equal(t, 0, r.code)
		assert.Contains(t, r.stdout, "\nUsage:\n  "+want+"\n\n")
		assert.NotContains(t, r.stdout, "[command]")
	}
}

// TestUsage checks that each bad input leads to one clear line on stderr and to the right exit code.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nonsense"}, `unknown command "nonsense"`},
		{[]string{"help", "nonsense"}, `unknown command "nonsense"`},
		{[]string{"help", "report", "x"}, `unknown command "report x"`},
		{[]string{"profile"}, "name a command to run"},
		{[]string{"profile", "--"}, "name a command to run"},
		{[]string{"profile", "--nonsense", "--", "true"}, "unknown flag: --nonsense"},
		{[]string{"profile", "--frequency", "0", "--", "true"}, "--frequency is 0; it is in Hz, from 1 to 20000"},
		{[]string{"profile", "--event", "{cpu-clock,page-faults}", "--", "true"},
			"--event has a group in braces ({cpu-clock)"},
		{[]string{"profile", "--event", "cpu-clock/freq=50/", "--", "true"}, "one frequency; say it by --frequency"},
		{[]string{"profile", "--event", "cpu-clock:u,page-faults,cpu-clock", "--", "true"},
			"--event has cpu-clock:u and cpu-clock, whose samples both go by the name of cpu-clock"},
		{[]string{"profile", "--event", "cpu_core/cycles/,cpu_atom/cycles/", "--", "true"},
			"go by the name of cycles; name one of them"},
		{[]string{"profile", "--event", "cycles,cpu/event=0x3c,period=1000/u", "--", "true"},
			"--event cpu/event=0x3c,period=1000/u: gasm samples"},
		{[]string{"profile", "--event", "cpu-clock/name=foo/", "--", "true"}, "without name="},
		{[]string{"profile", "--sampler", "vtune", "--", "true"}, `--sampler is "vtune"`},
		{[]string{"profile", "--window-start", "(", "--", "true"}, "--window-start: error parsing regexp"},
		{[]string{"profile", "--delay", "1s", "--window-start", "x", "--", "true"}, "two different windows"},
		{[]string{"profile", "--delay", "-1s", "--", "true"}, "can't be negative"},
		{[]string{"profile", "--format", "svg", "--", "true"}, "it can be text, json, pprof, html or collapsed"},
		{[]string{"profile", "--window-from", "stdin", "--window-end", "x", "--", "true"},
			`--window-from is "stdin"; it can be stdout, stderr or both`},
		{[]string{"profile", "--window-from", "stderr", "--", "true"}, "it takes --window-start or --window-end"},
		{[]string{"report"}, "name a capture folder"},
		{[]string{"report", "-o", "x", "."}, "to write to a file: --report FILE"},
		{[]string{"events", "-ox", "."}, "to write to a file: --report FILE"},
		{[]string{"report", "--hot-threshold", "7", "."}, "a share from 0 to 1"},
		{[]string{"report", "--top", "-1", "."}, "--top is -1"},
		{[]string{"report", "bad_test.go"}, "at least one assembly log"},
		{[]string{"stacks"}, "name one JVM"},
		{[]string{"stacks", "1", "2"}, "name one JVM"},
		{[]string{"stacks", "--format", "xml", "1"}, `--format is "xml"; it can be text or json`},
		{[]string{"version", "x"}, "takes no arguments"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r := runGasm(t, c.args)
			assert.Equal(t, 2, r.code)
			assert.Contains(t, r.said(), c.want)
			assert.Empty(t, r.stdout)
			_, hint, _ := strings.Cut(r.stderr, "\n")
			assert.Contains(t, []string{"Try 'gasm " + c.args[0] + " --help'.\n", "Try 'gasm --help'.\n"}, hint,
				"one line, and where to look")
		})
	}
}

func TestBadCommand(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := t.TempDir()
	notExecutable := filepath.Join(dir, "not-executable")
	require.NoError(t, os.WriteFile(notExecutable, []byte("#!/bin/sh\n"), 0o644))
	noProgram := filepath.Join(dir, "no-program")
	require.NoError(t, os.WriteFile(noProgram, []byte("just text\n"), 0o755))
	for _, c := range []struct {
		name    string
		command []string
		code    int
		want    string
	}{
		{"unknown", []string{"no-such-command"}, 1, "command not found: no-such-command"},
		{"unknown path", []string{"/no/such/command"}, 1, "command not found: /no/such/command"},
		{"not executable", []string{notExecutable}, 1, "permission denied (is it executable?)"},
		{"no program", []string{noProgram}, 1, "neither a program nor a script"},
		{"no JVM", []string{"true"}, 1, "true started no JVM"},
		{"no JVM, and it fails", []string{"sh", "-c", "exit 3"}, 3, "sh ended with exit code 3 before it had started a JVM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			temp := t.TempDir()
			r := runGasm(t, append([]string{"profile", "--"}, c.command...), withEnv("TMPDIR="+temp))
			assert.Equal(t, c.code, r.code)
			assert.Contains(t, r.said(), c.want)
			assert.Empty(t, r.stdout)
			assertGone(t, temp)
			if !strings.Contains(c.name, "JVM") {
				left, err := os.ReadDir(temp)
				require.NoError(t, err)
				assert.Empty(t, left, "nothing was captured, so nothing is kept")
			}
		})
	}
}

func TestBadOutputFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	full := filepath.Join(dir, "full")
	require.NoError(t, os.Mkdir(full, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(full, "precious"), []byte("x"), 0o644))
	for _, c := range []struct{ name, output, want string }{
		{"a file", file, "not a directory"},
		{"below a file", filepath.Join(file, "x"), "not a directory"},
		{"not empty", full, "the folder is not empty"},
		{"not writable", "/proc/capture", "making the capture folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runGasm(t, []string{"profile", "-o", c.output, "--", "touch", filepath.Join(dir, "ran")})
			assert.Equal(t, 1, r.code)
			assert.Contains(t, r.said(), c.want)
			assert.NoFileExists(t, filepath.Join(dir, "ran"), "the command must not run in vain")
		})
	}
	assert.FileExists(t, filepath.Join(full, "precious"))
	t.Run("no temporary folder", func(t *testing.T) {
		r := runGasm(t, []string{"profile", "--", "true"}, withEnv("TMPDIR=/no/such/folder"))
		assert.Equal(t, 1, r.code)
		assert.Contains(t, r.said(), "set TMPDIR, or name one with -o")
	})
}

// TestFullDisk checks that a full disk ends the capture, but not the program.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	// Each size is smaller than what gasm writes in all, and larger than what it writes at first. Copied code takes
	// 110 kB.
	for code, size := range map[string]string{"print": "1200k", "copy": "192k"} {
		t.Run(code, func(t *testing.T) {
			disk := gasmtest.NeedSmallDisk(t, size)
			r := runGasm(t, []string{"profile", "--code", code, "--frequency", "5000", "-o", filepath.Join(disk, "capture"),
				"--", "java", "-Dsec=2", "-cp", classes, "Spin"})
			assert.Regexp(t, `READY \d+\nsink -?\d+\n`, r.stdout, "the program ran to its end")
			assert.Equal(t, 1, r.code)
			assert.Contains(t, strings.ToLower(r.said()), "no space left on device")
			assert.Contains(t, r.said(), "the capture is kept in "+disk)
			if strings.Contains(r.said(), "the assembly log is empty") || strings.Contains(r.said(), "no samples at all") {
				return // without code or without samples, there is no report
			}
			assert.Len(t, strings.Split(r.said(), "\n"), 2, r.said())
			assert.Contains(t, r.stdout, "note: the capture is not whole", "the report of what there is says so")
			assert.Contains(t, r.stdout, "Account of Samples")
			t.Log(r.said())
		})
	}
}

// withBlocked makes perf_event_open fail, as in a container with a filter of system calls, and leaves only the given
// commands on PATH. The parameter what is "all", "processes", or "memory". With "memory", it is process_vm_readv that
// fails.
func withBlocked(t *testing.T, what string, commands ...string) runOpt {
	only := withOnly(t, commands...)
	return func(c *exec.Cmd) {
		only(c)
		c.Env = append(c.Environ(), blockedEnv+"="+what)
		c.Args = append([]string{os.Args[0], binary}, c.Args[1:]...)
		var err error
		c.Path, err = os.Executable()
		require.NoError(t, err)
	}
}

// TestNoSampler checks that if gasm may not sample itself and there is no other sampler, one line says how to fix
// that.
func TestNoSampler(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil {
		t.Skip("has a dtrace that is found without PATH")
	}
	const cause = "gasm: native sampling: perf_event_open is blocked, for example by a container's seccomp filter (operation not permitted); " +
		"in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined"
	for _, sampler := range []string{"auto", "native"} {
		dir := t.TempDir()
		r := runGasm(t, []string{"profile", "--sampler", sampler, "--", "touch", filepath.Join(dir, "ran")},
			withBlocked(t, "all", "touch"))
		assert.Equal(t, 1, r.code)
		line, more, _ := strings.Cut(r.said(), " (nor can perf be used: not on PATH; install it: ")
		assert.Equal(t, cause, line)
		assert.Equal(t, sampler == "auto", strings.Contains(more, "; nor dtrace: "), r.said())
		assert.NoFileExists(t, filepath.Join(dir, "ran"))
		t.Log(r.said())
	}
}

// TestNoPerf checks that gasm samples by itself if there is no perf on PATH.
func TestNoPerf(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	java, err := exec.LookPath("java")
	require.NoError(t, err)
	r := runGasm(t, []string{"profile", "--", java, "-Dsec=1", "-cp", classes, "Spin"}, withEnv("PATH=/nonexistent"))
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `(?m)^Sampler: +native, \S+ at \d+ Hz$`, r.stdout)
	assert.Contains(t, r.stdout, "Spin::spin")
}

// TestFallback checks that on a machine without a counter of cycles, gasm samples cpu-clock and says so, whatever
// clock perf would choose.
func TestFallback(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedPerf(t)
	if out, _ := exec.Command("perf", "stat", "-e", "cycles", "true").CombinedOutput(); !strings.Contains(string(out),
		"not supported") {
		t.Skip("this machine has a cycles counter")
	}
	classes := javaPrograms(t)
	for _, sampler := range []string{"native", "perf"} {
		r := runGasm(t, []string{"profile", "--sampler", sampler, "--frequency", "997", "--fixed-frequency", "--", "java",
			"-cp", classes, "Exit", "0"})
		require.Equal(t, 0, r.code, r.stderr)
		assert.Regexp(t, `(?m)^Sampler: +`+sampler+`, cpu-clock at 997 Hz$`, r.stdout)
		assert.Contains(t, r.stdout, "note: no cycles counter (qemu: pmu=on), so ")
	}
}

func TestUnknownEvent(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := t.TempDir()
	for _, sampler := range []string{"auto", "native", "perf"} {
		if sampler == "perf" {
			gasmtest.NeedPerf(t)
		}
		r := runGasm(t, []string{"profile", "--sampler", sampler, "--event", "no-such-event", "--", "touch",
			filepath.Join(dir, "ran")})
		assert.Equal(t, 1, r.code)
		assert.Contains(t, r.said(), "there is no event no-such-event")
		assert.Len(t, strings.Split(r.said(), "\n"), 1, "one line: %s", r.said())
		assert.NoFileExists(t, filepath.Join(dir, "ran"))
		t.Log(r.said())
	}
}

// savedCapture unpacks the samples and the log of a committed capture.
func savedCapture(t *testing.T, name string) (samples, log string) {
	t.Helper()
	return gasmtest.UnpackCapture(t, name, t.TempDir())
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none")
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o644))
		return path
	}
	sampleText, err := os.ReadFile(samples)
	require.NoError(t, err)
	logText, err := os.ReadFile(log)
	require.NoError(t, err)
	empty := write("empty", nil)
	foreign := write("foreign", []byte("Exception in thread \"main\" java.lang.Error\n\tat A.main(A.java:1)\n"))
	others := write("others.txt", bytes.ReplaceAll(sampleText, []byte("24997/"), []byte("11111/")))
	emptyDir := filepath.Join(dir, "empty-folder")
	require.NoError(t, os.Mkdir(emptyDir, 0o755))
	for _, c := range []struct {
		name, want string
		args       []string
		code       int
	}{
		{"no such file", "no such file", []string{filepath.Join(dir, "nothing"), log}, 1},
		{"no such log", "no such file", []string{samples, filepath.Join(dir, "nothing")}, 1},
		{"empty log", "the assembly log is empty", []string{samples, empty}, 1},
		{"foreign log", "not a HotSpot log", []string{samples, foreign}, 1},
		{"samples as log", "not a HotSpot log", []string{samples, samples}, 1},
		{"empty samples", "is empty: the sampler wrote nothing", []string{empty, log}, 1},
		{"foreign samples", "holds no samples", []string{foreign, log}, 1},
		{"log as samples", "holds no samples", []string{log, log}, 1},
		{"other processes only", "are of other processes", []string{others, log}, 1},
		{"no such pid", "no such JVM in this capture; it has 24997", []string{"--pid", "4", samples, log}, 1},
		{"empty folder", "is not a capture", []string{emptyDir}, 1},
		{"a share after a blank", "a share of --tree comes after an equals sign: --tree=5%",
			[]string{emptyDir, "--tree", "5%"}, 2},
		{"a folder and more", "name folders only", []string{emptyDir, log}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runGasm(t, append([]string{"report"}, c.args...))
			assert.Equal(t, c.code, r.code)
			assert.Contains(t, r.said(), c.want)
			assert.Len(t, strings.Split(r.said(), "\n"), 1, "one line: %s", r.said())
		})
	}
	t.Run("cut log", func(t *testing.T) {
		r := runGasm(t, []string{"report", samples, write("cut.log", logText[:len(logText)*2/3])})
		assert.Equal(t, 0, r.code)
		assert.Contains(t, r.stdout, "ends in the middle")
	})
	t.Run("one bad log of two", func(t *testing.T) {
		r := runGasm(t, []string{"report", samples, foreign, log})
		assert.Equal(t, 0, r.code)
		assert.Contains(t, r.said(), "not a HotSpot log")
		assert.Contains(t, r.stdout, "Workload::main")
	})
}

// TestSamplingRefused checks that if the kernel refuses the sampling, the command does not run, and the message names
// the setting that fixes it.
func TestSamplingRefused(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if os.Getuid() != 0 || strings.TrimSpace(string(paranoid)) != "2" {
		t.Skip("needs root, to become nobody, and kernel.perf_event_paranoid=2")
	}
	dir, asNobody := nobody(t)
	t.Run("kernel samples", func(t *testing.T) {
		r := runGasm(t, []string{"profile", "--event", "cpu-clock:k", "--", "touch", "ran"}, asNobody)
		assert.Equal(t, 1, r.code)
		assert.Contains(t, r.said(), "sudo sysctl kernel.perf_event_paranoid=")
		assert.Len(t, strings.Split(r.said(), "\n"), 1, "one line: %s", r.said())
		assert.NoFileExists(t, filepath.Join(dir, "ran"))
		t.Log(r.said())
	})
	t.Run("user space is enough", func(t *testing.T) {
		classes := javaPrograms(t)
		r := runGasm(t, []string{"profile", "--", "java", "-cp", classes, "Exit", "0"}, asNobody)
		assert.Equal(t, 0, r.code, r.stderr)
		assert.Contains(t, r.stdout, "kernel samples are not visible")
		assert.Contains(t, r.stdout, "Exit::spin")
	})
}

// nobody returns an option that runs gasm as a user without privileges, and a folder that belongs to this user.
func nobody(t *testing.T) (dir string, as runOpt) {
	t.Helper()
	gasmtest.NeedRoot(t)
	// t.TempDir can't be used, because only root may enter its parent folders.
	dir, err := os.MkdirTemp("", "nobody-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, gasmtest.Nobody, gasmtest.Nobody))
	return dir, func(c *exec.Cmd) {
		c.Dir = dir
		c.Env = append(c.Environ(), "TMPDIR="+dir, "HOME="+dir)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: gasmtest.JVMOfNobody(t)}
	}
}
