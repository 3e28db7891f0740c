package profile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// checkParts fails if the parts of a method, a line or anything else do not add up to its samples.
func checkParts(t *testing.T, p *Profile) {
	t.Helper()
	if p.Parts == nil {
		return
	}
	require.LessOrEqual(t, len(p.Parts.List), parts.MaxParts)
	check := func(want tally.Counts, by parts.Counts, what string) {
		t.Helper()
		sum := make(tally.Counts, len(want))
		for i, c := range by {
			require.True(t, c.Part < len(p.Parts.List) && (i == 0 || by[i-1].Part < c.Part), "%s: %v", what, by)
			sum.Add(c.Counts)
		}
		require.Equal(t, want, sum, what)
	}
	for _, part := range p.Parts.List {
		require.Less(t, part.Slice, len(p.Parts.Slices))
		require.Less(t, part.Thread, len(p.Parts.Threads))
	}
	all := make(tally.Counts, len(p.Counters))
	for e, a := range p.Accounts {
		all[e] = a.Profiled
	}
	check(all, p.Parts.All, "all")
	for _, m := range p.Methods {
		check(m.Counts, p.Parts.Methods[[2]string{m.Source, m.Name}], m.Name)
	}
	for _, f := range p.Native {
		check(f.Counts, p.Parts.Native[[2]string{f.Module, f.Symbol}], f.Symbol)
	}
	for _, s := range p.Sources {
		check(s.Counts, p.Parts.Sources[s.Source], s.Source)
	}
	for _, f := range p.Frames {
		check(f.Counts, p.Parts.Frames[f.Method], f.Method)
		check(f.Total, p.Parts.Totals[f.Method], f.Method)
		for _, l := range f.Lines {
			check(l.Counts, p.Parts.Lines[MethodLine{f.Method, l.Line}], fmt.Sprint(f.Method, l.Line))
		}
	}
	for _, k := range p.Threads {
		for _, thread := range k.Threads {
			check(thread.Counts, p.Parts.ByThread[thread.Name], thread.Name)
		}
	}
	for i := range p.Listings {
		l := &p.Listings[i]
		check(l.Counts, l.Parts.All, l.Method)
		for k := range l.Lines {
			check(l.Lines[k].Counts, l.Parts.Lines[k], l.Method)
		}
	}
}

// A benchmark is cut by its slices and by threads.
func TestPartsOfBenchmark(t *testing.T) {
	code := newLog(t, c2(10, 7, "A::a", 0x1000, "4801 d090"))
	b := NewBuilder(choice.Config{
		JVMs: []capture.JVM{{PID: 1, Log: code}, {PID: 2, Log: newLog(t, c2(10, 7, "A::a", 0x1000, "4801 d090"))}},
		Trials: []capture.Trial{{Name: "bench", Windows: []capture.Window{window(1, 100e6, 200e6), window(1, 250e6, 300e6),
			window(2, 100e6, 150e6)}}},
		Parts: true,
	})
	for ms := range int64(400) {
		s := at(1, ms, 0x1000)
		s.Thread = fmt.Sprintf("worker-%d", ms%3)
		idle := native(1, ms, "kernel", "idle")
		idle.Thread = "GC Thread#0"
		add(b, s, idle, at(2, ms, 0x1003))
	}
	p := build(t, b, choice.Options{Listings: 100})[0]
	require.NotNil(t, p.Parts)
	assert.ElementsMatch(t, []parts.ThreadGroup{{Kind: threads.Application, Name: "worker-"},
		{Kind: threads.Collector, Name: "GC Thread#"}, {Kind: threads.Application, Name: ""}}, p.Parts.Threads)
	slices := make([]tally.Counts, len(p.Parts.Slices))
	for i := range slices {
		slices[i] = tally.Counts{0}
	}
	for _, c := range p.Parts.All {
		slices[p.Parts.List[c.Part].Slice].Add(c.Counts)
	}
	assert.Equal(t, p.Slices, slices)
	assert.Equal(t, parts.TimeSlice{PID: 1, Span: capture.Span{FromMonoNanos: 190e6, ToMonoNanos: 270e6}},
		p.Parts.Slices[3], "over the time between two windows")
	assert.Equal(t, parts.TimeSlice{PID: 2, Span: capture.Span{FromMonoNanos: 100e6, ToMonoNanos: 110e6}},
		p.Parts.Slices[5])
}

// A program is cut into equal slices of time. If there are too many JVMs, threads or sampled places, there are fewer
// parts.
func TestPartsOfProgram(t *testing.T) {
	log := newLog(t, c2(0, 7, "A::a", 0x1000, nops(64)))
	for _, c := range []struct {
		name             string
		jvms, samples    int
		threads          int
		slices, leastOut int
	}{
		{"one JVM", 1, 1200, 1, 12, 12}, {"three", 3, 1200, 1, 36, 30}, {"forty", 40, 1200, 1, 40, 40},
		{"a hundred", 100, 1200, 3, 1, 3},
		{"many threads", 1, 1200, 20, 6, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			var jvms []capture.JVM
			for pid := range c.jvms {
				jvms = append(jvms, capture.JVM{PID: pid + 1, Log: log})
			}
			b := NewBuilder(choice.Config{JVMs: jvms, Parts: true})
			for i := range c.samples {
				s := at(1+i%c.jvms, int64(100+i), 0x1000+uint64(i%64))
				s.Thread = string(rune('a' + i%c.threads))
				add(b, s)
			}
			p := build(t, b, choice.Options{Listings: 100})[0]
			require.NotNil(t, p.Parts)
			assert.Len(t, p.Parts.Slices, c.slices)
			assert.GreaterOrEqual(t, len(p.Parts.List), c.leastOut)
			assert.LessOrEqual(t, len(p.Parts.Threads), 9, "eight names, and all others")
		})
	}
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}}, Parts: true})
	without := at(1, 0, 0x1000)
	without.MonoNanos = -1
	add(b, without, without)
	assert.Nil(t, build(t, b, choice.Options{})[0].Parts, "samples without times, of one thread")
}
