package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// runCommand runs a command without gasm.
func runCommand(t *testing.T, command []string) string {
	t.Helper()
	out, err := exec.Command(command[0], command[1:]...).Output()
	require.NoError(t, err)
	return string(out)
}

// TestPassThrough checks that the command has the same exit code, arguments, stdin and stdout as without gasm.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	r := runGasm(t, []string{"profile", "--", "java", "-cp", classes, "Exit", "7", "echo", "a b", "--top"},
		withStdin("line 1\nline 2\n"))
	assert.Equal(t, 7, r.code)
	own, report, ok := strings.Cut(r.stdout, "\ngasm: ")
	require.True(t, ok, r.stdout)
	assert.Equal(t, "arg 7\narg echo\narg a b\narg --top\nline 1\nline 2\n", own)
	assert.Contains(t, report, "Exit", "the report is made all the same")
	assert.Empty(t, r.said(), "a command that fails is no failure of gasm's")
}

// TestScript checks that gasm finds JVMs that a script starts, and does not count the script's other processes.
func TestScript(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, []string{"profile", "--format", "json", "--report", file, "--", "sh", "-c",
		`java -cp "$0" Exit 0 one; java -cp "$0" Exit 0 two; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 5`,
		classes})
	assert.Equal(t, 5, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p := readReport(t, text).Profiles[0]
	assert.Len(t, p.PIDs, 2)
	assert.Positive(t, p.Account.Of(hottestEvent(&p)).OtherProcess, "the shell's own loop")
}

// TestDelayAndLength checks that with --delay and --length, the profile has exactly the samples from that time.
func TestDelayAndLength(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes, dir := javaPrograms(t), filepath.Join(t.TempDir(), "capture")
	delay := max(time.Second, warmUp(t))
	began := time.Now()
	r := runGasm(t, []string{"profile", "--frequency", "1001", "--fixed-frequency", "--delay", delay.String(), "--length",
		"500ms", "-o", dir,
		"--", "java", fmt.Sprintf("-Dsec=%.1f", delay.Seconds()+1), "-cp", classes, "Spin"})
	took := time.Since(began)
	require.Equal(t, 0, r.code, r.stderr)
	r = runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	p := readReport(t, []byte(r.stdout)).Profiles[0]
	assert.InDelta(t, 0.5, p.WindowSeconds, 0.001)
	require.NotEmpty(t, p.Methods)
	assert.Contains(t, p.Methods[0].Name, "Spin::")

	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	require.Len(t, d.Trials[0].Windows, 1)
	w := d.Trials[0].Windows[0]
	assert.EqualValues(t, 500e6, w.ToMonoNanos-w.FromMonoNanos)
	// The delay counts from the command's start. But gasm made the JVM's process earlier, and held it while gasm
	// itself started.
	held := w.FromMonoNanos - delay.Nanoseconds() - d.JVMs[0].StartMonoNanos
	assert.GreaterOrEqual(t, held, int64(0))
	assert.Less(t, held, took.Nanoseconds()-delay.Nanoseconds()-500e6, "the rest of gasm's run")
	inside, outside := int64(0), int64(0)
	for line := range strings.Lines(string(readFile(t, filepath.Join(dir, capture.SamplesFile)))) {
		m := sampleTime.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		seconds, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		switch mono := int64(math.Round(seconds * 1e9)); {
		case m[1] != strconv.Itoa(w.PID) || strings.Contains(line, "PERF_RECORD_LOST"): // busy machines lose records
		case w.FromMonoNanos <= mono && mono < w.ToMonoNanos:
			inside++
		default:
			outside++
		}
	}
	a := p.Account.Of(hottestEvent(&p))
	assert.Positive(t, inside)
	assert.Equal(t, inside, a.Profiled, "the samples of half a second")
	assert.Equal(t, outside, a.OutsideWindow)
}

