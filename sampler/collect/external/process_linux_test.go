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

// A sampler lives on when the thread ends whose goroutine has started it. Of gasm's threads, those that look at another
// user's process end.
func TestStartFromEndingThread(t *testing.T) {
	started, thread := make(chan *Process), make(chan int)
	var start func()
	start = func() {
		runtime.LockOSThread() // and not unlocked, so that the thread ends
		if unix.Gettid() == unix.Getpid() {
			go start() // the runtime does not end the first thread
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
