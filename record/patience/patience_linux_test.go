package patience

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestSayWaiting(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}()
	pid := cmd.Process.Pid
	want := fmt.Sprintf("waiting for JVM %d to begin", pid)
	assert.Equal(t, want, waitingText(pid, "begin"))
	gasmtest.Stop(t, pid)
	want += fmt.Sprintf("; it is stopped: `kill -CONT %d` has it go on", pid)
	assert.Equal(t, want, waitingText(pid, "begin"))

	said := make(chan string, 1)
	p := New(func(text string) { said <- text })
	p.Waiting(pid, "begin")() // done is called at once, so there is no message
	require.Empty(t, said)
	done := p.Waiting(pid, "begin")
	select {
	case text := <-said:
		assert.Equal(t, want, text)
	case <-time.After(time.Minute):
		t.Error("nothing is said")
	}
	done()
	New(nil).Waiting(pid, "begin")()
}

// TestHurry checks that a signal to stop ends Begin's contexts at once, and leaves some time for commands to JVMs and
// for their files.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nil)
		begin, name, tell, reach := p.Begin(t.Context()), p.Name(t.Context()), p.Tell(t.Context()), p.Reach(t.Context())
		p.Hurry()
		p.Hurry() // a second signal changes nothing
		check := func(ended bool, ctx context.Context) {
			t.Helper()
			synctest.Wait()
			if !ended {
				assert.NoError(t, ctx.Err())
				return
			}
			assert.ErrorIs(t, context.Cause(ctx), ErrStopped)
		}
		check(true, begin)
		check(true, p.Begin(t.Context()))
		check(false, name)
		check(false, tell)
		check(false, reach)
		time.Sleep(nameGrace)
		check(true, name)
		check(false, tell)
		time.Sleep(tellGrace - nameGrace)
		check(true, tell)
		check(true, p.Tell(t.Context()))
		check(false, reach)
		time.Sleep(reachGrace - tellGrace)
		check(true, reach)
	})
}
