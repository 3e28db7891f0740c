package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Every list has its samples over time. Samples of other processes and outside of the windows are in no list.
func TestSlices(t *testing.T) {
	code := newLog(t, c2(10, 7, "A::a", 0x1000, "4801 d090"))
	b := NewBuilder(choice.Config{
		JVMs:   []capture.JVM{{PID: 1, Log: code}, {PID: 2, Log: newLog(t, c2(10, 7, "A::a", 0x1000, "4801 d090"))}},
		Trials: []capture.Trial{{Name: "bench", Windows: []capture.Window{window(1, 100e6, 200e6), window(2, 100e6, 150e6)}}},
	})
	for ms := range int64(300) {
		add(b, at(1, ms, 0x1000), at(1, ms, 0x1003), native(1, ms, "kernel", "idle"), at(3, ms, 0x1000))
	}
	add(b, repeat(4, at(2, 149, 0x1000))...)
	add(b, at(2, 110, 0x9000_0000), native(2, 120, "kernel", "idle"))
	p := build(t, b, choice.Options{Locations: true})[0]
	each := func(counts ...int64) (over []tally.Counts) {
		for _, n := range counts {
			over = append(over, tally.Counts{n})
		}
		return over
	}
	assert.Equal(t, each(60, 60, 60, 60, 60, 0, 1, 1, 0, 4), p.Slices)
	assert.Equal(t, each(40, 40, 40, 40, 40, 0, 0, 0, 0, 4), p.Methods[0].Slices)
	assert.Equal(t, p.Methods[0].Slices, p.Frames[0].Slices)
	assert.Equal(t, each(20, 20, 20, 20, 20, 0, 0, 1, 0, 0), p.Native[0].Slices)
	assert.Len(t, p.Locations, 6, "slices do not make more locations")
}
