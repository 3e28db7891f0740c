package live

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
	"github.com/gasm-profiler/gasm/top"
)

// startPhases starts a program that keeps a thread busy.
func startPhases(t *testing.T) *exec.Cmd {
	t.Helper()
	gasmtest.NeedNative(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 17, gasmtest.Testdata("programs", "Phases.java"))
	cmd := exec.Command(gasmtest.NeedJava(t), "-cp", classes, "Phases")
	_, err := cmd.StdinPipe() // the program ends with its input
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	gasmtest.Start(t, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "READY\n", line)
	return cmd
}

// cpuSeconds returns the CPU time that a process has taken.
func cpuSeconds(t *testing.T, pid int) float64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
	user, err := strconv.Atoi(fields[11])
	require.NoError(t, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(t, err)
	return float64(user+system) / 100
}

// A counter samples a process in the same way as a recording, and counts the samples.
type counter struct {
	set   *perfevent.Set
	mu    sync.Mutex
	times []int64 // of the samples, in ns of CLOCK_MONOTONIC
	lost  int64
}

// startCounter starts a counter. It stops at the end of the test.
func startCounter(t *testing.T, pid, hertz int) *counter {
	t.Helper()
	clock := perfevent.Event{Name: "cpu-clock", Type: unix.PERF_TYPE_SOFTWARE,
		Config: [3]uint64{unix.PERF_COUNT_SW_CPU_CLOCK}}
	set, err := perfevent.OpenRunning([]int{pid}, perfevent.Options{Events: []perfevent.Event{clock}, Frequency: hertz})
	require.NoError(t, err)
	c := &counter{set: set}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for !isClosed(stop) {
			set.Wait(20 * time.Millisecond)
			c.drain()
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		set.Close()
	})
	return c
}

func (c *counter) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set.Drain(false, func(r *perfevent.Record) {
		switch r.Kind {
		case perfevent.Sample:
			c.times = append(c.times, r.MonoNanos)
		case perfevent.Lost:
			c.lost += int64(r.Count)
		}
	})
}

// between returns the number of samples between two CLOCK_MONOTONIC times.
func (c *counter) between(from, to int64) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.times {
		if from <= at && at < to {
			n++
		}
	}
	return n
}

// TestSession checks that recordings that replace one another have each sample exactly once, all together. When the JVM
// has ended, it must still be possible to keep the last recording, at once and more than once.
//
// The CPU time says how many samples there may be, but not how many there must be: if a hypervisor stops a virtual CPU,
// the kernel counts some of that time as the program's, but the timer that takes the samples fires once only. So
// another sampler of the same kind, which lives through the same stops, counts how many there must be.
func TestSession(t *testing.T) {
	t.Parallel()
	jvm := startPhases(t)
	pid := jvm.Process.Pid
	jvms, err := attach.Choose(t.Context(), []string{strconv.Itoa(pid)})
	require.NoError(t, err)
	const hertz = 199
	m := top.NewModel(10, disasm.ATT)
	before := cpuSeconds(t, pid)
	beside := startCounter(t, pid, hertz)
	s, err := Start(t.Context(), m, Options{Gasm: "test", JVMs: jvms, Frequency: hertz, FixedFrequency: true,
		Counters: []sampler.Event{sampler.ParseEvent("cpu-clock")}, Segment: time.Millisecond})
	require.NoError(t, err)
	defer s.Close()
	began := monotonic.Nanos()
	// The two samplers' timers fire at different moments, so if there are few samples, a difference of their numbers
	// proves little.
	const enough = 200
	for turns, deadline := 0, time.Now().Add(2*time.Minute); turns < 3 || beside.between(began, math.MaxInt64) < enough; {
		require.Less(t, time.Now(), deadline)
		last := s.present
		time.Sleep(700 * time.Millisecond) // both recordings run in this time
		s.Step()
		m.Tick(monotonic.Nanos())
		if s.present != last {
			turns++
		}
	}
	least := beside.between(began, monotonic.Nanos())
	s.o.Segment = time.Hour // no further turns
	require.Eventually(t, func() bool { s.Step(); return s.next == nil }, time.Minute, time.Millisecond)
	require.NoError(t, jvm.Process.Kill())
	require.Eventually(t, func() bool { s.Step(); return len(s.Alive()) == 0 }, time.Minute, time.Millisecond)
	done := make(chan error, 1)
	for i := range 2 {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
		s.Keep(dir, 0, monotonic.Nanos(), func(err error) { done <- err })
		require.NoError(t, <-done)
		_, err := capture.ReadDescription(dir)
		require.NoError(t, err)
	}
	_ = jvm.Wait() // it was killed
	most := jvm.ProcessState.SystemTime().Seconds() + jvm.ProcessState.UserTime().Seconds() - before
	s.Close()
	m.Tick(monotonic.Nanos())
	got := m.Picture(top.SinceStart).Total
	t.Logf("%.0f samples in at most %.2f s of CPU time; beside it, there were %d (%d lost)", got, most, least, beside.lost)
	assert.LessOrEqual(t, got, 1.1*hertz*most+20)
	assert.GreaterOrEqual(t, got, 0.8*float64(least)-20)
}

