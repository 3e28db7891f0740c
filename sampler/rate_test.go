package sampler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRate(t *testing.T) {
	for _, c := range []struct {
		cost   time.Duration
		timers int
		hz     int
		note   string
	}{
		{0, 1, 1001, ""}, // unknown
		{0, 0, 1001, ""},
		{1500 * time.Nanosecond, 1, 1001, ""},
		{5900 * time.Nanosecond, 1, 1001, ""},
		{6 * time.Microsecond, 1, 201, "sampled at 201 Hz: a sample's interrupt takes 6 us here, 0.6 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{29 * time.Microsecond, 1, 201, "sampled at 201 Hz: a sample's interrupt takes 29 us here, 2.9 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{30 * time.Microsecond, 1, 101, "sampled at 101 Hz: a sample's interrupt takes 30 us here, 3.0 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{time.Millisecond, 1, 101, "sampled at 101 Hz: a sample's interrupt takes 1000 us here, 100.1 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{6 * time.Microsecond, 2, 201, "sampled at 201 Hz: the interrupts of a sample of 2 events take 12 us here, 1.2 % of the time at 1001 Hz (--frequency 1001 for that)"},
	} {
		rate := rateFor(c.cost, c.timers)
		assert.Equal(t, Rate{c.hz, c.cost, c.timers}, rate)
		assert.Equal(t, c.note, rate.Note())
	}
}
