package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
)

// TestClockReadings tests a command that runs from 100 s to 160 s on the samples' clock, while somebody sets the wall
// clock.
func TestClockReadings(t *testing.T) {
	const second = int64(time.Second)
	const epoch = 1_700_000_000 * second // the wall clock at 0 s
	reading := func(at, set int64) capture.Clock {
		return capture.Clock{MonoNanos: at * second, WallNanos: epoch + (at+set)*second}
	}
	for _, c := range []struct {
		name           string
		set            int64 // by how many s the wall clock was set before the command's end
		start          int64 // of the JVM
		setBefore      int64 // by how many s the wall clock was set before the JVM started
		foundAt        int64 // when the JVM was found; 0 for never
		want           int64
		noteStartsWith string
	}{
		{"nobody sets it", 0, 110, 0, 110, 110, ""},
		{"not found, nobody sets it", 0, 110, 0, 0, 110, ""},
		{"set forward later", 3600, 110, 0, 110, 110, "the wall clock was changed by 1h0m0s "},
		{"set forward before", 3600, 110, 3600, 110, 110, "the wall clock was changed by 1h0m0s "},
		{"set back before, a little", -20, 150, -20, 150, 150, "the wall clock was changed by -20s "},
		{"set back later, a little", -20, 110, 0, 111, 110, "the wall clock was changed by -20s "},
		{"not found, set forward before", 3600, 110, 3600, 0, 110, "the wall clock was changed by 1h0m0s "},
		{"not found, set back later", -3600, 110, 0, 0, 110, "the wall clock was changed by -1h0m0s "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := clockReadings{start: reading(100, 0), end: reading(160, c.set), found: map[int]capture.Clock{}}
			if c.foundAt != 0 {
				r.found[7] = reading(c.foundAt, c.setBefore)
			}
			assert.Equal(t, c.want*second, r.jvmStart(7, epoch+(c.start+c.setBefore)*second))
			if c.noteStartsWith == "" {
				assert.Empty(t, r.note())
			} else {
				assert.Contains(t, r.note(), c.noteStartsWith)
			}
		})
	}
	// The time that a reading takes is not a step, nor is the difference that NTP causes when it slews the clock.
	r := clockReadings{start: reading(100, 0), end: reading(160, 0)}
	r.end.WallNanos += int64(clockNoise)
	assert.Zero(t, r.step())
}
