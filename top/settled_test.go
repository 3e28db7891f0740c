package top_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
	"github.com/gasm-profiler/gasm/top/toptest"
)

// placeOf returns a text that describes the place of a Location, and all its callers.
func placeOf(l *profile.Location, stacks *calltree.Stacks) string {
	var b strings.Builder
	switch {
	case l.Module == profile.UnknownModule || l.Source == profile.UnresolvedSource: // gasm top does not distinguish them
		b.WriteString("unknown")
	default:
		fmt.Fprintf(&b, "%s %s %s %d", l.Source, l.Module, l.Name, l.CompileID)
	}
	for _, f := range l.Frames {
		fmt.Fprintf(&b, " %s:%d", f.Method, f.Line)
	}
	if l.Stack == calltree.NoCaller {
		b.WriteString(" outermost")
	}
	for f := range stacks.Frames(l.Stack) {
		fmt.Fprintf(&b, " < %s %s %s:%d", f.Kind, f.Module, f.Name, f.Line)
	}
	return b.String()
}

// TestSettled compares what a Model returns piece by piece with the locations that gasm report finds in the same
// samples: each sample must be there once, with the same frames and the same callers.
func TestSettled(t *testing.T) {
	c, err := capture.Open(gasmtest.UnpackFolder(t, "stacks"))
	require.NoError(t, err)
	defer c.Close()
	o := choice.DefaultOptions()
	o.Stacks, o.Locations = true, true
	ps, err := profile.Of(c, o)
	require.NoError(t, err)
	want := map[string]int64{}
	for i := range ps.Trials[0].Locations {
		l := &ps.Trials[0].Locations[i]
		want[placeOf(l, ps.Stacks)] += l.Counts[0]
	}

	r := toptest.New(t, "stacks", nil)
	got, pieces, last, hertz := map[string]int64{}, 0, int64(0), 0
	take := func(wait int) {
		s, ok := r.Model.TakeSettled(wait)
		if !ok {
			return
		}
		if pieces++; pieces > 1 {
			assert.Equal(t, last, s.FromMono, "no time is missing")
		}
		last, hertz = s.ToMono, s.Hertz
		for i := range s.Samples {
			assert.Equal(t, r.PID, s.Samples[i].PID)
			got[placeOf(&s.Samples[i], s.Stacks)] += s.Samples[i].Counts[0]
		}
	}
	for n := 0; r.Second(); n++ {
		if n%2 == 0 {
			take(2)
		}
	}
	take(0)
	assert.Greater(t, pieces, 1)
	assert.Equal(t, r.Now(), last)
	assert.Equal(t, ps.Capture.Frequency, hertz)
	assert.Equal(t, want, got)
	_, ok := r.Model.TakeSettled(0)
	assert.False(t, ok, "nothing is returned twice")
}

// TestRecent checks that a Model that does not keep the samples since the start returns the same seconds.
func TestRecent(t *testing.T) {
	r, m := toptest.New(t, "stacks", nil), toptest.New(t, "stacks", nil)
	m.Model.ForgetStart()
	r.All()
	m.All()
	assert.Equal(t, r.Model.Picture(top.Last(10)).Total, m.Model.Picture(top.Last(10)).Total)
	assert.Zero(t, m.Model.Picture(top.SinceStart).Total)
	keys, _, _ := m.Model.Sizes()
	assert.Zero(t, keys)
}

