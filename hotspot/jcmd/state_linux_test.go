package jcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// If the environment variable playedEnv is set, the test binary plays a JVM that listens for commands. The variable's
// value says how it treats a command.
const playedEnv = "GASM_TEST_PLAYED_JVM"

func TestMain(m *testing.M) {
	if how := os.Getenv(playedEnv); how != "" {
		play(how)
	}
	os.Exit(m.Run())
}

// play listens as a JVM does, and accepts one command. Then it ends, closes the connection, sends no answer, or sends
// an answer that is too long.
func play(how string) {
	path := fmt.Sprintf("/tmp/.java_pid%d", os.Getpid())
	l, err := net.Listen("unix", path)
	if err != nil {
		os.Exit(1)
	}
	go listen()
	for p, err := foreign.Open(os.Getpid()); err == nil && !(&target{Process: p}).hasListener(); {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("READY")
	conn, err := l.Accept()
	if err != nil {
		os.Exit(1)
	}
	_, _ = conn.Read(make([]byte, 100))
	switch how {
	case "ends":
		os.Remove(path)
		os.Exit(0)
	case "closes":
		conn.Close()
	case "talks":
		_, _ = conn.Write([]byte("1\n" + strings.Repeat("no, ", 1<<18)))
		conn.Close()
	}
	time.Sleep(10 * time.Minute)
	os.Exit(0)
}

// listen runs in a thread with the name by which gasm recognizes that a JVM accepts commands.
func listen() {
	runtime.LockOSThread()
	if name, err := unix.BytePtrFromString(listenerThread); err == nil {
		// Without the name, play would wait for ever.
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	}
	select {}
}

// played starts a process that plays a JVM. The process is ended when the test ends.
func played(t *testing.T, how string) *foreign.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playedEnv+"="+how)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the process may have ended already
		_ = cmd.Wait()
		os.Remove(fmt.Sprintf("/tmp/.java_pid%d", cmd.Process.Pid))
	})
	require.True(t, bufio.NewScanner(out).Scan())
	return opened(t, cmd.Process.Pid)
}

// TestClosedWithoutAnswer: a JVM closes the connection without an answer. In one case it then ends, in the other it
// keeps running.
func TestClosedWithoutAnswer(t *testing.T) {
	for _, ends := range []bool{true, false} {
		how := "closes"
		want := "the JVM with pid %d gave an unknown answer to VM.version: \"\""
		if ends {
			how, want = "ends", "the JVM with pid %d gave no answer to VM.version: it has ended"
		}
		p := played(t, how)
		_, err := Run(limited(t), p, "VM.version -all")
		var notTold *NotToldError
		require.False(t, errors.As(err, &notTold), "it may have done it")
		assert.Equal(t, ends, errors.Is(err, ErrEnded))
		assert.EqualError(t, err, fmt.Sprintf(want, p.PID()))
	}
}

// TestNoAnswer: if a JVM never answers, Run waits until the context is done.
func TestNoAnswer(t *testing.T) {
	p := played(t, "is silent")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("that was too long"))
	defer cancel()
	_, err := Run(ctx, p, "VM.version")
	assert.EqualError(t, err, fmt.Sprintf("the JVM with pid %d gave no answer to VM.version: that was too long",
		p.PID()))
}

// TestLongAnswer: of an answer of a megabyte, an error message quotes only the beginning.
func TestLongAnswer(t *testing.T) {
	_, err := Run(limited(t), played(t, "talks"), "VM.version")
	var failed *FailedError
	require.ErrorAs(t, err, &failed)
	assert.Regexp(t, `did not do VM\.version: (no, ){100} … \(\d{6,7} bytes in all\)$`, err.Error())
}

// TestImpostor: gasm does not talk to a socket at which another process listens, or to a file that is not a socket.
func TestImpostor(t *testing.T) {
	sleeper := exec.Command("sleep", "600")
	require.NoError(t, sleeper.Start())
	t.Cleanup(func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	})
	p := opened(t, sleeper.Process.Pid)
	path := fmt.Sprintf("/tmp/.java_pid%d", p.PID())
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	_, err = Run(limited(t), p, "VM.version")
	assert.ErrorContains(t, err,
		fmt.Sprintf("connecting to its socket: process %d listens there, not the process itself", os.Getpid()))
	l.Close()
	require.NoError(t, os.Symlink("/dev/null", path))
	defer os.Remove(path)
	_, err = Run(limited(t), p, "VM.version")
	assert.ErrorContains(t, err, path+" is not the JVM's socket: remove it")
	os.Remove(path)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Run(limited(t), p, "VM.version")
	assert.ErrorContains(t, err, path+" is not the JVM's socket: remove it")
}

// TestNotTold: a JVM that does not exist, has ended or is stopped gets no command.
func TestNotTold(t *testing.T) {
	stopped, ended := played(t, "closes"), played(t, "closes")
	gasmtest.Stop(t, stopped.PID())
	killed, err := os.FindProcess(ended.PID())
	require.NoError(t, err)
	require.NoError(t, killed.Kill())
	require.True(t, endsSoon(t.Context(), ended), "nobody has waited for it")
	assert.True(t, isStopped(stopped))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the test waits no longer"))
	for p, want := range map[*foreign.Process]string{stopped: "the test waits no longer", ended: "it has ended"} {
		_, err := Run(ctx, p, "VM.version")
		var notTold *NotToldError
		require.ErrorAs(t, err, &notTold)
		assert.EqualError(t, err, fmt.Sprintf("the JVM with pid %d can't be told anything: %s", p.PID(), want))
	}
	_, err = foreign.Open(1 << 22)
	assert.EqualError(t, err, "no process has the id 4194304")
}
