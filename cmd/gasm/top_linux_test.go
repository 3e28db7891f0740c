package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/processend"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A phasesJVM is a JVM that runs the program Phases. Its hottest method changes when it reads a line.
type phasesJVM struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPhases(t *testing.T, options ...string) *phasesJVM {
	t.Helper()
	gasmtest.NeedNative(t)
	j := &phasesJVM{cmd: exec.Command(gasmtest.NeedJava(t), append(options, "-cp", javaPrograms(t), "Phases")...)}
	var err error
	j.in, err = j.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := j.cmd.StdoutPipe()
	require.NoError(t, err)
	j.out = bufio.NewReader(out)
	gasmtest.Start(t, j.cmd)
	j.expect(t, "READY")
	return j
}

// exactLines are JVM options with which each instruction has the line from which it was compiled.
var exactLines = []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"}

func (j *phasesJVM) pid() string { return strconv.Itoa(j.cmd.Process.Pid) }

// expect checks that the next line of the program's output is the given one.
func (j *phasesJVM) expect(t *testing.T, line string) {
	t.Helper()
	got, err := j.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, line+"\n", got)
}

// tell sends a line to the program, and waits for the line that answers it.
func (j *phasesJVM) tell(t *testing.T, line, answer string) {
	t.Helper()
	_, err := io.WriteString(j.in, line+"\n")
	require.NoError(t, err)
	j.expect(t, answer)
}

// warm waits until the program's thread has worked for so long that HotSpot does not compile its hottest method again:
// the thread calls the method some hundred times per second of CPU time, and HotSpot compiles a method after several
// hundred calls.
func (j *phasesJVM) warm(t *testing.T) {
	t.Helper()
	const enough = 2 * time.Second
	worked := func() (most time.Duration) {
		for _, tid := range perfevent.Threads(j.cmd.Process.Pid) {
			dir := fmt.Sprintf("/proc/%d/task/%d/", j.cmd.Process.Pid, tid)
			name, _ := os.ReadFile(dir + "comm") // an error means that the thread has ended
			times, _ := os.ReadFile(dir + "schedstat")
			if nanos, err := strconv.ParseInt(strings.SplitN(string(times), " ", 2)[0], 10, 64); err == nil &&
				string(name) == "hot-worker\n" {
				most = max(most, time.Duration(nanos))
			}
		}
		return most
	}
	require.Eventually(t, func() bool { return worked() >= enough }, 2*time.Minute, 50*time.Millisecond, "%v", enough)
}

// startTop starts gasm top in a terminal, and waits for its first picture with samples.
func startTop(t *testing.T, x *tmux, j *phasesJVM, args ...string) {
	t.Helper()
	x.line(strings.Join(append([]string{binary, "top"}, append(args, j.pid())...), " "))
	x.await("alpha is the hottest method", func(s string) bool {
		return strings.Contains(screenRow(s, 5),
			"Phases::alpha")
	})
}

// screenRow returns a row of a screen, counted from 0. It returns "" if there is no such row.
func screenRow(screen string, n int) string {
	rows := strings.Split(screen, "\n")
	if n >= len(rows) {
		return ""
	}
	return rows[n]
}

