package stack

import (
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/native"
)

// TestWithin checks that, after GiveUp, nobody waits for memory that can't be read.
func TestWithin(t *testing.T) {
	w := NewWalker(shared.NewJVMs())
	j := w.process(4711, 1)
	value, ok := within(j, func() int { return 5 })
	assert.True(t, ok)
	assert.Equal(t, 5, value)

	blocked, asked := make(chan struct{}), make(chan struct{})
	answered := make(chan bool)
	go func() {
		_, ok := within(j, func() int { close(asked); <-blocked; return 6 })
		answered <- ok
	}()
	<-asked
	w.GiveUp()
	assert.False(t, <-answered)
	_, ok = within(j, func() int { t.Error("it reads although it has not read to the end before"); return 7 })
	assert.False(t, ok)
	other := w.process(4712, 1)
	assert.False(t, other.asked.Load(), "other processes are not affected")

	close(blocked)
	require.Eventually(t, func() bool { return !j.asked.Load() }, time.Minute, time.Millisecond)
}

// TestReaderEnds checks that Walkers that nobody uses any more leave no goroutines behind, even if nobody has closed
// them, or one of their reads has taken too long.
func TestReaderEnds(t *testing.T) {
	blocked := make(chan struct{})
	for i := range 20 {
		w := NewWalker(shared.NewJVMs())
		_, ok := within(w.process(4711, 1), func() int { return 5 })
		require.True(t, ok)
		if i%2 == 0 {
			w.GiveUp()
			within(w.process(4712, 1), func() int { <-blocked; return 6 })
		}
	}
	readers := func() int {
		var text strings.Builder
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&text, 2))
		return strings.Count(text.String(), "created by github.com/gasm-profiler/gasm/hotspot/stack.newReader")
	}
	require.Eventually(t, func() bool { runtime.GC(); return readers() == 10 }, time.Minute, 10*time.Millisecond,
		"those that are blocked")
	close(blocked)
	require.Eventually(t, func() bool { runtime.GC(); return readers() == 0 }, time.Minute, 10*time.Millisecond)
}

// TestSlowLibrary reads a library that can't be opened for a while. If walks have waited too long for libraries
// already, they do not wait for this one, but it is read in the end.
func TestSlowLibrary(t *testing.T) {
	w := NewWalker(shared.NewJVMs())
	pid := os.Getpid()
	maps, err := native.ReadMaps(pid)
	require.NoError(t, err)
	var vdso native.Mapping // the vDSO is not read from a file
	for _, m := range maps {
		if m.Path == native.VDSO {
			vdso = m
		}
	}
	require.NotZero(t, vdso)
	mappings := native.NewResolver()
	mappings.Add(maps...)

	j := w.process(pid, 1)
	first := w.library(j, &vdso, mappings)
	require.NotNil(t, first.table)
	assert.True(t, first.settled(pid))
	assert.Same(t, first, w.library(j, &vdso, mappings))

	slow := &library{}
	blocked := make(chan struct{})
	j.waited = mostWaiting // as if walks had waited that long for another library
	w.read(slow, j, native.Mapping{Path: "/slow", PID: pid},
		func() (*os.File, error) { <-blocked; return os.Open("/bin/sh") })
	assert.Nil(t, slow.table)
	assert.False(t, slow.settled(pid))
	close(blocked)
	require.Eventually(t, func() bool { return len(slow.reading.done) > 0 }, time.Minute, time.Millisecond)
	w.take(slow, <-slow.reading.done)
	assert.NotNil(t, slow.table)
	assert.True(t, slow.settled(pid))
}

// TestSites checks when the cache of return addresses is emptied.
func TestSites(t *testing.T) {
	var s sites
	fill := func() {
		s.byPC[1], s.mappings[2], s.methods[methodAt{3, 4}], s.interrupted[5] = &site{}, &mapped{}, &frame{}, &frame{}
	}
	sizes := func() [4]int { return [4]int{len(s.byPC), len(s.mappings), len(s.methods), len(s.interrupted)} }
	s.refresh(1, 1, 100)
	fill()
	s.refresh(1, 1, 100+int64(keepMethods))
	assert.Equal(t, [4]int{1, 1, 1, 1}, sizes())
	s.refresh(1, 1, 101+int64(keepMethods))
	assert.Equal(t, [4]int{1, 1, 0, 1}, sizes(), "names of classes may be wrong by now")
	assert.Empty(t, s.stale, "no sample was there")
	fill()
	s.methods[methodAt{5, 6}] = &frame{used: true}
	s.refresh(1, 1, 102+2*int64(keepMethods))
	assert.Equal(t, map[methodAt]*frame{{5, 6}: {}}, s.stale)
	s.refresh(1, 1, 103+3*int64(keepMethods))
	assert.Len(t, s.stale, 1, "it is kept until it is checked, or others are")
	fill()
	s.refresh(2, 1, 104+3*int64(keepMethods))
	assert.Equal(t, [4]int{0, 1, 1, 1}, sizes(), "there is other code in the code cache")
	fill()
	s.refresh(2, 2, 105+3*int64(keepMethods))
	assert.Equal(t, [4]int{0, 0, 1, 0}, sizes(), "other files are mapped")
}
