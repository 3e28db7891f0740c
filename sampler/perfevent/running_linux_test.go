package perfevent

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// startBusy starts a thread of this process that computes until the test ends, and returns its id.
func startBusy(t *testing.T) int {
	t.Helper()
	tid := make(chan int)
	var stop atomic.Bool
	go func() {
		runtime.LockOSThread() // it ends with the goroutine
		tid <- unix.Gettid()
		for !stop.Load() {
		}
	}()
	t.Cleanup(func() { stop.Store(true) })
	return <-tid
}

// openFiles returns how many file descriptors this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

// limitFiles limits the open files of this process, so that it can open only n more until the test ends.
func limitFiles(t *testing.T, n int) {
	t.Helper()
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	var more []int
	for range n {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		more = append(more, fd)
	}
	limit := old
	limit.Cur = uint64(more[n-1]) + 1 // the kernel takes the lowest number that is free
	for _, fd := range more {
		unix.Close(fd)
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	t.Cleanup(func() { assert.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) })
}

// TestOpenSomeThreads: if there are too many open files for all threads, those that are open already stay so.
func TestOpenSomeThreads(t *testing.T) {
	gasmtest.NeedNative(t)
	cpus, err := OnlineCPUs()
	require.NoError(t, err)
	o := Options{Events: []Event{{Name: "cpu-clock", Type: unix.PERF_TYPE_SOFTWARE,
		Config: [3]uint64{unix.PERF_COUNT_SW_CPU_CLOCK}}}, Frequency: 997}
	tids := []int{startBusy(t), startBusy(t), startBusy(t)}
	before := openFiles(t)
	const waiters = 2                            // see Descriptors
	limitFiles(t, waiters+len(cpus)+len(cpus)-1) // the second thread gets all of its events but the last
	s, err := OpenThreads(tids, o)
	require.NotNil(t, s, "%v", err)
	assert.ErrorIs(t, err, unix.EMFILE)
	assert.ErrorContains(t, err, "2 of 3 threads: ")
	assert.Equal(t, waiters+len(cpus), s.Descriptors())
	assert.Len(t, s.byID, len(cpus))
	found := map[int32]int{}
	require.Eventually(t, func() bool {
		s.Drain(true, func(r *Record) { found[r.TID]++ })
		return found[int32(tids[0])] > 0
	}, time.Minute, time.Millisecond)
	assert.Len(t, found, 1)
	s.Close()
	assert.Equal(t, before, openFiles(t))
}