// TestTop uses gasm top by pressing keys. Each view must show the method that is known to be the program's hottest
// one, and must follow when another method becomes the hottest one. Afterwards, the terminal must be as before.
func TestTop(t *testing.T) {
	t.Parallel()
	j := startPhases(t, exactLines...)
	x := startTmux(t)
	before := x.modes("before")
	startTop(t, x, j)
	row := func(n int, parts ...string) func(string) bool {
		return func(s string) bool {
			for _, p := range parts {
				if !strings.Contains(screenRow(s, n), p) {
					return false
				}
			}
			return true
		}
	}
	const title, first = 4, 5
	assert.Regexp(t, `pid `+j.pid()+` Phases  JDK \d+.*threads \d+`, screenRow(x.screen(), 0))
	for _, step := range []struct {
		what, key string
		wanted    func(string) bool
	}{
		{"the program with its hottest method", "1", row(first, j.pid(), "Phases", "alpha")},
		{"its methods", "Enter", row(first, "c2, level 4", "Phases::alpha")},
		{"the frames, with the hottest line", "3", row(first, "Phases::alpha:"+phasesLine(t, "hottest line of alpha"))},
		{"the code of the frame", "Enter", row(title, "Phases::alpha", "hottest loop")},
		{"back", "Escape", row(title, "inlining undone")},
		{"the threads", "t", row(first, "app", "hot-worker", "Phases::alpha")},
		{"the callers", "5", func(s string) bool {
			return strings.Contains(screenRow(s, first), "Phases::alpha") &&
				strings.Contains(screenRow(s, first+1), "Phases::first")
		}},
		{"the events", "e", row(title, "EVENT")},
		{"the keys", "?", row(1, "Keys")},
		{"any key", "x", row(title, "EVENT")},
		{"the methods", "2", row(first, "Phases::alpha")},
		{"a filter", "/", func(s string) bool { return strings.Contains(s, "filter:") }},
		{"without a match", "~", func(s string) bool { return !strings.Contains(s, "Phases::alpha") }},
		{"no filter", "Escape", row(first, "Phases::alpha")},
		{"the pause", "p", row(0, "PAUSED")},
		{"its end", "p", func(s string) bool { return !strings.Contains(s, "PAUSED") }},
		{"all the time", "m", row(0, "since start")},
		{"decaying", "m", row(0, "decaying")},
		{"the last seconds", "m", row(0, "last 10 s")},
	} {
		x.keys(step.key)
		x.await(step.what, step.wanted)
	}

	x.keys("Enter")
	code := x.await("the code", row(title, "Phases::alpha", "hottest loop"))
	m := regexp.MustCompile(`hottest loop 0x[0-9a-f]+: (\d+)%`).FindStringSubmatch(code)
	require.NotNil(t, m, "%s", code)
	share, _ := strconv.Atoi(m[1])
	assert.Greater(t, share, 80, "of the samples in alpha are in its loop")
	assert.Regexp(t, `\d\.\d\d%.*0x[0-9a-f]{12}:`, code, "instructions with samples are in sight")

	x.resize(20, 5)
	x.await("a small screen", func(s string) bool {
		return strings.HasPrefix(s, "gasm top") && strings.Contains(s, "q quit") && strings.Count(s, "\n") <= 5
	})
	x.resize(80, 24)
	x.await("the screen as before", row(title, "Phases::alpha", "hottest loop"))

	x.keys("2")
	checkPhases(t, x, j)

	j.tell(t, "gc", "GC 1")
	x.keys("e")
	counted := regexp.MustCompile(`^GC [1-9]`)
	// the head shows it for 10 s only
	x.await("the collection, and in the head the time that it took", func(s string) bool {
		return strings.Contains(screenRow(s, first)+screenRow(s, first+1), "GC ") && counted.MatchString(screenRow(s, 2))
	})

	x.keys("w", "c")
	written := x.await("the capture is written", func(s string) bool { return strings.Contains(s, "written: gasm-top-") })
	checkWritten(t, filepath.Join(x.dir, regexp.MustCompile(`gasm-top-\d+-\d+`).FindString(written)))
	x.keys("w", "p")
	x.await("the page is written", func(s string) bool { return regexp.MustCompile(`written: gasm-top-\d+-\d+\.html`).MatchString(s) })

	x.keys("q")
	x.await("the shell", func(s string) bool { return !strings.Contains(s, "gasm top  pid") })
	assert.Equal(t, before, x.modes("after"))
}

// phasesLine returns the number of the line in Phases.java that contains a text.
func phasesLine(t *testing.T, text string) string {
	t.Helper()
	for i, line := range strings.Split(string(readFile(t, gasmtest.Testdata("programs", "Phases.java"))), "\n") {
		if strings.Contains(line, text) {
			return strconv.Itoa(i + 1)
		}
	}
	require.FailNow(t, "no such line")
	return ""
}

