package jcmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// sleeper starts a process that does nothing. It ends with the test.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the test may have
		_ = cmd.Wait()
	})
	return cmd
}

// A connection is closed without an answer by a JVM that ends, and by one that goes on: this one is played by the test.
func TestClosedWithoutAnswer(t *testing.T) {
	for _, ends := range []bool{true, false} {
		cmd := sleeper(t)
		pid := cmd.Process.Pid
		l, err := net.Listen("unix", fmt.Sprintf("/tmp/.java_pid%d", pid))
		require.NoError(t, err)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			if _, err := conn.Read(make([]byte, 100)); err == nil && ends {
				_ = cmd.Process.Kill()
			}
			conn.Close()
		}()
		_, err = run(t, pid, "VM.version -all")
		l.Close()
		var notTold *NotToldError
		require.False(t, errors.As(err, &notTold), "it may have done it")
		assert.Equal(t, ends, errors.Is(err, ErrEnded))
		want := fmt.Sprintf("the JVM with pid %d gave no answer to VM.version that gasm knows: \"\"", pid)
		if ends {
			want = fmt.Sprintf("the JVM with pid %d did not answer to VM.version: it has ended", pid)
		}
		assert.EqualError(t, err, want)
	}
}

// What is not there, has ended or is stopped is told nothing.
func TestNotTold(t *testing.T) {
	stopped, ended := sleeper(t).Process.Pid, sleeper(t)
	gasmtest.Stop(t, stopped)
	require.NoError(t, ended.Process.Kill())
	require.True(t, endsSoon(ended.Process.Pid), "nobody has waited for it")
	assert.True(t, isStopped(stopped))
	assert.False(t, hasEnded(stopped))
	assert.True(t, hasEnded(1<<22))

	l, err := net.Listen("unix", fmt.Sprintf("/tmp/.java_pid%d", stopped))
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the test waits no longer"))
	for pid, want := range map[int]string{
		stopped:           "the test waits no longer",
		ended.Process.Pid: "it has ended",
		1 << 22:           "no process has the id 4194304",
	} {
		_, err := Run(ctx, pid, "VM.version")
		var notTold *NotToldError
		require.ErrorAs(t, err, &notTold)
		assert.EqualError(t, err, fmt.Sprintf("the JVM with pid %d can't be told anything: %s", pid, want))
	}
}
