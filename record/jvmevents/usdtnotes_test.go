package jvmevents

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/usdt"
)

// TestUSDTNotes checks that JVMs share a note if its text is otherwise the same.
func TestUSDTNotes(t *testing.T) {
	u := usdtRecorders{o: &Options{}}
	u.fail(1, errors.New("100%s"))
	for pid := 2; pid < 9; pid++ {
		u.fail(pid, usdt.ErrNone)
	}
	u.noteSilent(1, []string{"-XX:+DTraceAllocProbes", "-XX:+DTraceMonitorProbes"})
	u.noteSilent(2, []string{"-XX:+DTraceMethodProbes"})
	u.noteSilent(3, []string{"-XX:+DTraceAllocProbes"})
	u.noteSilent(4, nil)
	assert.Equal(t, []string{
		"no USDT events of JVM 1: 100%s",
		"no USDT events of JVM 2, JVM 3, JVM 4, JVM 5, others: " + usdt.ErrNone.Error(),
		"USDT reports no allocations in JVM 1, JVM 3: start it with -XX:+DTraceAllocProbes",
		"USDT reports no locks or Object.wait in JVM 1: start it with -XX:+DTraceMonitorProbes",
		"USDT reports no calls of methods in JVM 2: start it with -XX:+DTraceMethodProbes",
	}, u.take(nil, 0))
}

// TestUSDTLateNote checks the note that says how late the probes of a command's JVMs were set. gasm attach has no
// such note, because it begins when the probes are set.
func TestUSDTLateNote(t *testing.T) {
	const second = int64(1e9)
	check := func(started int64, set []int64, want ...string) {
		t.Helper()
		u := usdtRecorders{o: &Options{}, results: map[int]usdt.Result{}}
		jvms := map[int]*capture.JVM{}
		for i, at := range set {
			u.results[i] = usdt.Result{SetMonoNanos: at}
			jvms[i] = &capture.JVM{PID: i, StartMonoNanos: int64(i+10) * second}
		}
		u.results[99] = usdt.Result{SetMonoNanos: 99 * second} // this JVM is not in the capture
		assert.Equal(t, want, u.take(jvms, started))
	}
	check(9*second, []int64{10*second + noteworthy.Nanoseconds()})
	check(9*second, []int64{10*second + 185e6},
		"the USDT probes of JVM 0 were set 0.18 s after its start: what happened before is not in the events")
	check(9*second, []int64{10*second + 110e6, 11*second + 260e6, 0, 13*second + 150e6},
		"the USDT probes of JVM 1 were set 0.26 s after its start: what happened before is not in the events (2 more JVMs had theirs late, too)")
	check(20*second, []int64{19 * second})
}