// checkPhases changes the program's phase a few times. Each time, the screen must soon show the new hottest method as
// the hottest one of the last second. On an idle machine, that must happen within two seconds after the change. On a
// busy one, the program, gasm, tmux and this test get no CPU for some of the time. So a thread that needs about as much
// CPU time as they do measures how long it is delayed, and the test allows that much more time.
func checkPhases(t *testing.T, x *tmux, j *phasesJVM) {
	t.Helper()
	const limit = 2 * time.Second
	for i := range 4 {
		method := []string{"beta", "alpha"}[i%2]
		now := regexp.MustCompile(`(?m)^ *\d+\.\d+% +(\d+)\.\d+% .*Phases::` + method + `$`)
		delay := measureDelay()
		changed := j.change(t, method)
		x.await(method+" has most of the last second", func(s string) bool {
			m := now.FindStringSubmatch(s)
			if m == nil {
				return false
			}
			share, _ := strconv.Atoi(m[1])
			return share >= 50
		})
		took := time.Duration(monotonic.Nanos() - changed)
		allowed := limit + delay(changed)
		t.Logf("%s was on the screen after %v; allowed were %v", method, took.Round(time.Millisecond),
			allowed.Round(time.Millisecond))
		assert.LessOrEqual(t, took, allowed, method)
	}
}

// change changes the program's phase. It returns the CLOCK_MONOTONIC time in ns at which the program did so.
func (j *phasesJVM) change(t *testing.T, method string) (monoNanos int64) {
	t.Helper()
	_, err := io.WriteString(j.in, "\n")
	require.NoError(t, err)
	line, err := j.out.ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscanf(line, "PHASE "+method+" %d\n", &monoNanos) // System.nanoTime uses CLOCK_MONOTONIC
	require.NoError(t, err, line)
	return monoNanos
}

// measureDelay starts a thread that waits for 100 ms and then computes for 5 ms, again and again. Its result, since,
// ends the thread, and returns how much longer than that the thread took in total after a CLOCK_MONOTONIC time, because
// the kernel woke it up late, or ran other threads while it wanted to compute.
func measureDelay() (since func(monoNanos int64) time.Duration) {
	const pause, work = 100 * time.Millisecond, 5 * time.Millisecond
	type turn struct {
		end  int64
		late time.Duration
	}
	stop, all := make(chan struct{}), make(chan []turn)
	go func() {
		runtime.LockOSThread()
		var turns []turn
		for stopped := false; !stopped; {
			began := time.Now()
			select {
			case <-stop:
				stopped = true
			case <-time.After(pause):
			}
			waited := min(time.Since(began), pause)
			for from := threadTime(); threadTime()-from < work; {
			}
			turns = append(turns, turn{monotonic.Nanos(), time.Since(began) - waited - work})
		}
		all <- turns
	}()
	return func(monoNanos int64) (sum time.Duration) {
		close(stop)
		for _, turn := range <-all {
			sum += min(max(turn.late, 0), max(0, time.Duration(turn.end-monoNanos)))
		}
		return sum
	}
}

// threadTime returns the CPU time of the current OS thread.
func threadTime() time.Duration {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at) // this clock always exists
	return time.Duration(at.Nano())
}

// checkWritten checks a capture that the key w has written: gasm report must be able to read it, and its windows must
// be the last seconds.
func checkWritten(t *testing.T, dir string) {
	t.Helper()
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	require.Len(t, d.Trials, 1)
	require.NotEmpty(t, d.Trials[0].Windows)
	for _, w := range d.Trials[0].Windows {
		length := time.Duration(w.ToMonoNanos - w.FromMonoNanos)
		assert.Greater(t, length, time.Duration(0))
		assert.LessOrEqual(t, length, 10*time.Second+time.Millisecond)
	}
	got := runGasm(t, []string{"report", "--no-pager", dir})
	assert.Zero(t, got.code, "%s", got.stderr)
	assert.Contains(t, got.stdout, "Phases::")
}

