package record

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/usdt"
)

// JVMs of which the same is to be said have one note.
func TestUSDTNotes(t *testing.T) {
	l := liveUSDT{s: &session{}}
	l.fail(1, errors.New("100%s"))
	for pid := 2; pid < 9; pid++ {
		l.fail(pid, usdt.ErrNone)
	}
	l.noteSilent(1, []string{"-XX:+DTraceAllocProbes", "-XX:+DTraceMonitorProbes"})
	l.noteSilent(2, []string{"-XX:+DTraceMethodProbes"})
	l.noteSilent(3, []string{"-XX:+DTraceAllocProbes"})
	l.noteSilent(4, nil)
	assert.Equal(t, []string{
		"no USDT events of JVM 1: 100%s",
		"no USDT events of JVM 2, JVM 3, JVM 4, JVM 5, others: " + usdt.ErrNone.Error(),
		"USDT tells of no allocations in JVM 1, JVM 3: start it with -XX:+DTraceAllocProbes",
		"USDT tells of no locks or Object.wait in JVM 1: start it with -XX:+DTraceMonitorProbes",
		"USDT tells of no calls of methods in JVM 2: start it with -XX:+DTraceMethodProbes",
	}, l.take(nil))
}

// A note says how late the probes of a command's JVMs were set. gasm attach begins when they are.
func TestUSDTLateNote(t *testing.T) {
	const second = int64(1e9)
	check := func(started int64, set []int64, want ...string) {
		t.Helper()
		s := &session{}
		s.startedMonoNanos = started
		l := liveUSDT{s: s, results: map[int]usdt.Result{}}
		jvms := map[int]*capture.JVM{}
		for i, at := range set {
			l.results[i] = usdt.Result{SetMonoNanos: at}
			jvms[i] = &capture.JVM{PID: i, StartMonoNanos: int64(i+10) * second}
		}
		l.results[99] = usdt.Result{SetMonoNanos: 99 * second} // of a JVM that is not in the capture
		assert.Equal(t, want, l.take(jvms))
	}
	check(9*second, []int64{10*second + tellLate.Nanoseconds()})
	check(9*second, []int64{10*second + 185e6}, "the USDT probes of JVM 0 were set 0.18 s after its start: what happened before is not in the events")
	check(9*second, []int64{10*second + 110e6, 11*second + 260e6, 0, 13*second + 150e6},
		"the USDT probes of JVM 1 were set 0.26 s after its start: what happened before is not in the events (2 more JVMs had theirs late, too)")
	check(20*second, []int64{19 * second})
}
