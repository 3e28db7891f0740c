package collect

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// used returns the CPU time of this process, or that of its children that have ended.
func used(t *testing.T, who int) time.Duration {
	t.Helper()
	var u unix.Rusage
	require.NoError(t, unix.Getrusage(who, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestNativeCPU checks that native sampling takes less than half as much CPU time as perf, which samples the same
// program at the same time. Native sampling spends most of its time on reading the symbols of the kernel and of
// libjvm, once. The variable GASM_COST may contain a longer command than the usual one.
//
// In measurements it took a quarter to a third, on idle machines and on machines with ten processes for each CPU.
// Such processes displace the content of the caches. That can change the CPU time of the same work by a third, for
// both samplers, so the limit is a half.
func TestNativeCPU(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	gasmtest.NeedTime(t)
	gasmtest.NeedNative(t)
	gasmtest.NeedPerf(t)
	command := os.Getenv("GASM_COST")
	if command == "" {
		command = gasmtest.NeedJava(t) + ` -Xcomp --list-modules; i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done`
	}
	x := collecttest.Hold(t, collecttest.Execs(command+" >/dev/null"))
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 1001})
	before := used(t, unix.RUSAGE_SELF)
	n := startsNative(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Frequency: 1001})
	x.Release(t)
	require.NoError(t, x.Cmd.Wait())
	require.NoError(t, n.Stop(t.Context()))
	own := used(t, unix.RUSAGE_SELF) - before
	require.NoError(t, p.Stop())
	recording := p.process.Cmd.ProcessState.UserTime() + p.process.Cmd.ProcessState.SystemTime()
	before = used(t, unix.RUSAGE_CHILDREN)
	require.NoError(t, p.WriteText(t.Context(), discard{}))
	script := used(t, unix.RUSAGE_CHILDREN) - before
	samples, lost := written(t, n)
	t.Logf("%d samples, %d lost: native sampling used %v, perf record %v and perf script %v", len(samples), lost, own,
		recording, script)
	t.Logf("that is a share of %.2f", own.Seconds()/(recording+script).Seconds())
	assert.Less(t, own, (recording+script)/2)
}

// discard discards text. Unlike io.Discard it is not an io.ReaderFrom, so that this process does what
// gasm would do.
type discard struct{}

func (discard) Write(text []byte) (int, error) { return len(text), nil }
