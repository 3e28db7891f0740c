package sampler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// The cost of a sample can be measured wherever events can be opened.
func TestSampleCost(t *testing.T) {
	fd, err := openCounter(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, costPeriodNanos)
	if err != nil {
		t.Skipf("the kernel lets this user count nothing: %v", err)
	}
	unix.Close(fd)
	// Nothing here asserts a time.
	for _, events := range [][]string{{"cpu-clock:u"}, {"page-faults", "task-clock"}, {"cycles:P", "cpu-clock"}, nil} {
		rate := ChooseRate(events)
		for range 20 { // on a busy machine nothing may come of it
			if rate.Cost > 0 {
				break
			}
			rate = ChooseRate(events)
		}
		t.Logf("%v: %+v", events, rate)
		assert.Positive(t, rate.Cost)
		assert.Less(t, rate.Cost, costLength)
		assert.Equal(t, len(events) == 2 && events[0] != "page-faults", rate.Timers == 2)
	}
	assert.Equal(t, Rate{Hertz: DefaultFrequency}, ChooseRate([]string{"page-faults", "cpu/event=0x3c/"}), "unknown")
}

func TestTypicalCost(t *testing.T) {
	us := func(micros ...int) (gaps []time.Duration) {
		for _, m := range micros {
			gaps = append(gaps, time.Duration(m)*time.Microsecond)
		}
		return gaps
	}
	for _, c := range []struct {
		gaps    []time.Duration
		samples int
		want    int
	}{
		{us(20, 21, 1, 1, 22, 1, 1), 3, 21},
		{us(5000, 20, 1, 21, 22, 23, 1, 1), 5, 22},
		{us(20), 1, 20},
		{us(20, 30), 0, 0},
		{us(20, 30), 3, 0},
	} {
		assert.Equal(t, time.Duration(c.want)*time.Microsecond, typicalCost(c.gaps, c.samples), "%v", c)
	}
}
