package live

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
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
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		}
	})
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

// TestSession: recordings that take the place of one another together have each sample once. When the JVM has ended, the
// last one can still be kept, at once and more than once.
func TestSession(t *testing.T) {
	t.Parallel()
	jvm := startPhases(t)
	pid := jvm.Process.Pid
	jvms, err := attach.Choose(t.Context(), []string{strconv.Itoa(pid)})
	require.NoError(t, err)
	const hertz = 199
	m := top.NewModel(10, disasm.ATT)
	before := cpuSeconds(t, pid)
	s, err := Start(t.Context(), m, Options{Gasm: "test", JVMs: jvms, Frequency: hertz, FixedFrequency: true,
		Counters: []sampler.Event{sampler.ParseEvent("cpu-clock")}, Segment: time.Millisecond})
	require.NoError(t, err)
	defer s.Close()
	began := cpuSeconds(t, pid)
	for turns, deadline := 0, time.Now().Add(2*time.Minute); turns < 3; {
		require.Less(t, time.Now(), deadline)
		last := s.present
		time.Sleep(700 * time.Millisecond) // both recordings run in this time
		s.Step()
		m.Tick(monotonic.Nanos())
		if s.present != last {
			turns++
		}
	}
	least := cpuSeconds(t, pid) - began
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
	t.Logf("%.0f samples in %.2f to %.2f s of CPU time", got, least, most)
	assert.LessOrEqual(t, got, 1.1*hertz*most+20)
	assert.GreaterOrEqual(t, got, 0.8*hertz*least-20)
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

// TestKeepAndClose: what is to be kept is written, also if the session ends at once.
func TestKeepAndClose(t *testing.T) {
	t.Parallel()
	jvm := startPhases(t)
	jvms, err := attach.Choose(t.Context(), []string{strconv.Itoa(jvm.Process.Pid)})
	require.NoError(t, err)
	s, err := Start(t.Context(), top.NewModel(10, disasm.ATT), Options{Gasm: "test", JVMs: jvms, Frequency: 199, Counters: []sampler.Event{sampler.ParseEvent("cpu-clock")}})
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

// TestKeepFailed: who wants to keep a recording that could not begin is told so.
func TestKeepFailed(t *testing.T) {
	g := &segment{keep: make(chan keeping, 1)}
	var got error
	g.keep <- keeping{done: func(err error) { got = err }}
	g.giveUp()
	assert.ErrorIs(t, got, errNoRecording)
	g.giveUp() // nobody wants to keep it now
}
