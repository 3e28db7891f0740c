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
		{9900 * time.Nanosecond, 1, 1001, ""},
		{10 * time.Microsecond, 1, 301, "sampled at 301 Hz: a sample's interrupt takes 10 us here, 1.0 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{27 * time.Microsecond, 1, 301, "sampled at 301 Hz: a sample's interrupt takes 27 us here, 2.7 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{40 * time.Microsecond, 1, 101, "sampled at 101 Hz: a sample's interrupt takes 40 us here, 4.0 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{time.Millisecond, 1, 101, "sampled at 101 Hz: a sample's interrupt takes 1000 us here, 100.1 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{6 * time.Microsecond, 2, 301, "sampled at 301 Hz: the interrupts of a sample of 2 events take 12 us here, 1.2 % of the time at 1001 Hz (--frequency 1001 for that)"},
	} {
		rate := rateFor(c.cost, c.timers)
		assert.Equal(t, Rate{c.hz, c.cost, c.timers}, rate)
		assert.Equal(t, c.note, rate.Note())
	}
}
