package hostile

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestAttacks lets gasm attach to JVMs whose user attacks it, each in one way. No file of root's may change, and gasm
// must not hang. Attacks that need the right moment are tried several times.
func TestAttacks(t *testing.T) {
	needNative(t)
	for _, c := range []struct {
		plan   string
		flags  []string
		rounds int
	}{
		{"mount over the folder", []string{"--probe", "Spin::spin"}, 1},
		{"mount below the folder", []string{"--probe", "Spin::spin"}, 2},
		{"mount over the events", []string{"--events", "default,alloc"}, 3},
		{"links at the agent", []string{"--probe", "Spin::spin", "--probe-sdt", "Spin::spinUntil"}, 3},
		{"a pipe at the agent", []string{"--probe", "Spin::spin"}, 3},
		{"another tmp", []string{"--probe", "Spin::spin", "--events", "default"}, 3},
		{"working in a folder of root's", []string{"--events", "default,alloc"}, 1},
		{"no attack", everything, 1},
		{"no attack, own folder", everything, 1},
	} {
		t.Run(c.plan, func(t *testing.T) {
			jdk := someJDKs(t)[0]
			rounds := c.rounds
			if !gasmtest.Whole() {
				rounds = min(rounds, 2)
			}
			for range rounds {
				canary := newCanary(t)
				a := startAttack(t, c.plan, canary, 0, spin(t, jdk)...)
				r := runGasm(t, slices.Concat([]string{"attach", "--length", "300ms", "--skip-asm"}, c.flags,
					[]string{strconv.Itoa(a.pid)})...)
				canary.check(t)
				assert.True(t, isAlive(a.pid), "the JVM runs on")
				if c.plan[:9] == "no attack" {
					gasmtest.Sampled(t, r.code, r.stderr)
				}
				runGasm(t, "stacks", strconv.Itoa(a.pid))
				canary.check(t)
				a.end()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestReleaseFile checks that gasm can list the JVMs even if a JVM's file of performance data, or the release file of
// its JDK, is a pipe that nobody closes.
func TestReleaseFile(t *testing.T) {
	needNative(t)
	for _, plan := range []string{"a release pipe", "a release without end"} {
		t.Run(plan, func(t *testing.T) {
			a := startAttack(t, plan, newCanary(t), 0)
			r := runGasm(t, "attach")
			assert.Equal(t, 0, r.code, r.stderr)
			assert.Contains(t, r.stdout, strconv.Itoa(a.pid))
			assert.Less(t, r.took, 10*time.Second)
			r = runGasm(t, "attach", strconv.Itoa(a.pid))
			assert.Equal(t, 1, r.code)
			os.RemoveAll("/tmp/gasm-test-jdk-" + strconv.Itoa(a.pid))
		})
	}
}

// TestSparseReport checks that gasm copies only a limited amount of what a JVM reports.
func TestSparseReport(t *testing.T) {
	needNative(t)
	a := startAttack(t, "a sparse report", newCanary(t), 0, spin(t, someJDKs(t)[0])...)
	capt := filepath.Join(t.TempDir(), "capture")
	r := runGasm(t, "attach", "--length", "500ms", "--skip-asm", "--probe", "Spin::spin", "-o", capt, strconv.Itoa(a.pid))
	assert.Contains(t, r.stderr, "more than the 16777216 that such a file may have")
	entries, err := os.ReadDir(capt)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		assert.Less(t, info.Size(), int64(64<<20), e.Name())
	}
}

// TestOtherSocket checks that gasm does not connect to a socket that belongs to root's group.
func TestOtherSocket(t *testing.T) {
	needNative(t)
	socket := filepath.Join(folder, "socket")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Chmod(socket, 0o060))
	var connected atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			conn.Close()
		}
	}()
	jdk := someJDKs(t)[0]
	a := startAttack(t, "another socket", newCanary(t), 0, spin(t, jdk)...)
	for range 8 {
		runGasm(t, "attach", "--length", "50ms", "--skip-asm", "--events", "default,alloc", strconv.Itoa(a.pid))
	}
	assert.Zero(t, connected.Load(), "connections to a socket of root's group")
}

// signalled runs gasm, and sends it a signal some time after its start. It returns how long gasm took to end after
// the signal.
func signalled(t *testing.T, after time.Duration, sig syscall.Signal, args ...string) (run, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	defer cancel()
	cmd := gasmCommand(ctx, args...)
	s := start(t, cmd)
	time.Sleep(after)
	sent := time.Now()
	_ = cmd.Process.Signal(sig) // it may have ended
	r := finish(t, cmd, s)
	return r, time.Since(sent)
}

// endTime is the time within which gasm must end after a signal, whatever it is doing.
const endTime = 2 * time.Second

// TestPipe checks that gasm does not hang because of a pipe, and ends after a signal.
func TestPipe(t *testing.T) {
	needNative(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		late := gasmtest.Lateness(t)
		a := startAttack(t, "a pipe for ever", newCanary(t), 0, spin(t, someJDKs(t)[0])...)
		_, took := signalled(t, 2*time.Second, sig, "attach", "--length", "30s", "--skip-asm", "--probe", "Spin::spin",
			strconv.Itoa(a.pid))
		assert.Less(t, took, endTime+late())
		a.end()
	}
}
