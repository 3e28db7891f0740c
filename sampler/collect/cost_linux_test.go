package collect

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// needCounters skips a test where this user may not open any event.
func needCounters(t *testing.T) {
	t.Helper()
	fd, err := openClock(0)
	if err != nil {
		t.Skipf("perf_event_open is refused (%v): sudo sysctl kernel.perf_event_paranoid=1, or run as root", err)
	}
	unix.Close(fd)
}

// plausible checks a measured cost. The cost is the median over 20 to 200 samples, and depends on the machine, so the
// limits are wide. On an idle virtual machine it was 14 to 20 us; on hardware it is 1 to 2 us. A hypervisor that
// takes the CPU away makes some samples longer. But the median would be 1 ms only if it did so in half of the
// samples.
func plausible(t *testing.T, cost time.Duration) {
	t.Helper()
	assert.Positive(t, cost)
	assert.Less(t, cost, time.Millisecond)
}

func TestChooseRate(t *testing.T) {
	needCounters(t)
	check := func(timers int, specs ...string) {
		t.Helper()
		rate := ChooseRate(eventsOf(specs...), false)
		t.Logf("%q: %+v", specs, rate)
		plausible(t, rate.Cost)
		assert.Equal(t, timers, rate.Timers, specs)
	}
	check(1, "cpu-clock:u")
	check(1, "page-faults", "task-clock")
	check(2, "cycles:P", "cpu-clock")
	check(1)
	with := ChooseRate(eventsOf("cpu-clock"), true)
	t.Logf("with stacks: %+v", with)
	plausible(t, with.Cost)
	assert.GreaterOrEqual(t, with.Cost, with.Stack)
	unknown := ChooseRate(eventsOf("page-faults", "cpu/event=0x3c/"), false)
	assert.Equal(t, Rate{Hertz: DefaultFrequency}, unknown, "neither is known to go on with time")
}

// TestSampleCostOnBusyMachine measures the cost on a busy machine. There, the thread that measures has its CPU only
// for a part of the time, so it measures for longer. The measurement ends after a number of samples, not after a
// time.
func TestSampleCostOnBusyMachine(t *testing.T) {
	needCounters(t)
	for range 4 * runtime.NumCPU() {
		collecttest.Hold(t, collecttest.Busy).Release(t)
	}
	time.Sleep(100 * time.Millisecond) // by then, the loops have begun
	began := time.Now()
	cost := sampleCost(sampler.ParseEvent("cpu-clock"), 0)
	t.Logf("%v, measured in %v", cost, time.Since(began))
	plausible(t, cost)
}

func TestSamplesAmong(t *testing.T) {
	record := func(kind uint32, size uint16) []byte {
		b := make([]byte, max(size, 8))
		binary.NativeEndian.PutUint32(b, kind)
		binary.NativeEndian.PutUint16(b[6:], size)
		return b
	}
	sample, throttle := record(unix.PERF_RECORD_SAMPLE, 16), record(unix.PERF_RECORD_THROTTLE, 32)
	records := slices.Concat(sample, sample, throttle, sample, record(unix.PERF_RECORD_SAMPLE, 0), sample)
	check := func(first, last uint64, want int) {
		t.Helper()
		assert.Equal(t, want, samplesAmong(records, first, last), "from %d to %d", first, last)
	}
	check(0, 0, 0)
	check(0, 16, 1)
	check(0, 32, 2)
	check(0, 64, 2)
	check(16, 80, 2)
	check(80, 1<<40, 1) // a record of size 0 ends the counting
	check(1<<40, 1<<40, 0)
}

func TestTypicalCost(t *testing.T) {
	const us = time.Microsecond
	// 1 us, 2 us, ..., n us
	upTo := func(n int) (gaps []time.Duration) {
		for i := range n {
			gaps = append(gaps, time.Duration(i+1)*us)
		}
		return gaps
	}
	check := func(gaps []time.Duration, samples int, want time.Duration) {
		t.Helper()
		assert.Equal(t, want, typicalCost(slices.Clone(gaps), samples), "%d samples, gaps of %v", samples, gaps)
	}
	check(upTo(21), 21, 11*us)
	check(upTo(100), 21, 90*us) // the median of 80 to 100
	check(upTo(100), 20, 91*us) // the upper one of the two in the middle
	check(append(upTo(100), time.Second, time.Minute), 21, 92*us)
	check(upTo(100), 100, 51*us)
	check(upTo(100), 101, 0) // some gaps were too short to be noticed
	check(upTo(100), fewSamples-1, 0)
	check(nil, 0, 0)
}
