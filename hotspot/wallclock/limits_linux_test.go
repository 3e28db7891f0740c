package wallclock

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/wall"
)

// TestZombie records a JVM that is killed, and whose parent does not wait for it. The recording ends, and no thread
// counts as blocked after the JVM's end.
func TestZombie(t *testing.T) {
	jdks := gasmtest.NeedEachJDK(t, wanted)
	p := start(t, jdks[len(jdks)-1], "Waits", "0", "3", "0", "0", "0", "-")
	killed := int64(0)
	x := p.record(t, Options{}, func() {
		time.Sleep(time.Second)
		require.NoError(t, p.Cmd.Process.Kill())
		killed = monotonic.Nanos()
		time.Sleep(3 * time.Second) // Stop would be right away if the recorder waited for the zombie's end
	})
	assert.Less(t, x.end.ToMonoNanos, killed+int64(2*time.Second))
	for _, s := range x.spells {
		if s.State != wall.Unseen && s.Blocked > 0 {
			assert.Less(t, s.ToMonoNanos, killed+int64(time.Second), "%s %s", x.names[s.Thread], s.State)
		}
	}
}

// TestLimits records more threads than the recorder may record, and more than it may keep files open for.
func TestLimits(t *testing.T) {
	jdks := gasmtest.NeedEachJDK(t, wanted)
	const idle, most, files = 100, 80, 40
	p := start(t, jdks[len(jdks)-1], "Waits", "0", strconv.Itoa(idle), "0", "2", "0", "-")
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	limit := before
	limit.Cur = 4 * files
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	defer func() { assert.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before)) }()
	x := p.record(t, Options{mostThreads: most}, func() { time.Sleep(time.Second) })
	assert.Equal(t, int64(most), x.end.Threads)
	assert.GreaterOrEqual(t, x.end.Unrecorded, int64(idle-most))
	assert.Equal(t, int64(most-files), x.end.Reopened)
	assert.False(t, x.end.Full)

	// A second recorder beside the first one gets the descriptors that are left: none.
	_ = p.record(t, Options{mostThreads: files}, func() {
		x := p.record(t, Options{mostThreads: most}, func() { time.Sleep(time.Second) })
		assert.Equal(t, int64(most), x.end.Reopened)
	})
	x = p.record(t, Options{mostThreads: files}, func() {})
	assert.Zero(t, x.end.Reopened, "the descriptors were closed")
}

// TestFull records threads that often change their state, in a file with a limited size.
func TestFull(t *testing.T) {
	t.Parallel()
	jdks := gasmtest.NeedEachJDK(t, wanted)
	p := start(t, jdks[len(jdks)-1], "Waits", "0", "2", "0", "4", "0", "-")
	const size = 1 << 18
	text := &bytes.Buffer{}
	r, err := Start(p.Cmd.Process.Pid,
		Options{JVMs: shared.NewJVMs(), Out: text, Hertz: MaxHertz, Share: 1, MaxSize: size})
	require.NoError(t, err)
	select {
	case <-r.Done():
	case <-time.After(2 * time.Minute):
		t.Error("it does not end")
	}
	result := r.Stop()
	require.ErrorIs(t, result.Read, errFull)
	require.NoError(t, result.Write)
	x := read(t, text.String())
	assert.True(t, x.end.Full)
	assert.Greater(t, text.Len(), size)
	assert.Less(t, text.Len(), size+1<<18)
}
