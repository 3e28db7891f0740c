package collect

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
	check(10*us, 1, 501, "501 Hz takes 0.5 %, 1001 1.0 % of the time")
	check(19*us, 1, 501, "501 Hz takes 1.0 %, 1001 1.9 % of the time")
	check(20*us, 1, 301, "301 Hz takes 0.6 %, 1001 2.0 % of the time")
	check(34*us, 1, 201, "201 Hz takes 0.7 %, 1001 3.4 % of the time")
	check(50*us, 1, 101, "101 Hz takes 0.5 %, 1001 5.0 % of the time")
	check(time.Millisecond, 1, 101, "101 Hz takes 10.1 %, 1001 100.1 % of the time")
	check(6*us, 2, 501, "501 Hz takes 0.6 %, 1001 1.2 % of the time")
}
