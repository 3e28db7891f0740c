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
		{6 * time.Microsecond, 1, 201, "sampled at 201 Hz, 0.1 % of the time: a sample's interrupt takes 6 us here (--frequency 1001 would take 0.6 %)"},
		{29 * time.Microsecond, 1, 201, "sampled at 201 Hz, 0.6 % of the time: a sample's interrupt takes 29 us here (--frequency 1001 would take 2.9 %)"},
		{30 * time.Microsecond, 1, 101, "sampled at 101 Hz, 0.3 % of the time: a sample's interrupt takes 30 us here (--frequency 1001 would take 3.0 %)"},
		{time.Millisecond, 1, 101, "sampled at 101 Hz, 10.1 % of the time: a sample's interrupt takes 1000 us here (--frequency 1001 would take 100.1 %)"},
		{6 * time.Microsecond, 2, 201, "sampled at 201 Hz, 0.2 % of the time: the interrupts of a sample of 2 events take 12 us here (--frequency 1001 would take 1.2 %)"},
	} {
		rate := rateFor(c.cost, c.timers)
		assert.Equal(t, Rate{c.hz, c.cost, c.timers}, rate)
		assert.Equal(t, c.note, rate.Note())
	}
}