// TestOutermost checks that a function without a caller is the outermost frame, and does not count as one whose caller
// is unknown.
func TestOutermost(t *testing.T) {
	m := top.NewModel(10, disasm.ATT)
	m.SetJVMs([]top.JVM{{PID: 7}})
	s := m.NewSegment()
	s.Begin(100, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	tree := callstack.NewWriter(s)
	outermost := tree.Push(0, callstack.At(callstack.NoCaller, 0))
	require.NoError(t, tree.Flush())
	for _, stack := range []callstack.ID{outermost, 0} {
		s.Sample(&sampler.Sample{PID: 7, TID: 7, Event: "cpu-clock", Module: "lib.so", Symbol: "f", MonoNanos: 1e9,
			Stack: stack})
	}
	m.Tick(1e9)
	m.Tick(3e9)
	got, ok := m.TakeSettled(0)
	require.True(t, ok)
	require.Len(t, got.Samples, 2)
	assert.ElementsMatch(t, []callstack.ID{calltree.NoCaller, 0},
		[]callstack.ID{got.Samples[0].Stack, got.Samples[1].Stack})
}

// TestSourceFilesOfTwo checks that the source files of classes with the same name in two JVMs are kept apart.
func TestSourceFilesOfTwo(t *testing.T) {
	dir := gasmtest.UnpackFolder(t, "stacks")
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	log, err := os.ReadFile(filepath.Join(dir, capture.LogFile(d.JVMs[0].PID)))
	require.NoError(t, err)
	m := top.NewModel(10, disasm.ATT)
	m.SetJVMs([]top.JVM{{PID: 7}, {PID: 8}})
	s := m.NewSegment()
	s.Begin(100, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	for pid, file := range map[int]string{7: "Seven.java", 8: "Eight.java"} {
		s.Code(pid, log)
		s.Code(pid, printassembly.AppendSourceFile(nil, "acme.Server", file))
		s.Sample(&sampler.Sample{PID: pid, TID: pid, Event: "cpu-clock", Module: "lib.so", Symbol: "f", MonoNanos: 1e9})
	}
	m.Tick(1e9)
	m.Tick(3e9)
	got, ok := m.TakeSettled(0)
	require.True(t, ok)
	assert.Equal(t, "Seven.java", got.SourceFiles[7]["acme.Server"])
	assert.Equal(t, "Eight.java", got.SourceFiles[8]["acme.Server"])
}

// TestSettledEnded ends one of two equal JVMs. All its samples must be returned, with the same frames as those of the
// other one, and then nothing of it must be kept.
func TestSettledEnded(t *testing.T) {
	dir := gasmtest.UnpackFolder(t, "stacks")
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	log, err := os.ReadFile(filepath.Join(dir, capture.LogFile(d.JVMs[0].PID)))
	require.NoError(t, err)
	r := toptest.New(t, "stacks", nil)
	r.All()
	s, ok := r.Model.TakeSettled(0)
	require.True(t, ok)
	i := slices.IndexFunc(s.Samples, func(l profile.Location) bool { return len(l.Frames) > 0 })
	require.GreaterOrEqual(t, i, 0)
	hot := s.Samples[i]

	m := top.NewModel(10, disasm.ATT)
	m.SetJVMs([]top.JVM{{PID: 7}, {PID: 8}})
	segment := m.NewSegment()
	segment.Begin(100, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	segment.Code(7, log)
	segment.Code(8, log)
	m.Tick(1e9)
	frames, samples := map[int][]string{}, map[int]int64{}
	take := func() {
		s, _ := m.TakeSettled(2)
		for _, l := range s.Samples {
			frames[l.PID] = append(frames[l.PID], fmt.Sprint(l.Name, l.Frames))
			samples[l.PID] += l.Counts[0]
		}
	}
	const wholeSecond = 1_000_000_000
	for second := int64(2); second < 20; second++ {
		for _, pid := range []int{7, 8} {
			if pid == 8 || second <= 6 {
				segment.Sample(&sampler.Sample{PID: pid, TID: pid, Event: "cpu-clock", PC: hot.PC,
					MonoNanos: second*wholeSecond - wholeSecond/2})
			}
		}
		if second == 6 {
			m.EndJVM(7)
		}
		m.Tick(second * wholeSecond)
		if second%3 == 0 {
			take()
		}
		jvms, text, decoded := m.Kept()
		t.Logf("second %2d: %d JVMs, %d bytes, %d instructions", second, jvms, text, decoded)
		switch {
		case second == 6:
			assert.Equal(t, []int{2, 2 * len(log)}, []int{jvms, text})
		case second > 12:
			assert.Equal(t, []int{1, len(log)}, []int{jvms, text})
			assert.Positive(t, decoded)
		}
	}
	assert.EqualValues(t, 5, samples[7])
	require.Len(t, frames[7], 2)
	assert.Contains(t, frames[7][0], hot.Frames[0].Method)
	assert.Equal(t, frames[7], frames[8][:2])
}
