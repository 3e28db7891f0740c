package collect

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDrawFrequency(t *testing.T) {
	// all returns four frequencies: the lowest and the highest one that can be drawn, and the two next to the gap
	// around the requested one.
	all := func(hertz, limit int) [4]int {
		last, gap := drawFrequency(hertz, limit, 0), [2]int{}
		result := [4]int{0: last}
		for i := range 10000 {
			next := drawFrequency(hertz, limit, float64(i)/10000)
			if next > last+1 {
				assert.Zero(t, gap, "a second gap")
				gap = [2]int{last, next}
			}
			assert.GreaterOrEqual(t, next, last)
			last = next
		}
		result[1], result[2], result[3] = gap[0], gap[1], last
		return result
	}
	assert.Equal(t, [4]int{901, 970, 1032, 1101}, all(1001, 0))
	assert.Equal(t, [4]int{901, 970, 1032, 1101}, all(1001, 100000))
	assert.Equal(t, [4]int{901, 970, 1032, 1050}, all(1001, 1050))
	assert.Equal(t, [4]int{901, 0, 0, 970}, all(1001, 1001), "the kernel allows no higher one")
	assert.Equal(t, [4]int{91, 97, 105, 111}, all(101, 0))
	assert.Equal(t, [4]int{18000, 19400, 20600, 22000}, all(20000, 0))
	assert.Equal(t, [4]int{9, 9, 11, 11}, all(10, 0))
	assert.Equal(t, [4]int{5, 0, 0, 5}, all(5, 0), "no other frequency is near it")
	assert.Equal(t, [4]int{1, 0, 0, 1}, all(1, 0))
	assert.Equal(t, [4]int{10, 0, 0, 10}, all(10, 10), "a single frequency would be no choice")
}

// TestRaiseLimit checks the command that raises the kernel's limit for the frequency. It must first change the
// setting because of which the kernel refuses a new limit.
func TestRaiseLimit(t *testing.T) {
	const limit, share = "kernel.perf_event_max_sample_rate=1001", "kernel.perf_cpu_time_max_percent=25 "
	for _, c := range []struct {
		percent int
		known   bool
		want    string
	}{{25, true, limit}, {1, true, limit}, {0, true, share + limit}, {100, true, share + limit}, {0, false, limit}} {
		if got := raiseLimit(1001, c.percent, c.known); got != "sudo sysctl "+c.want {
			t.Errorf("%d %t: %q", c.percent, c.known, got)
		}
	}
	if got := RaiseLimit(1001); !strings.HasPrefix(got, "sudo sysctl kernel.perf_") || !strings.HasSuffix(got, " "+limit) {
		t.Error(got)
	}
}

func TestRateNote(t *testing.T) {
	check := func(cost, stack time.Duration, timers int, want string) {
		t.Helper()
		rate := rateFor(Rate{Cost: cost, Stack: stack, Timers: timers})
		assert.Equal(t, want, rate.Note())
	}
	check(0, 0, 1, "")
	check(2*time.Microsecond, 0, 1, "")
	check(24*time.Microsecond, 0, 1, "301 Hz takes 0.7 %, 1001 2.4 % of the time")
	check(18*time.Microsecond, 16*time.Microsecond, 1,
		"501 Hz takes 0.9 %, 1001 1.8 % of the time; a sample takes 18.0 us, of which 16.0 are for its call stack")
	check(40*time.Microsecond, 16*time.Microsecond, 2,
		"101 Hz takes 0.8 %, 1001 8.0 % of the time; a sample takes 40.0 us, of which 16.0 are for its call stack")
}

// TestRateOfStacks checks that on a machine with many CPUs, the rate is limited by the time that gasm itself needs
// for call stacks.
func TestRateOfStacks(t *testing.T) {
	check := func(cost time.Duration, cpus, hertz int, note string) {
		t.Helper()
		rate := rateFor(Rate{Cost: cost, Stack: time.Microsecond, Timers: 1, CPUs: cpus})
		assert.Equal(t, hertz, rate.Hertz)
		assert.Equal(t, note, rate.Note())
	}
	check(2*time.Microsecond, 12, 1001, "")
	check(2*time.Microsecond, 24, 501, "501 Hz: to find the call stacks of 24 CPUs takes up to 0.5 CPUs, at 1001 Hz 1.0")
	check(2*time.Microsecond, 128, 101, "101 Hz: to find the call stacks of 128 CPUs takes up to 0.5 CPUs, at 1001 Hz 5.1")
	check(2*time.Microsecond, 256, 101,
		"101 Hz: to find the call stacks of 256 CPUs takes up to 1.0 CPUs, at 1001 Hz 10.3")
	check(40*time.Microsecond, 24, 201,
		"201 Hz takes 0.8 %, 1001 4.0 % of the time; a sample takes 40.0 us, of which 1.0 are for its call stack")
}
