package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestProcesses has processes that fork, become other programs, and end.
func TestProcesses(t *testing.T) {
	lib := compile(t, shared...)
	r := NewResolver()
	mapLibrary(t, r, lib, 1, base)
	a := symbolOf(t, lib, "exported_a")
	pc := base + a.lo
	check := func(pid int, want string) {
		t.Helper()
		got, ok := r.Resolve(pid, pc, "")
		assert.Equal(t, want != "", ok, "pid %d", pid)
		assert.Equal(t, want, got.Symbol)
		if ok {
			assert.Equal(t, pid, got.PID)
			assert.Equal(t, lib, r.Path(pid, pc))
		} else {
			assert.Empty(t, r.Path(pid, pc))
		}
	}
	r.Fork(1, 2)
	check(2, "exported_a")
	check(1, "exported_a")
	r.Fork(7, 3) // process 7 is unknown
	check(3, "")
	r.Fork(2, 4)
	r.Forget(2)
	check(2, "")
	check(4, "exported_a")
	r.Forget(1)
	r.Forget(99)
	r.Add(Mapping{PID: 1, Lo: base, Hi: base + 1<<30, Path: "//anon"})
	_, ok := r.Resolve(1, pc, "")
	assert.False(t, ok)
	assert.Equal(t, "//anon", r.Path(1, pc))

	table := r.Table()
	for _, pid := range []int{1, 2, 4} {
		found, ok := table.Resolve(pid, pc)
		assert.True(t, ok, "what was resolved stays, of pid %d", pid)
		assert.Equal(t, "exported_a", found.Symbol)
	}
	for pid := range 1000 { // processes without samples leave nothing
		r.Fork(4, 1000+pid)
		r.Forget(1000 + pid)
	}
	assert.LessOrEqual(t, len(r.processes), 4)
}

// TestMapping checks which mapping, or which piece of one, contains an address.
func TestMapping(t *testing.T) {
	r := NewResolver()
	check := func(pid int, pc uint64, want Mapping) {
		t.Helper()
		got, ok := r.Mapping(pid, pc)
		assert.Equal(t, want != Mapping{}, ok, "%#x", pc)
		assert.Equal(t, want, got, "%#x", pc)
	}
	check(1, base, Mapping{})
	lib := Mapping{PID: 1, Lo: base, Hi: base + 0x8000, FileOffset: 0x1000, Path: "/lib.so", DevMajor: 8, DevMinor: 1,
		Inode: 7}
	jit := Mapping{PID: 1, Lo: base + 0x3000, Hi: base + 0x4000, Path: "//anon"}
	r.Add(lib)
	check(1, base-1, Mapping{})
	check(1, base, lib)
	check(1, base+0x7fff, lib)
	check(1, base+0x8000, Mapping{})
	r.Add(jit)
	below, above := lib, lib
	below.Hi = jit.Lo
	above.Lo, above.FileOffset = jit.Hi, 0x5000
	check(1, base+0x2fff, below)
	check(1, base+0x3000, jit)
	check(1, base+0x4000, above)
	r.Fork(1, 2)
	above.PID = 2
	check(2, base+0x4000, above)
	r.Forget(1)
	check(1, base+0x4000, Mapping{})
	check(2, base+0x4000, above)
}