// warmUp returns a delay after which Spin is at work: three times as long as a run of Spin that ends after its
// warm-up. On a busy machine, it may take more than a second until the JVM is loaded.
func warmUp(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	require.NoError(t, exec.Command("java", "-Dsec=0", "-cp", javaPrograms(t), "Spin").Run())
	return 3 * time.Since(began)
}

// sampleTime finds the pid and the time in a line of perf script.
var sampleTime = regexp.MustCompile(`\b(\d+)/\d+ +(\d+\.\d{9}): `)

// startSpin runs Spin under gasm. It waits until Spin is warm and its hot method has samples.
func startSpin(t *testing.T, args ...string) (cmd *exec.Cmd, out *lineWaiter, stderr *bytes.Buffer) {
	t.Helper()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	out, stderr = newLineWaiter("READY"), new(bytes.Buffer)
	cmd = exec.Command(binary, append(append([]string{"profile"}, args...), "--", "java", "-cp", classes, "Spin")...)
	temp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	t.Cleanup(func() { assertGone(t, temp) })
	cmd.Stdout, cmd.Stderr = out, stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	out.wait(t)
	gasmtest.AwaitWork(t, spinPID(t, out), 500*time.Millisecond)
	return cmd, out, stderr
}

// spinPID waits for Spin's line "READY 4711", and returns the process id in it.
func spinPID(t *testing.T, out *lineWaiter) (pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, text, _ := strings.Cut(out.String(), "READY ")
		word, _, complete := strings.Cut(text, "\n")
		pid, _ = strconv.Atoi(strings.TrimSuffix(word, "\r"))
		return complete && pid > 0
	}, hangs, time.Millisecond, "the whole line")
	return pid
}

// hangs is how long a test waits for a process to print something or to end. After that time, the test assumes that
// the process hangs. Even a busy machine needs much less.
const hangs = 3 * time.Minute

// A lineWaiter keeps the output that is written to it, and closes the channel seen when a certain word has come.
type lineWaiter struct {
	want string
	seen chan struct{}
	mu   sync.Mutex
	text bytes.Buffer
}

func newLineWaiter(want string) *lineWaiter {
	return &lineWaiter{want: want, seen: make(chan struct{})}
}

func (w *lineWaiter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := strings.Contains(w.text.String(), w.want)
	w.text.Write(b)
	if !told && strings.Contains(w.text.String(), w.want) {
		close(w.seen)
	}
	return len(b), nil
}

func (w *lineWaiter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (w *lineWaiter) wait(t *testing.T) {
	t.Helper()
	select {
	case <-w.seen:
	case <-time.After(hangs):
		t.Fatalf("%s did not come: %s", w.want, w)
	}
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(hangs):
		t.Fatal("gasm does not end")
	}
	return cmd.ProcessState.ExitCode()
}

// TestInterrupt sends SIGINT to gasm alone, as a script does by kill -INT.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	cmd, out, stderr := startSpin(t)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	assert.Equal(t, 130, exitCode(t, cmd), stderr)
	assert.Regexp(t, `(?m)^ +\d+\.\d+%.*Spin::spin`, out.String(), "the report of what there is")
	assert.NotContains(t, stderr.String(), "gasm:")
}

// TestCtrlC presses Ctrl-C on a terminal, which sends SIGINT to both gasm and the command, even if both streams of
// the command pass through gasm.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	ctrlC(t)
	assert.Regexp(t, `READY \d+\r\ngasm: window opened after \d+\.\d s\r\n`, ctrlC(t, "--window-start", "READY"))
	ctrlC(t, "--window-start", "READY", "--window-end", "sink", "--window-from", "stderr")
}

