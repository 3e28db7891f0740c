package runcounts

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// inProc returns the counts of a thread of this process as /proc has them.
func inProc(t *testing.T, tid int) (c Thread) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", tid))
	require.NoError(t, err)
	_, err = fmt.Sscan(string(text), &c.Ran, &c.Delay, &c.Count)
	require.NoError(t, err)
	c.TID = tid
	return c
}

// TestCounts compares the counts of this process's threads with those in /proc. Where these are the same before and
// after, the thread has not run, and the counts must be the same.
func TestCounts(t *testing.T) {
	gasmtest.NeedRoot(t)
	c, err := Open(os.Getpid())
	if err != nil {
		t.Skip("no BPF iterators: ", err)
	}
	defer c.Close()
	end := make(chan struct{})
	defer close(end)
	const threads = 2500 // more than one reading of the file returns
	for range threads {
		started := make(chan struct{})
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			close(started)
			for range 3 {
				select {
				case <-end:
					return
				case <-time.After(time.Duration(rand.IntN(2000)) * time.Millisecond):
				}
			}
			<-end
		}()
		<-started
	}
	var all []Thread
	same := 0
	for range 5 {
		entries, err := os.ReadDir("/proc/self/task")
		require.NoError(t, err)
		before := map[int]Thread{}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			require.NoError(t, err)
			before[tid] = inProc(t, tid)
		}
		all, err = c.Read(all[:0])
		require.NoError(t, err)
		found := map[int]Thread{}
		last := 0
		for _, thread := range all {
			require.Greater(t, thread.TID, last)
			last, found[thread.TID] = thread.TID, thread
		}
		for tid, want := range before {
			got, ok := found[tid]
			if !assert.True(t, ok, tid) {
				continue
			}
			after := inProc(t, tid)
			if want == after {
				same++
				require.Equal(t, want, got)
			}
			require.LessOrEqual(t, want.Count, got.Count)
			require.LessOrEqual(t, got.Count, after.Count)
		}
	}
	t.Log(same, "of", 5*threads)
	assert.Greater(t, same, threads)
}

// TestOther reads the threads of another process, and those of a process that does not exist.
func TestOther(t *testing.T) {
	gasmtest.NeedRoot(t)
	parent := os.Getppid()
	c, err := Open(parent)
	if err != nil {
		t.Skip("no BPF iterators: ", err)
	}
	defer c.Close()
	all, err := c.Read(nil)
	require.NoError(t, err)
	for _, thread := range all {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", parent, thread.TID))
		assert.NoError(t, err)
	}
	assert.NotEmpty(t, all)
	none, err := Open(1 << 30)
	require.NoError(t, err)
	defer none.Close()
	all, err = none.Read(nil)
	require.NoError(t, err)
	assert.Empty(t, all)
}
