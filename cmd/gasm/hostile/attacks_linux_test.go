package hostile

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

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

// endWork is the CPU time that gasm takes to end after a signal, on a slow machine.
const endWork = 250 * time.Millisecond

// endsWithin measures how busy the machine is until the returned function is called. That function returns the time
// within which gasm must have ended: endTime, plus how late this process was woken up, plus what other processes add to
// the time that gasm needs for endWork. On an idle machine, they add nothing.
func endsWithin(t *testing.T) (limit func() time.Duration) {
	t.Helper()
	late, slow := gasmtest.Lateness(t), slowness(t)
	return func() time.Duration { return endTime + late() + time.Duration((slow()-1)*float64(endWork)) }
}

// slowness measures how much longer a computation takes than its CPU time, because other processes use the CPUs. The
// measurement goes on until the returned function is called, which returns the quotient of the two times.
func slowness(t *testing.T) (quotient func() float64) {
	t.Helper()
	stop, measured := make(chan struct{}), make(chan float64, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		used := func() int64 {
			var u unix.Rusage
			_ = unix.Getrusage(unix.RUSAGE_THREAD, &u) // it cannot fail
			return u.Utime.Nano() + u.Stime.Nano()
		}
		took, cpu := time.Duration(0), int64(0)
		for {
			began, before := time.Now(), used()
			for used() < before+int64(time.Millisecond) {
			}
			took, cpu = took+time.Since(began), cpu+used()-before
			select {
			case <-stop:
				measured <- max(1, float64(took)/float64(cpu))
				return
			case <-t.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() float64 {
		close(stop)
		q := <-measured
		t.Logf("computing takes %.1f times as long as on an idle machine", q)
		return q
	}
}

// TestPipe checks that gasm does not hang because of a pipe, and ends after a signal.
func TestPipe(t *testing.T) {
	needNative(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		limit := endsWithin(t)
		a := startAttack(t, "a pipe for ever", newCanary(t), 0, spin(t, someJDKs(t)[0])...)
		_, took := signalled(t, 2*time.Second, sig, "attach", "--length", "30s", "--skip-asm", "--probe", "Spin::spin",
			strconv.Itoa(a.pid))
		assert.Less(t, took, limit())
		a.end()
	}
}