// TestTopTerminal checks that the terminal is as before, however gasm top ends. The test finds gasm's processes by
// their names: the process that the shell has started only waits, while its child shows the screen.
func TestTopTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kill func(t *testing.T, x *tmux, j *phasesJVM, guard, worker int)
	}{
		{"kill -9 of the JVM", func(t *testing.T, x *tmux, j *phasesJVM, _, _ int) {
			require.NoError(t, j.cmd.Process.Kill())
			_ = j.cmd.Wait() // it was killed
			s := x.await("the end of the JVM", func(s string) bool { return strings.Contains(s, "has ended") })
			assert.Contains(t, s, "Phases::alpha", "the last picture stays")
			x.keys("q")
		}},
		{"kill -9 of gasm", func(t *testing.T, _ *tmux, _ *phasesJVM, _, worker int) {
			require.NoError(t, syscall.Kill(worker, syscall.SIGKILL))
		}},
		{"kill -9 of the gasm that waits", func(t *testing.T, _ *tmux, _ *phasesJVM, guard, _ int) {
			require.NoError(t, syscall.Kill(guard, syscall.SIGKILL))
		}},
		{"SIGTERM", func(t *testing.T, _ *tmux, _ *phasesJVM, guard, _ int) {
			require.NoError(t, syscall.Kill(guard, syscall.SIGTERM))
		}},
		{"a crash", func(t *testing.T, _ *tmux, _ *phasesJVM, _, worker int) { // Go prints all goroutines' stacks
			require.NoError(t, syscall.Kill(worker, syscall.SIGABRT))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := startPhases(t)
			x := startTmux(t)
			before := x.modes("before")
			startTop(t, x, j)
			worker, guard := topProcesses(t, j.pid())
			workerTicks, guardTicks := processend.StartTicks(worker), processend.StartTicks(guard)
			c.kill(t, x, j, guard, worker)
			require.Eventually(t, func() bool {
				return processend.HasEnded(worker, workerTicks) && processend.HasEnded(guard, guardTicks)
			}, time.Minute, 10*time.Millisecond, "gasm ends")
			x.await("the shell", func(s string) bool { return !strings.Contains(s, "gasm top  pid") })
			assert.Equal(t, before, x.modes("after"))
		})
	}
}

// topProcesses returns the process of gasm top that shows the screen (worker), and the one that waits for it (guard).
// The last argument of both is the JVM's process id. A child that gasm has forked has the same arguments until it calls
// exec, so topProcesses waits until there are only these two processes.
func topProcesses(t *testing.T, jvm string) (worker, guard int) {
	t.Helper()
	var parents map[int]int
	require.Eventually(t, func() bool {
		parents = processesOf(t, jvm)
		for pid, parent := range parents {
			if _, ok := parents[parent]; ok && len(parents) == 2 {
				worker, guard = pid, parent
				return true
			}
		}
		return false
	}, time.Minute, 10*time.Millisecond, "two processes of gasm top, one the parent of the other: %v", &parents)
	return worker, guard
}

