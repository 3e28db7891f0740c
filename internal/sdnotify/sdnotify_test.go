package sdnotify

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

func TestNotifier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	defer socket.Close()
	receive := func() string {
		var b [200]byte
		n, err := socket.Read(b[:])
		require.NoError(t, err)
		return string(b[:n])
	}
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "3") // a message for each microsecond
	t.Setenv("WATCHDOG_PID", "")
	n := New()
	assert.Empty(t, os.Getenv("NOTIFY_SOCKET"))
	beat := n.Beat()
	beat()
	assert.Equal(t, "READY=1", receive())
	assert.Equal(t, "WATCHDOG=1", receive())
	beat()
	assert.Equal(t, "WATCHDOG=1", receive())
	n.Reloading()
	assert.Regexp(t, `^RELOADING=1\nMONOTONIC_USEC=\d+$`, receive())
	beat() // still with the old configuration
	assert.Equal(t, "WATCHDOG=1", receive())
	beat = n.Beat()
	beat()
	assert.Equal(t, "READY=1", receive())
	n.Stopping()
	assert.Equal(t, "WATCHDOG=1", receive())
	assert.Equal(t, "STOPPING=1", receive())

	none := New() // without systemd, nothing happens
	none.Beat()()
	none.Reloading()
	none.Stopping()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	New().Beat()()
}

// TestFull checks that a systemd that does not read its messages does not stop the service.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	n := New()
	for err == nil {
		require.NoError(t, n.conn.SetWriteDeadline(time.Now().Add(time.Second)))
		_, err = n.conn.Write([]byte("x"))
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, n.conn.SetWriteDeadline(time.Time{}))
	done := make(chan struct{})
	go func() {
		n.Beat()()
		n.Stopping()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the messages wait for systemd")
	}
}

// TestStoppedMain: while the service's main process is stopped, the watchdog gets no message.
func TestStoppedMain(t *testing.T) {
	main := exec.Command("sleep", "600")
	require.NoError(t, main.Start())
	defer func() {
		_ = main.Process.Kill()
		_ = main.Wait()
	}()
	here, there := net.Pipe()
	var sent atomic.Int32
	over := make(chan struct{})
	go func() {
		defer close(over)
		for b := make([]byte, 100); ; sent.Add(1) {
			if _, err := there.Read(b); err != nil {
				return
			}
		}
	}()
	n := &Notifier{conn: here, every: time.Nanosecond, main: main.Process.Pid}
	n.alive()
	require.Eventually(t, func() bool { return sent.Load() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, main.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { return foreign.StatOf(n.main).Stopped() }, time.Minute, time.Millisecond)
	n.alive()
	require.NoError(t, main.Process.Signal(syscall.SIGCONT))
	require.Eventually(t, func() bool { return !foreign.StatOf(n.main).Stopped() }, time.Minute, time.Millisecond)
	n.alive()
	n.Stopping()
	here.Close()
	<-over
	assert.EqualValues(t, 3, sent.Load())
}
