// Package toptest makes models for tests of gasm top. The models get the samples of a capture as if these were being
// taken now.
package toptest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
)

// A Replay delivers a capture to a Model second by second.
type Replay struct {
	Model   *top.Model
	PID     int
	Start   int64 // when the first sample was taken
	segment *top.Segment
	samples []sampler.Sample
	now     int64
}

// New returns the replay of a committed capture of one JVM with call stacks. If the function change is not nil, it is
// called first, and changes the texts of the capture's files.
func New(tb testing.TB, name string, change func(file string, text []byte) []byte) *Replay {
	tb.Helper()
	dir := gasmtest.UnpackFolder(tb, name)
	c, err := capture.Open(dir)
	require.NoError(tb, err)
	defer c.Close()
	require.Len(tb, c.JVMs, 1)
	j := c.JVMs[0]
	r := &Replay{PID: j.PID, Model: top.NewModel(10, disasm.ATT)}
	r.Model.SetJVMs([]top.JVM{{PID: j.PID, Main: j.Main, Version: j.Version, StartMonoNanos: j.StartMonoNanos}})
	r.segment = r.Model.NewSegment()
	read := func(file string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(tb, err)
		if change != nil {
			return change(file, text)
		}
		return text
	}
	samples, err := c.Samples()
	require.NoError(tb, err)
	defer samples.Close()
	for samples.Scan() {
		if s, ok := samples.Record().(*sampler.Sample); ok {
			r.samples = append(r.samples, *s)
		}
	}
	require.NotEmpty(tb, r.samples)
	r.Start = r.samples[0].MonoNanos
	r.now = r.Start - 1e9
	r.segment.Code(j.PID, read(capture.LogFile(j.PID)))
	_, err = r.segment.Write(read(capture.StacksFile))
	require.NoError(tb, err)
	r.segment.Begin(c.Frequency, []sampler.Event{sampler.ParseEvent(r.samples[0].Event)})
	r.Model.Tick(r.now)
	return r
}

// Second delivers the samples of the next second, and ends it. It returns false if there are no more.
func (r *Replay) Second() (more bool) {
	r.now += 1e9
	n := 0
	for n < len(r.samples) && r.samples[n].MonoNanos < r.now {
		r.segment.Sample(&r.samples[n])
		n++
	}
	r.samples = r.samples[n:]
	r.Model.Tick(r.now + 1e9) // a second later, because the youngest samples wait for the next Tick
	return len(r.samples) > 0
}

// Code delivers text of the log of the JVM's code.
func (r *Replay) Code(text []byte) { r.segment.Code(r.PID, text) }

// All delivers all samples.
func (r *Replay) All() {
	for r.Second() {
	}
}

// Now returns the present time of the replay.
func (r *Replay) Now() int64 { return r.now + 1e9 }

// Named returns a Model with samples of a JVM in which everything has the same name: the program, its methods, native
// functions, threads and collectors.
func Named(name string) *top.Model {
	const pid, start = 4711, int64(1e9)
	m := top.NewModel(10, disasm.ATT)
	m.SetJVMs([]top.JVM{{PID: pid, Main: name, Version: name, StartMonoNanos: start}})
	s := m.NewSegment()
	text := fmt.Appendf(nil, "<hotspot_log version='160 1' process='%d' time_ms='1'>\n<tty>\n<writer thread='gasm'/>\n",
		pid)
	text =
		fmt.Appendf(text, "<nmethod compile_id='7' compiler='c2' level='4' entry='0x1000' size='256' address='0x1000' insts_offset='0' method='%s m ()V' stamp='0.1'/>\n",
			printassembly.Escape(name))
	s.Code(pid, text)
	tree := callstack.NewWriter(s)
	caller := tree.Push(0, callstack.Frame{Kind: callstack.Compiled, Name: name + "::caller", BCI: 1, Line: 2})
	interpreted := tree.Push(caller, callstack.Frame{Kind: callstack.Interpreted, Name: name, BCI: 1, Line: 2})
	_ = tree.Flush() // a Segment returns no error
	s.Begin(199, []sampler.Event{sampler.ParseEvent("cpu-clock")})
	for i, x := range []sampler.Sample{{PC: 0x1010, Stack: caller}, {PC: 0x1020, Stack: interpreted},
		{PC: 0x7000, Module: name, Symbol: name}, {PC: 0x9000}} {
		x.PID, x.TID, x.Thread, x.Event, x.MonoNanos = pid, i+1, name, "cpu-clock", start+int64(i)
		s.Sample(&x)
	}
	activity := top.Activity{Collectors: []top.Collector{{Name: name, Count: 1}}}
	m.Observe(pid, start, activity)
	activity.Collectors = []top.Collector{{Name: name, Count: 5}}
	m.Observe(pid, start+1, activity)
	m.Tick(start + 1e9)
	m.Tick(start + 2e9)
	return m
}