// processesOf returns the processes that have the arguments of gasm top for the JVM, each with its parent.
func processesOf(t *testing.T, jvm string) (parents map[int]int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	parents = map[int]int{}
	for _, path := range all {
		text, err := os.ReadFile(path) // it may have ended
		if err != nil || !strings.Contains(string(text), "\x00top\x00") ||
			!strings.HasSuffix(string(text), "\x00"+jvm+"\x00") {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		if err != nil {
			continue // it has ended in the meantime
		}
		fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	return parents
}

// TestTopBatch checks that gasm top prints pictures as text, as many as asked for. With TERM=dumb, it does so without
// being asked.
func TestTopBatch(t *testing.T) {
	t.Parallel()
	j := startPhases(t, exactLines...)
	j.warm(t)
	// In ten seconds, even a JVM that gets 1 % of a processor has samples.
	out, err := exec.Command(binary, "top", "--batch", "-n", "2", "-d", "10", "--source", gasmtest.Testdata("programs"),
		j.pid()).CombinedOutput()
	require.NoError(t, err, "%s", out)
	gasmtest.TerminalText(t, string(out), false)
	assert.Equal(t, 2, strings.Count(string(out), "gasm top  pid "+j.pid()+" Phases"), "%s", out)
	for _, want := range []string{"Phases::alpha:" + phasesLine(t, "hottest line of alpha") + "  sum += a[i] * round;",
		"hot-worker", "← Phases::first", "hottest loop"} {
		assert.Contains(t, string(out), want)
	}
	assert.Equal(t, 2, strings.Count(string(out), "compile id"), "each has the code: %s", out)
	assert.NotContains(t, string(out), "CPU 0.00", "%s", out)
	cmd := exec.Command(binary, "top", j.pid())
	text, err := cmd.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(text), "stdout is not a terminal; --batch prints text")
	x := startTmux(t)
	x.line(fmt.Sprintf("TERM=dumb %s top -n 1 -d 10 %s; echo $?", binary, j.pid()))
	x.await("text", func(s string) bool { return strings.Contains(s, "   0x") && strings.Contains(s, "\n0\n") })
}

// TestTopLooks checks gasm top without colours, without UTF-8, and for all JVMs.
func TestTopLooks(t *testing.T) {
	t.Parallel()
	j := startPhases(t, "-XX:-UsePerfData")
	x := startTmux(t, "NO_COLOR=1")
	x.line("export LC_ALL=C")
	startTop(t, x, j)
	x.keys("6")
	s := x.await("code", func(s string) bool { return strings.Contains(s, "hottest loop") })
	assert.NotRegexp(t, `[^\x00-\x7f]`, s)
	assert.Contains(t, screenRow(s, 2), "GC -  safepoints -", "without performance data")
	colored := x.run("capture-pane", "-p", "-e")
	assert.NotRegexp(t, `\x1b\[(\d+;)*(3[0-7]|38|9[0-7])`, colored)
	x.keys("q")
	x.await("the shell", func(s string) bool { return !strings.Contains(s, "gasm top  pid") })
	x.line(binary + " top --view programs")
	x.await("the view", func(s string) bool { return strings.Contains(screenRow(s, 4), "PROGRAM") })
	x.keys("/") // the screen may be too small to show all JVMs of the machine
	x.await("the filter", func(s string) bool { return strings.Contains(s, "filter:") })
	x.keys(j.pid(), "Enter")
	x.await("the program among all", func(s string) bool { return strings.Contains(s, j.pid()+"  Phases") })
	x.keys("q")
}

// TestTopLong measures for ten minutes how much CPU time gasm top takes while it shows a view, and how its memory
// grows. It needs -long.
func TestTopLong(t *testing.T) {
	if !gasmtest.Long() {
		return // it takes 11 minutes
	}
	j := startPhases(t)
	x := startTmux(t)
	startTop(t, x, j, "--view", "methods")
	x.keys("6")
	worker, _ := topProcesses(t, j.pid())
	time.Sleep(time.Minute) // in the first minute, code is decoded and caches are filled
	used := func() resources {
		u := resourcesOf(worker)
		require.Positive(t, u.memory, "it has ended")
		return u
	}
	began, start, most := time.Now(), used(), 0
	for time.Since(began) < 10*time.Minute {
		time.Sleep(10 * time.Second)
		most = max(most, used().memory)
	}
	share, first := float64(used().cpu-start.cpu)/float64(time.Since(began)), start.memory
	t.Logf("%.2f %% of a processor; memory after a minute %d KiB, at most %d KiB later", 100*share, first, most)
	assert.Less(t, share, 0.02)
	assert.Less(t, most, first+first/4+16<<10)
}
