package sampler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRate(t *testing.T) {
	check := func(cost time.Duration, timers, hertz int, note string) {
		t.Helper()
		rate := rateFor(cost, timers)
		assert.Equal(t, Rate{hertz, cost, timers}, rate)
		assert.Equal(t, note, rate.Note())
	}
	const unknown, us = 0, time.Microsecond
	check(unknown, 1, 1001, "")
	check(unknown, 0, 1001, "")
	check(1500*time.Nanosecond, 1, 1001, "")
	check(5900*time.Nanosecond, 1, 1001, "")
	check(6*us, 1, 201, "sampled at 201 Hz, which takes 0.1 % of the CPU time: a sample takes 6 us here (--frequency 1001 would take 0.6 %)")
	check(29*us, 1, 201, "sampled at 201 Hz, which takes 0.6 % of the CPU time: a sample takes 29 us here (--frequency 1001 would take 2.9 %)")
	check(30*us, 1, 101, "sampled at 101 Hz, which takes 0.3 % of the CPU time: a sample takes 30 us here (--frequency 1001 would take 3.0 %)")
	check(time.Millisecond, 1, 101, "sampled at 101 Hz, which takes 10.1 % of the CPU time: a sample takes 1000 us here (--frequency 1001 would take 100.1 %)")
	check(6*us, 2, 201, "sampled at 201 Hz, which takes 0.2 % of the CPU time: a sample of 2 events takes 12 us here (--frequency 1001 would take 1.2 %)")
}