// ctrlC profiles Spin on a terminal until Ctrl-C, and returns what the terminal shows.
func ctrlC(t *testing.T, flags ...string) string {
	t.Helper()
	classes := javaPrograms(t)
	cmd := exec.Command(binary, slices.Concat([]string{"profile"}, flags,
		[]string{"--", "java", "-cp", classes, "Spin"})...)
	temp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	require.NoError(t, err)
	defer tty.Close()
	out := newLineWaiter("READY")
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	out.wait(t)
	gasmtest.AwaitWork(t, spinPID(t, out), 500*time.Millisecond)
	_, err = tty.Write([]byte{3})
	require.NoError(t, err)
	assert.Equal(t, 130, exitCode(t, cmd))
	<-read
	assert.Contains(t, out.String(), "Spin::spin")
	assert.Contains(t, out.String(), "\x1b[", "in colour on a terminal")
	assertGone(t, temp)
	return out.String()
}

// TestSamplerIsQuiet checks that the sampler takes almost no CPU time away from the command. A perf that polls the
// events of threads that have ended would take a whole core.
func TestSamplerIsQuiet(t *testing.T) {
	t.Parallel()
	for _, sampler := range []string{"native", "perf"} {
		t.Run(sampler, func(t *testing.T) {
			sideBySide(t, sampler) // CPU times are compared
			samplers[sampler](t)
			dir := filepath.Join(t.TempDir(), "capture")
			cmd, out, _ := startSpin(t, "--sampler", sampler, "--frequency", "1001", "--fixed-frequency", "-o", dir)
			pid := cmd.Process.Pid // gasm samples by itself
			if sampler == "perf" {
				pid = perfInto(t, dir)
			}
			// The sampler's work depends on the number of samples, and so on Spin's CPU time.
			before := cpuTicks("/proc/" + strconv.Itoa(pid))
			gasmtest.AwaitWork(t, spinPID(t, out), 2*time.Second)
			used := cpuTicks("/proc/"+strconv.Itoa(pid)) - before
			t.Logf("%s used %d ms of CPU time while Spin used 2 s", sampler, 10*used)
			assert.Less(t, used, int64(50), "a quarter of Spin's; a whole core would be as much as Spin's")
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			exitCode(t, cmd)
		})
	}
}

// perfInto returns the process id of the perf that writes into a folder.
func perfInto(t *testing.T, dir string) (pid int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		cmdline, _ := os.ReadFile(path)
		if (bytes.HasPrefix(cmdline, []byte("perf")) || bytes.Contains(cmdline, []byte("/perf\x00record"))) &&
			bytes.Contains(cmdline, []byte(dir)) {
			pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(t, err)
		}
	}
	require.NotZero(t, pid, "no perf at work")
	return pid
}

// TestKilledJVM kills the JVM with kill -9. Its log is cut off, but the report must have everything else.
func TestKilledJVM(t *testing.T) {
	for sampler, need := range samplers {
		t.Run(sampler, func(t *testing.T) {
			sideBySide(t, sampler)
			need(t)
			killJVM(t, sampler)
		})
	}
}

func killJVM(t *testing.T, sampler string) {
	dir := filepath.Join(t.TempDir(), "capture")
	cmd, out, stderr := startSpin(t, "--sampler", sampler, "-o", dir)
	pid := spinPID(t, out)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	assert.Equal(t, 137, exitCode(t, cmd), stderr)
	assert.Contains(t, out.String(), "Spin::spin")
	left, err := filepath.Glob(fmt.Sprintf("/tmp/hs_c*_pid%d.log", pid)) // the pattern is well-formed
	require.NoError(t, err)
	assert.Empty(t, left, "files of LogCompilation")
	r := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	p := readReport(t, []byte(r.stdout)).Profiles[0]
	assert.Contains(t, p.Methods[0].Name, "Spin::")
}

// TestKilledQuietJVM kills a JVM that compiles nothing more, so that nothing new appears in its log. gasm must
// nevertheless know its last methods, and have their code.
func TestKilledQuietJVM(t *testing.T) {
	t.Setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
	dir := filepath.Join(t.TempDir(), "capture")
	cmd, out, stderr := startSpin(t, "-o", dir)
	require.NoError(t, syscall.Kill(spinPID(t, out), syscall.SIGKILL))
	assert.Equal(t, 137, exitCode(t, cmd), stderr)
	r := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	p := readReport(t, []byte(r.stdout)).Profiles[0]
	assert.Equal(t, "Spin::spin", p.Regions[0].Method)
	assert.Equal(t, "c1, level 1", strings.TrimSuffix(p.Regions[0].Source, ", osr"))
	assert.NotEmpty(t, p.Regions[0].Lines)
}

