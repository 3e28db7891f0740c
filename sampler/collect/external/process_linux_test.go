package external

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestStartFromEndingThread checks that a sampler continues if the thread ends whose goroutine has started it. gasm
// has such threads: those that look at another user's process end.
func TestStartFromEndingThread(t *testing.T) {
	var p *Process
	var thread int
	gasmtest.OnEndingThread(func() {
		var err error
		p, err = Start(t.Context(), "sleep", []string{"60"})
		assert.NoError(t, err)
		thread = unix.Gettid()
	})
	require.NotNil(t, p)
	defer p.Abort()
	for unix.Tgkill(unix.Getpid(), thread, 0) == nil {
		time.Sleep(time.Millisecond)
	}
	asked, inTime := p.Stop(syscall.SIGINT, SlowEnd, SlowEnd, nil)
	assert.True(t, asked, "it had ended before: %v", p.Cmd.ProcessState)
	assert.True(t, inTime)
}
