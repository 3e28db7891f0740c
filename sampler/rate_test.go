package sampler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRate(t *testing.T) {
	for _, c := range []struct {
		cost time.Duration
		hz   int
		note string
	}{
		{0, 1001, ""}, // unknown
		{1500 * time.Nanosecond, 1001, ""},
		{9900 * time.Nanosecond, 1001, ""},
		{10 * time.Microsecond, 301, "sampled at 301 Hz: a sample takes 10 us here, 1.0 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{27 * time.Microsecond, 301, "sampled at 301 Hz: a sample takes 27 us here, 2.7 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{40 * time.Microsecond, 101, "sampled at 101 Hz: a sample takes 40 us here, 4.0 % of the time at 1001 Hz (--frequency 1001 for that)"},
		{time.Millisecond, 101, "sampled at 101 Hz: a sample takes 1000 us here, 100.1 % of the time at 1001 Hz (--frequency 1001 for that)"},
	} {
		rate := rateFor(c.cost)
		assert.Equal(t, Rate{c.hz, c.cost}, rate)
		assert.Equal(t, c.note, rate.Note())
	}
}