// TestKnow: a JVM that is listed again is the same, although its start time on CLOCK_MONOTONIC differs a little each
// time. So its code, its threads and what its performance data said stay.
func TestKnow(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	s, err := Start(t.Context(), m, Options{})
	require.NoError(t, err)
	defer s.Close()
	pid := os.Getpid() // any process that runs
	s.know([]attach.Process{{PID: pid, StartMonoNanos: 1_000_000_000}})
	m.Observe(pid, 2e9, top.Activity{Threads: 5})
	w := s.jvms[pid]
	again := attach.Process{PID: pid, StartMonoNanos: 1_000_000_123}
	assert.False(t, s.isNew(&again))
	s.know([]attach.Process{again})
	assert.Same(t, w, s.jvms[pid])
	jvms := m.Picture(top.Last(10)).JVMs
	require.Len(t, jvms, 1)
	assert.EqualValues(t, 1_000_000_000, jvms[0].StartMonoNanos)
	assert.True(t, jvms[0].Known)

	w.ticks-- // as if another process had got the same id
	assert.True(t, s.isNew(&again))
	s.know([]attach.Process{again})
	assert.NotSame(t, w, s.jvms[pid])
	assert.False(t, m.Picture(top.Last(10)).JVMs[0].Known)
}

// TestKnowMissing: a JVM that runs has not ended because it is missing from a list.
func TestKnowMissing(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	s, err := Start(t.Context(), m, Options{})
	require.NoError(t, err)
	defer s.Close()
	cmd := exec.Command("sleep", "1000")
	gasmtest.Start(t, cmd)
	missing, listed := attach.Process{PID: cmd.Process.Pid}, attach.Process{PID: os.Getppid()} // any processes that run
	s.know([]attach.Process{missing, listed})
	s.know([]attach.Process{listed})
	running := func() (pids []int) {
		for _, j := range m.Picture(top.Last(10)).JVMs { // those that have ended without samples are not there
			if !j.Ended {
				pids = append(pids, j.PID)
			}
		}
		return pids
	}
	assert.ElementsMatch(t, []int{missing.PID, listed.PID}, running())

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	require.Eventually(t, func() bool { s.Step(); return s.jvms[missing.PID].ended }, time.Minute, time.Millisecond)
	s.know([]attach.Process{listed})
	assert.ElementsMatch(t, []int{listed.PID}, running())
}

// TestProblemOfMany: the end of one of many JVMs is no problem to tell of.
func TestProblemOfMany(t *testing.T) {
	for _, all := range []bool{false, true} {
		s := Session{}
		if all {
			s.o.Wanted = func(*attach.Process) bool { return true }
		}
		s.problem(fmt.Errorf("reading: %w", syscall.ESRCH))
		assert.Equal(t, all, s.Failure() == nil)
		s.problem(os.ErrPermission)
		assert.ErrorIs(t, s.Failure(), os.ErrPermission)
	}
}

// TestKeepAndClose checks that a recording that is to be kept is written, even if the session ends at once.
func TestKeepAndClose(t *testing.T) {
	t.Parallel()
	jvm := startPhases(t)
	jvms, err := attach.Choose(t.Context(), []string{strconv.Itoa(jvm.Process.Pid)})
	require.NoError(t, err)
	s, err := Start(t.Context(), top.NewModel(10, disasm.ATT),
		Options{Gasm: "test", JVMs: jvms, Frequency: 199, Counters: []sampler.Event{sampler.ParseEvent("cpu-clock")}})
	require.NoError(t, err)
	done := make(chan error, 1)
	dir := filepath.Join(t.TempDir(), "kept")
	s.Keep(dir, 0, monotonic.Nanos(), func(err error) { done <- err })
	s.Close()
	select {
	case err := <-done:
		require.NoError(t, err)
	default:
		require.FailNow(t, "done was not called")
	}
	_, err = capture.ReadDescription(dir)
	require.NoError(t, err)
}

// TestKeepFailed checks that a request to keep a recording is answered if the recording could not begin.
func TestKeepFailed(t *testing.T) {
	g := &segment{keep: make(chan keeping, 1)}
	var got error
	g.keep <- keeping{done: func(err error) { got = err }}
	g.giveUp()
	assert.ErrorIs(t, got, errNoRecording)
	g.giveUp() // there is no request now
}
