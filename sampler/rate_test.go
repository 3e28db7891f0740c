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
	check(9900*time.Nanosecond, 1, 1001, "")
	check(10*us, 1, 501, "sampled at 501 Hz, which takes 0.5 % of the CPU time: a sample takes 10 us here (--frequency 1001 would take 1.0 %)")
	check(19*us, 1, 501, "sampled at 501 Hz, which takes 1.0 % of the CPU time: a sample takes 19 us here (--frequency 1001 would take 1.9 %)")
	check(20*us, 1, 301, "sampled at 301 Hz, which takes 0.6 % of the CPU time: a sample takes 20 us here (--frequency 1001 would take 2.0 %)")
	check(34*us, 1, 201, "sampled at 201 Hz, which takes 0.7 % of the CPU time: a sample takes 34 us here (--frequency 1001 would take 3.4 %)")
	check(50*us, 1, 101, "sampled at 101 Hz, which takes 0.5 % of the CPU time: a sample takes 50 us here (--frequency 1001 would take 5.0 %)")
	check(time.Millisecond, 1, 101, "sampled at 101 Hz, which takes 10.1 % of the CPU time: a sample takes 1000 us here (--frequency 1001 would take 100.1 %)")
	check(6*us, 2, 501, "sampled at 501 Hz, which takes 0.6 % of the CPU time: a sample of 2 events takes 12 us here (--frequency 1001 would take 1.2 %)")
}
