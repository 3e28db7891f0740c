package perfevent

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestWait checks that wait ends after the given time, when something happens at a descriptor, and after a call of
// interrupt. The last two may also come before wait is called.
func TestWait(t *testing.T) {
	w, err := newWaiter()
	require.NoError(t, err)
	w.close() // from now on Go's own epoll exists
	before, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	w, err = newWaiter()
	require.NoError(t, err)
	const long, short = 20 * time.Second, 50 * time.Millisecond
	// took returns how long a call of wait takes. Other work on the machine makes it longer.
	took := func(d time.Duration) time.Duration {
		began := time.Now()
		w.wait(d)
		return time.Since(began)
	}
	assert.GreaterOrEqual(t, took(short), short)
	w.interrupt()
	assert.Less(t, took(long), long)
	assert.GreaterOrEqual(t, took(short), short, "an interrupt ends one wait")
	time.AfterFunc(short, w.interrupt)
	assert.Less(t, took(long), long)

	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	require.NoError(t, err)
	require.NoError(t, w.watch(fd))
	_, err = unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	require.NoError(t, err)
	assert.Less(t, took(long), long)
	assert.GreaterOrEqual(t, took(short), short, "nothing new has happened at it")
	require.NoError(t, unix.Close(fd))

	w.close()
	w.interrupt() // must not write into a file that has got the same number
	after, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	assert.Len(t, after, len(before))
}
