package external

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestStartFromEndingThread checks that a sampler continues if the thread ends whose goroutine has started it. gasm
// has such threads: those that look at another user's process end.
func TestStartFromEndingThread(t *testing.T) {
	started, thread := make(chan *Process), make(chan int)
	var start func()
	start = func() {
		runtime.LockOSThread() // not unlocked, so that the thread ends with its goroutine
		if unix.Gettid() == unix.Getpid() {
			go start() // a new goroutine, because the runtime never ends the first thread
			<-t.Context().Done()
			return
		}
		p, err := Start(t.Context(), "sleep", []string{"60"})
		assert.NoError(t, err)
		started <- p
		thread <- unix.Gettid()
	}
	go start()
	p := <-started
	require.NotNil(t, p)
	defer p.Abort()
	for id := <-thread; unix.Tgkill(unix.Getpid(), id, 0) == nil; {
		time.Sleep(time.Millisecond)
	}
	asked, inTime := p.Stop(syscall.SIGINT, SlowEnd, SlowEnd, nil)
	assert.True(t, asked, "it had ended before: %v", p.Cmd.ProcessState)
	assert.True(t, inTime)
}
