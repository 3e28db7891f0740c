package collect

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// attachThreads attaches to a program whose threads start and end all the time, also while the events are being
// opened. It samples the program for 2 s.
func attachThreads(t *testing.T) {
	t.Helper()
	gasmtest.NeedNative(t)
	x := startHelper(t, "threads", "20")
	pid := x.cmd.Process.Pid
	time.Sleep(300 * time.Millisecond)
	files := openFiles(t)
	n, err := AttachNative(t.Context(), Options{PID: pid, Events: eventsOf("cpu-clock"), Frequency: 999, Dir: t.TempDir()})
	require.NoError(t, err)
	from, began := processTime(t, pid), monotonic.Nanos()
	time.Sleep(2 * time.Second)
	cpu, ended := processTime(t, pid)-from, monotonic.Nanos()
	t.Logf("%d descriptors, %d KiB", n.set.Descriptors(), n.set.Memory()>>10)
	require.NoError(t, n.Stop(t.Context()))
	all, lost := written(t, n)
	samples, threads := 0, map[int]bool{}
	for _, s := range all {
		assert.Equal(t, pid, s.PID)
		if s.TID != -1 { // the thread was ending
			assert.Equal(t, "exe", s.Thread, "%+v", s)
			threads[s.TID] = true
		}
		if began <= s.MonoNanos && s.MonoNanos < ended {
			samples++
		}
		assert.NotEmpty(t, s.Module, "%+v", s)
	}
	t.Logf("%d threads", len(threads))
	assert.Greater(t, len(threads), 20)
	comparedWithTime(t, samples+len(threads)/2, lost, cpu) // on average, each thread loses half a sample
	assert.Equal(t, files, openFiles(t))
	require.NoError(t, x.stdin.Close())
	require.NoError(t, x.cmd.Wait(), "the program goes on")
}

func TestAttachThreads(t *testing.T) { attachThreads(t) }

// TestAttachFewFiles checks that the whole machine is sampled if there are too few descriptors for all
// threads.
func TestAttachFewFiles(t *testing.T) {
	gasmtest.NeedRoot(t)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	few := old
	few.Cur = uint64(openFiles(t) + 25)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
	attachThreads(t)
}

// TestAttachChildren checks that the children of a process that was attached to are followed, too.
func TestAttachChildren(t *testing.T) {
	gasmtest.NeedNative(t)
	x := collecttest.Hold(t, `(`+collecttest.Busy+`) & exec sh -c '`+collecttest.Busy+`'`)
	n, err := AttachNative(t.Context(), Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 999,
		Dir: t.TempDir()})
	require.NoError(t, err)
	x.Release(t)
	time.Sleep(500 * time.Millisecond)
	require.NoError(t, n.Stop(t.Context()))
	samples, _ := written(t, n)
	assert.Len(t, byPID(samples), 2)
	for _, s := range samples {
		assert.Equal(t, "sh", s.Thread)
		assert.True(t, s.Module != "", "%+v", s)
	}
}

// TestAttachSeveral checks that several processes are sampled into one text, even if one of them has
// ended.
func TestAttachSeveral(t *testing.T) {
	gasmtest.NeedNative(t)
	gone := startHelper(t, "threads", "1")
	require.NoError(t, gone.cmd.Process.Kill())
	_ = gone.cmd.Wait()
	first, second := startHelper(t, "threads", "2"), startHelper(t, "threads", "3")
	pids := []int{first.cmd.Process.Pid, second.cmd.Process.Pid}
	n, err := AttachNative(t.Context(), Options{PID: gone.cmd.Process.Pid, MorePIDs: pids, Events: eventsOf("cpu-clock"),
		Frequency: 999, Dir: t.TempDir()})
	require.NoError(t, err)
	time.Sleep(500 * time.Millisecond)
	require.NoError(t, n.Stop(t.Context()))
	samples, _ := written(t, n)
	of := byPID(samples)
	assert.Len(t, of, 2)
	for _, pid := range pids {
		assert.Positive(t, of[pid])
	}
	for _, s := range samples {
		assert.NotEmpty(t, s.Module, "%+v", s)
	}
}

func TestAttachRefused(t *testing.T) {
	gasmtest.NeedNative(t)
	gone := startHelper(t, "threads", "1")
	require.NoError(t, gone.cmd.Process.Kill())
	_ = gone.cmd.Wait()
	dir := t.TempDir()
	_, err := AttachNative(t.Context(), Options{PID: gone.cmd.Process.Pid, Events: eventsOf("cpu-clock"), Frequency: 999,
		Dir: dir})
	var refused *failure.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, failure.ReasonTargetGone, refused.Reason)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestThreadName checks that if a thread ended before gasm read its name, it gets the name of its process.
func TestThreadName(t *testing.T) {
	d := &drain{threads: map[int32]thread{7: {name: "java"}, 8: {name: "worker"}, 9: {}}}
	for tid, want := range map[int32]string{7: "java", 8: "worker", 9: "java", 10: "java", -1: ""} {
		assert.Equal(t, want, d.threadName(&perfevent.Record{PID: 7, TID: tid}), tid)
	}
	assert.Empty(t, d.threadName(&perfevent.Record{PID: 11, TID: 12}))
}
