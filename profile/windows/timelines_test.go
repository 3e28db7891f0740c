package windows

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
)

// All windows of a JVM are cut together: with windows of 1 s and 1.5 s, a slice has 0.5 s.
func TestSlicing(t *testing.T) {
	find := func(name string, pid int, mono int64, windows ...capture.Window) (slice int, in bool) {
		lines, overlapping := Timelines(Measurements(nil, []capture.Trial{{Name: name, Windows: windows}}))
		assert.Zero(t, overlapping)
		if lines[pid] == nil {
			return 0, false
		}
		_, slice, in = lines[pid].Find(mono)
		return slice, in
	}
	for _, c := range []struct {
		pid   int
		mono  int64
		slice int
		in    bool
	}{
		{1, 10e9 - 1, 0, false}, {1, 10e9, 0, true}, {1, 10.5e9 - 1, 0, true}, {1, 10.5e9, 1, true}, {1, 11e9 - 1, 1, true},
		{1, 11e9, 0, false},
		{1, 20e9 - 1, 0, false}, {1, 20e9, 2, true}, {1, 21e9, 4, true}, {1, 21.5e9 - 1, 4, true}, {1, 21.5e9, 0, false},
		{2, 50e9, 5, true}, {2, 55e9 - 1, 9, true}, {2, 20e9, 0, false}, {3, 50e9, 0, false}, {1, -1, 0, true},
		{2, -1, 5, true},
	} {
		slice, in := find("bench", c.pid, c.mono, window(2, 50e9, 55e9), window(1, 20e9, 21.5e9), window(1, 10e9, 11e9))
		assert.Equal(t, []any{c.slice, c.in}, []any{slice, in}, "pid %d at %d", c.pid, c.mono)
	}
	slice, in := find("", 1, 9, window(1, 0, 10))
	assert.Equal(t, []any{0, true}, []any{slice, in}, "programs have phases")
	_, in = find("bench", 1, 5, window(1, 5, 5))
	assert.False(t, in)
}
