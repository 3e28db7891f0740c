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

// Exit code, arguments, stdin and stdout are the command's own.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	r := runGasm(t, []string{"profile", "--", "java", "-cp", classes, "Exit", "7", "echo", "a b", "--top"}, withStdin("line 1\nline 2\n"))
	assert.Equal(t, 7, r.code)
	own, report, ok := strings.Cut(r.stdout, "\ngasm: ")
	require.True(t, ok, r.stdout)
	assert.Equal(t, "arg 7\narg echo\narg a b\narg --top\nline 1\nline 2\n", own)
	assert.Contains(t, report, "Exit", "the report is made all the same")
	assert.Empty(t, r.said(), "a command that fails is no failure of gasm's")
}

// JVMs that a script starts are found; its other processes are not counted.
func TestScript(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes := javaPrograms(t)
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, []string{"profile", "--format", "json", "--report", file, "--", "sh", "-c",
		`java -cp "$0" Exit 0 one; java -cp "$0" Exit 0 two; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 5`, classes})
	assert.Equal(t, 5, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p := readReport(t, text).Profiles[0]
	assert.Len(t, p.PIDs, 2)
	assert.Positive(t, p.Account.Of(hottestEvent(&p)).OtherProcess, "the shell's own loop")
}

// With --delay and --length the profile has the samples of that time and no others.
func TestDelayAndLength(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classes, dir := javaPrograms(t), filepath.Join(t.TempDir(), "capture")
	delay := max(time.Second, warmUp(t))
	began := time.Now()
	r := runGasm(t, []string{"profile", "--frequency", "1001", "--fixed-frequency", "--delay", delay.String(), "--length", "500ms", "-o", dir,
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
	// The delay counts from the command's start. Its process, which is the JVM's, was held before, for as long as gasm needed
	// to begin.
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
		case m[1] != strconv.Itoa(w.PID) || strings.Contains(line, "PERF_RECORD_LOST"): // which busy machines have
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

// warmUp returns a delay after which Spin is at work, with a margin: three times what a run of Spin takes that ends after
// its warm-up. On a busy machine its JVM may need more than a second to be loaded.
func warmUp(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	require.NoError(t, exec.Command("java", "-Dsec=0", "-cp", javaPrograms(t), "Spin").Run())
	return 3 * time.Since(began)
}

// sampleTime finds the pid and the time in a line of perf script.
var sampleTime = regexp.MustCompile(`\b(\d+)/\d+ +(\d+\.\d{9}): `)

// startSpin starts gasm over Spin, and waits until Spin is warm and there are samples of its hot method.
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

// spinPID returns the process id in Spin's line "READY 4711", which has begun to come.
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

// hangs is how long a test waits for a process to print or to end before it takes the process to hang. It is much longer
// than a busy machine needs.
const hangs = 3 * time.Minute

// A lineWaiter keeps output, and closes seen when a word has come.
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

// kill -INT of gasm alone, as a script does it.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	cmd, out, stderr := startSpin(t)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	assert.Equal(t, 130, exitCode(t, cmd), stderr)
	assert.Regexp(t, `(?m)^ +\d+\.\d+%.*Spin::spin`, out.String(), "the report of what there is")
	assert.NotContains(t, stderr.String(), "gasm:")
}

// Ctrl-C on a terminal goes to gasm and the command both, also where both of its streams pass
// through gasm.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	ctrlC(t)
	assert.Regexp(t, `READY \d+\r\ngasm: window opened after \d+\.\d s\r\n`, ctrlC(t, "--window-start", "READY"))
	ctrlC(t, "--window-start", "READY", "--window-end", "sink", "--window-from", "stderr")
}

// ctrlC profiles Spin on a terminal until Ctrl-C, and returns what is shown.
func ctrlC(t *testing.T, flags ...string) string {
	t.Helper()
	classes := javaPrograms(t)
	cmd := exec.Command(binary, slices.Concat([]string{"profile"}, flags, []string{"--", "java", "-cp", classes, "Spin"})...)
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

// The sampler takes next to nothing of the command's processor. (A perf that
// polls for threads that are gone takes a whole core.)
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
			// What the sampler does depends on the samples, and so on the CPU time of Spin.
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

// perfInto finds the perf that writes into a folder.
func perfInto(t *testing.T, dir string) (pid int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		cmdline, _ := os.ReadFile(path)
		if (bytes.HasPrefix(cmdline, []byte("perf")) || bytes.Contains(cmdline, []byte("/perf\x00record"))) && bytes.Contains(cmdline, []byte(dir)) {
			pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
			require.NoError(t, err)
		}
	}
	require.NotZero(t, pid, "no perf at work")
	return pid
}

// kill -9 of the JVM: its log is cut, the rest is there.
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

// A JVM that has compiled all it will compile writes nothing more: gasm knows of its
// last methods all the same, and has their code when it is killed.
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

// assertGone waits until no process with this folder in its environment is left: neither
// a sampler nor a JVM, which have gasm's environment. It kills those that do not end.
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

// A signal to stop at the very start stops gasm and the command, whichever of
// the two it finds.
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

// Ctrl-\ and Ctrl-C while the command is held, before it runs: nothing runs, nothing is
// left, and nothing is shown but one line.
func TestKeysBeforeTheCommand(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	perf, err := exec.LookPath("perf")
	require.NoError(t, err)
	slow := t.TempDir() // has a perf that takes longer to start than anybody waits
	require.NoError(t, os.WriteFile(filepath.Join(slow, "perf"), []byte("#!/bin/sh\nsleep 3600\nexec '"+perf+"' \"$@\"\n"), 0o755))
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

// childrenOf gives the processes that a process has started.
func childrenOf(pid int) (children []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has ended
		children = append(children, strings.Fields(string(text))...)
	}
	return children
}

// A flag that the JVM does not know ends it, as without gasm.
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