// assertGone waits until there is no process with the folder temp in its environment. Samplers and JVMs inherit
// gasm's environment, so they have it. assertGone kills processes that do not end.
func assertGone(t *testing.T, temp string) {
	t.Helper()
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		left := map[int]string{} // command lines by pid
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte("TMPDIR="+temp)) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				left[pid] = strings.ReplaceAll(string(command), "\x00", " ")
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left running after gasm: %v", left)
			for pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// TestTermAtStart sends SIGTERM to gasm at the very start, when the command may not be running yet. gasm and the
// command must both end.
func TestTermAtStart(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
		temp := t.TempDir()
		cmd := exec.Command(binary, "profile", "--", "java", "-Dsec=3600", "-cp", classes, "Spin")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		require.NoError(t, cmd.Start())
		// gasm catches signals before it writes its first file.
		require.Eventually(t, func() bool {
			files, err := filepath.Glob(filepath.Join(temp, "gasm-*", "[^tl]*")) // not try-* and the lock, which come before
			return err == nil && len(files) > 0
		}, hangs, time.Millisecond, "gasm's first file")
		time.Sleep(after)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		assert.Equal(t, 143, exitCode(t, cmd), "after %v; it does not wait for the command", after)
		assertGone(t, temp)
	}
}

// TestKeysBeforeTheCommand presses Ctrl-\ or Ctrl-C while the command is held, before it runs. The command must not
// run, nothing may be left behind, and gasm must print exactly one line.
func TestKeysBeforeTheCommand(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	perf, err := exec.LookPath("perf")
	require.NoError(t, err)
	slow := t.TempDir() // has a fake perf that never finishes starting
	require.NoError(t, os.WriteFile(filepath.Join(slow, "perf"), []byte("#!/bin/sh\nsleep 3600\nexec '"+perf+"' \"$@\"\n"),
		0o755))
	for key, code := range map[byte]int{3: 130, 28: 131} {
		temp := t.TempDir()
		cmd := exec.Command(binary, "profile", "--sampler", "perf", "--", "touch", filepath.Join(temp, "ran"))
		cmd.Env = append(os.Environ(), "TMPDIR="+temp, "PATH="+slow+":"+os.Getenv("PATH"))
		tty, err := pty.Start(cmd)
		require.NoError(t, err)
		defer tty.Close()
		require.Eventually(t, func() bool { return len(childrenOf(cmd.Process.Pid)) == 2 }, hangs, time.Millisecond,
			"the held process and perf")
		_, err = tty.Write([]byte{key})
		require.NoError(t, err)
		shown, _ := io.ReadAll(tty) // EIO at its end
		assert.Equal(t, code, exitCode(t, cmd))
		assert.Regexp(t, `^(\^[\\C])?gasm: stopped before the command ran\r\n$`, string(shown))
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		assert.Empty(t, left)
		assertGone(t, temp)
	}
}

// childrenOf returns the ids of the processes that a process has started.
func childrenOf(pid int) (children []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, list := range lists {
		text, _ := os.ReadFile(list) // an error means that the thread has ended
		children = append(children, strings.Fields(string(text))...)
	}
	return children
}

// TestMistypedFlag checks that a flag that the JVM does not know ends the JVM, as it does without gasm.
func TestMistypedFlag(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	for name, java := range jdks(t) {
		if name > "jdk25" {
			continue // a newer JDK may lack a flag of gasm's
		}
		r := runGasm(t, []string{"profile", "--", java, "-XX:+UseGooGC", "-cp", classes, "Exit", "0"})
		assert.Equal(t, 1, r.code, name)
		assert.Contains(t, r.stdout+r.stderr, "UseGooGC", name)
	}
}
