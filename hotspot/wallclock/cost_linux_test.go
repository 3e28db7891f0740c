package wallclock

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

// TestManyThreads records thousands of threads, of which 100 run now and then. The recorder takes about 2 % of a
// processor after it has looked at all threads once.
func TestManyThreads(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNoRaceDetector(t)
	jdks := gasmtest.NeedEachJDK(t, wanted)
	threads := 2000
	if gasmtest.Long() {
		threads = 5000
	}
	p := start(t, jdks[len(jdks)-1], "Waits", "50", strconv.Itoa(threads-1000), "900", "0", "0", "-")
	length := 15 * time.Second
	x := p.record(t, Options{}, func() { time.Sleep(length) })
	for x.result.First == 0 && length < 4*time.Minute { // a slow machine has not looked at all threads yet
		length *= 2
		x = p.record(t, Options{}, func() { time.Sleep(length) })
	}
	require.Positive(t, x.result.First, "%+v", x.result)
	steady := x.result.CPU - x.result.First - x.result.Last
	share := steady.Seconds() / (length - x.result.FirstTook).Seconds()
	t.Logf("%+v: %.2f %% of a processor", x.result, 100*share)
	assert.GreaterOrEqual(t, x.result.Threads, threads)
	assert.Less(t, share, 0.03)
	idle, all, unseen := int64(0), int64(0), int64(0)
	for _, s := range x.of("idle") {
		if s.State == wall.Unseen {
			unseen += s.Blocked
			continue
		}
		all += s.ToMonoNanos - s.FromMonoNanos
		if s.State == wall.Park {
			idle += s.Blocked
			require.Regexp(t, `Waits::idle\n`, x.javaFrames(s))
		}
	}
	assert.InDelta(t, 1, float64(idle)/float64(all), 0.01)
	// A thread is unseen until the recorder has looked at it for the first time.
	first := int64(x.result.FirstTook) * int64(threads-1000)
	assert.LessOrEqual(t, unseen, first+all/100, "unseen; the first looks took %v", x.result.FirstTook)
	assert.Equal(t, threads-1000, x.threadsNamed("idle"))
}

// TestVirtualThreads records a JVM with 10 000 virtual threads.
func TestVirtualThreads(t *testing.T) {
	t.Parallel()
	jdks := gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature == 25 })
	p := start(t, jdks[0], "Waits", "0", "2000", "0", "0", "10000", "-")
	x := p.record(t, Options{}, func() { time.Sleep(3 * time.Second) })
	t.Logf("%+v", x.result)
	assert.GreaterOrEqual(t, x.result.Threads, 2000)
}

// interrupted matches the lines that strace prints if a thread is signalled or stopped. strace itself interrupts system
// calls when it attaches; they are then restarted (restart_syscall).
var interrupted = regexp.MustCompile(`EINTR|= \? ERESTART|--- (SIG|stopped)|\+\+\+ killed`)

// TestUndisturbed checks with strace that the threads of a JVM get no signal and are not stopped, and that none of
// their system calls is interrupted.
func TestUndisturbed(t *testing.T) {
	gasmtest.NeedNative(t)
	strace := gasmtest.NeedTool(t, "strace", "install strace")
	jdks := gasmtest.NeedEachJDK(t, wanted)
	p := start(t, jdks[len(jdks)-1], "Doing", "")
	file := filepath.Join(t.TempDir(), "strace")
	tracer := exec.Command(strace, "-f", "-o", file, "-p", strconv.Itoa(p.Cmd.Process.Pid))
	messages := filepath.Join(t.TempDir(), "messages")
	stderr, err := os.Create(messages)
	require.NoError(t, err)
	defer stderr.Close()
	tracer.Stderr = stderr
	require.NoError(t, tracer.Start())
	t.Cleanup(func() {
		_ = tracer.Process.Signal(os.Interrupt)
		_ = tracer.Wait()
	})
	traced := func() string {
		text, _ := os.ReadFile(file) // strace has not created it yet
		return string(text)
	}
	require.Eventually(t, func() bool { return strings.Count(traced(), "\n") > 20 }, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(messages)
		return err == nil && strings.Contains(string(text), " attached")
	}, time.Minute, 50*time.Millisecond)
	time.Sleep(time.Second) // the threads that strace has stopped go on
	before := len(traced())
	x := p.record(t, Options{Hertz: 100}, func() { time.Sleep(3 * time.Second) })
	for line := range strings.Lines(traced()[before:]) {
		assert.NotRegexp(t, interrupted, line)
	}
	assert.Positive(t, x.result.Looks)
	assert.Greater(t, len(traced()), before, "some threads wake up by themselves")
}
