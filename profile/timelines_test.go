package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// All windows of a JVM are cut together: with windows of 1 s and 1.5 s, a slice has 0.5 s.
func TestSlicing(t *testing.T) {
	find := func(name string, pid int, mono int64, windows ...capture.Window) (slice int, in bool) {
		lines, overlapping := newTimelines(measurements(nil, []capture.Trial{{Name: name, Windows: windows}}))
		assert.Zero(t, overlapping)
		if lines[pid] == nil {
			return 0, false
		}
		_, slice, in = lines[pid].find(mono)
		return slice, in
	}
	for _, c := range []struct {
		pid   int
		mono  int64
		slice int
		in    bool
	}{
		{1, 10e9 - 1, 0, false}, {1, 10e9, 0, true}, {1, 10.5e9 - 1, 0, true}, {1, 10.5e9, 1, true}, {1, 11e9 - 1, 1, true}, {1, 11e9, 0, false},
		{1, 20e9 - 1, 0, false}, {1, 20e9, 2, true}, {1, 21e9, 4, true}, {1, 21.5e9 - 1, 4, true}, {1, 21.5e9, 0, false},
		{2, 50e9, 5, true}, {2, 55e9 - 1, 9, true}, {2, 20e9, 0, false}, {3, 50e9, 0, false}, {1, -1, 0, true}, {2, -1, 5, true},
	} {
		slice, in := find("bench", c.pid, c.mono, window(2, 50e9, 55e9), window(1, 20e9, 21.5e9), window(1, 10e9, 11e9))
		assert.Equal(t, []any{c.slice, c.in}, []any{slice, in}, "pid %d at %d", c.pid, c.mono)
	}
	slice, in := find("", 1, 9, window(1, 0, 10))
	assert.Equal(t, []any{0, true}, []any{slice, in}, "programs have phases")
	_, in = find("bench", 1, 5, window(1, 5, 5))
	assert.False(t, in)
}

// Every list has its samples over time. Samples of other processes and outside of the windows are in no list.
func TestSlices(t *testing.T) {
	code := newLog(t, c2(10, 7, "A::a", 0x1000, "4801 d090"))
	b := NewBuilder(Config{
		JVMs:   []capture.JVM{{PID: 1, Log: code}, {PID: 2, Log: newLog(t, c2(10, 7, "A::a", 0x1000, "4801 d090"))}},
		Trials: []capture.Trial{{Name: "bench", Windows: []capture.Window{window(1, 100e6, 200e6), window(2, 100e6, 150e6)}}},
	})
	for ms := range int64(300) {
		add(b, at(1, ms, 0x1000), at(1, ms, 0x1003), native(1, ms, "kernel", "idle"), at(3, ms, 0x1000))
	}
	add(b, repeat(4, at(2, 149, 0x1000))...)
	add(b, at(2, 110, 0x9000_0000), native(2, 120, "kernel", "idle"))
	p := build(t, b, Options{Locations: true})[0]
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
