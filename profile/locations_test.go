package profile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/numbers"
	"github.com/gasm-profiler/gasm/profile/tally"
)

func withLocations() choice.Options {
	opts := choice.DefaultOptions()
	opts.Locations = true
	return opts
}

// checkLocations fails if the locations do not add up to the other tables.
func checkLocations(t *testing.T, p *Profile) {
	t.Helper()
	profiled := make(tally.Counts, len(p.Counters))
	sources, frames, natives := map[string]tally.Counts{}, map[string]tally.Counts{}, map[numbers.Function]tally.Counts{}
	for _, l := range p.Locations {
		require.Len(t, l.Counts, len(p.Counters))
		require.Contains(t, p.PIDs, l.PID)
		profiled.Add(l.Counts)
		addUp(sources, l.Source, l.Counts)
		if len(l.Frames) > 0 {
			addUp(frames, l.Frames[0].Method, l.Counts)
			require.NotZero(t, l.PC)
		}
		if l.Module != "" {
			addUp(natives, numbers.Function{Module: l.Module, Symbol: l.Name}, l.Counts)
			require.Zero(t, l.PC)
		}
	}
	for e, a := range p.Accounts {
		require.Equal(t, a.Profiled, profiled[e])
	}
	wantSources, wantFrames, wantNatives :=
		map[string]tally.Counts{}, map[string]tally.Counts{}, map[numbers.Function]tally.Counts{}
	for _, s := range p.Sources {
		wantSources[s.Source] = s.Counts
	}
	for _, f := range p.Frames {
		if slices.Max(f.Counts) > 0 {
			wantFrames[f.Method] = f.Counts
		}
	}
	for _, f := range p.Native {
		wantNatives[numbers.Function{Module: f.Module, Symbol: f.Symbol}] = f.Counts
	}
	require.Equal(t, wantSources, sources)
	require.Equal(t, wantFrames, frames)
	require.Equal(t, wantNatives, natives)
}

func addUp[K comparable](m map[K]tally.Counts, key K, c tally.Counts) {
	if m[key] == nil {
		m[key] = make(tally.Counts, len(c))
	}
	m[key].Add(c)
}

// Two JVMs have the same code at the same address, and there is a sample of each kind.
func TestLocations(t *testing.T) {
	const inlined = `9090 9090
		 ;*iadd {reexecute=0}
		 ; - A::inner@4 (line 12)
		 ; - A::a@9 (line 3)
		 4801 d090`
	log := func() *printassembly.Log {
		return newLog(t, stub("copy", 0x100, nops(16)), codelet("iload  21 iload", 0x200, nops(16)),
			c2(10, 7, "A::a", 0x1000, inlined), method("n/a", 10, 8, 0, "A::wrapped", 0x2000, nops(16)))
	}
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log()}, {PID: 2, Log: log()}}})
	instructions := native(2, 15, "libc.so.6", "memcpy")
	instructions.Event = "instructions"
	add(b, slices.Concat(
		repeat(5, at(1, 15, 0x1000)), repeat(4, at(2, 15, 0x1000)), // inlined
		repeat(3, at(1, 15, 0x2000)), repeat(2, at(1, 15, 0x100)), repeat(2, at(1, 15, 0x200)),
		repeat(1, at(1, 15, 0x9000)), repeat(1, at(2, 15, 0x9000)), // unresolved
		repeat(7, native(1, 15, "libc.so.6", "memcpy")), repeat(6, native(2, 15, "libc.so.6", "memcpy")),
		repeat(1, native(2, 15, "kernel", "")))...)
	b.Add(&instructions)

	opts := withLocations()
	opts.SkipStubs, opts.SkipInterpreter = true, true
	p := build(t, b, opts)[0]
	checkLocations(t, &p)
	chain := []printassembly.Frame{{Method: "A::inner", BCI: 4, Line: 12}, {Method: "A::a", BCI: 9, Line: 3}}
	assert.Equal(t, []Location{
		{PID: 1, Source: "libc.so.6", Module: "libc.so.6", Name: "memcpy", Counts: tally.Counts{7, 0}},
		{PID: 2, Source: "libc.so.6", Module: "libc.so.6", Name: "memcpy", Counts: tally.Counts{6, 1}},
		{PID: 1, PC: 0x1000, Source: "c2, level 4", Name: "A::a", CompileID: 7, Frames: chain, Counts: tally.Counts{5, 0}},
		{PID: 2, PC: 0x1000, Source: "c2, level 4", Name: "A::a", CompileID: 7, Frames: chain, Counts: tally.Counts{4, 0}},
		{PID: 1, PC: 0x2000, Source: "native wrapper", Name: "A::wrapped", CompileID: 8,
			Frames: []printassembly.Frame{{Method: "A::wrapped"}}, Counts: tally.Counts{3, 0}},
		{PID: 1, PC: 0x100, Source: "stub", Name: "StubRoutines::copy", Counts: tally.Counts{2, 0}},
		{PID: 1, PC: 0x200, Source: "interpreter", Name: "iload", Counts: tally.Counts{2, 0}},
		{PID: 1, PC: 0x9000, Source: "unresolved", Counts: tally.Counts{1, 0}},
		{PID: 2, Source: "kernel", Module: "kernel", Counts: tally.Counts{1, 0}},
		{PID: 2, PC: 0x9000, Source: "unresolved", Counts: tally.Counts{1, 0}},
	}, p.Locations)
	assert.Equal(t, []NativeFunction{{Module: "libc.so.6", Symbol: "memcpy", Counts: tally.Counts{13, 1}},
		{Module: "kernel", Symbol: "", Counts: tally.Counts{1, 0}}}, counted(p.Native), "of both JVMs")

	opts.Locations = false
	without := b.Build(opts)[0]
	assert.Nil(t, without.Locations)
	p.Locations = nil
	assert.Equal(t, without, p, "locations change nothing else")
}

func TestLocationsOfCaptures(t *testing.T) {
	for _, name := range []string{"jdk8-full-hsdis", "jdk11-lean-none", "jdk17-lean-none-dtrace", "jdk25-lean-none"} {
		text := gasmtest.Capture(t, name, gasmtest.Log)
		log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), name)
		require.NoError(t, err)
		samples := realSamples(t, gasmtest.Capture(t, name, gasmtest.Samples))
		b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: log.PID, Log: log,
			StartMonoNanos: firstSample(t, samples, log.PID)}}})
		add(b, samples...)
		p := b.Build(withLocations())[0]
		checkLocations(t, &p)
		assert.Equal(t, log.StartWallMillis*1e6, p.StartWallNanos)
		inlined := slices.ContainsFunc(p.Locations, func(l Location) bool { return len(l.Frames) > 1 })
		assert.Equal(t, name != "jdk11-lean-none", inlined, "%s: inlined frames", name)
	}
}

func TestStartWallNanos(t *testing.T) {
	log := func(ms string) *printassembly.Log {
		text := "<hotspot_log version='160 1' process='1' time_ms='" + ms + "'>\n</hotspot_log>\n"
		l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "asm.log")
		require.NoError(t, err)
		return l
	}
	jvms := []capture.JVM{{PID: 1, Log: log("2000"), StartMonoNanos: 5e9}, {PID: 2, Log: log("3000"), StartMonoNanos: 6e9},
		{PID: 3, Log: log("0"), StartMonoNanos: 1}}
	for _, c := range []struct {
		trial capture.Trial
		want  int64
	}{
		{capture.Trial{Windows: []capture.Window{window(1, 8e9, 9e9), window(1, 7e9, 8e9), window(2, 10e9, 11e9)}}, 4e9},
		{capture.Trial{Windows: []capture.Window{window(1, 4.5e9, 9e9)}}, 1.5e9}, // begins before the JVM
	} {
		got := NewBuilder(choice.Config{JVMs: jvms,
			Trials: []capture.Trial{c.trial}}).Build(choice.DefaultOptions())[0].StartWallNanos
		assert.Equal(t, c.want, got, "%+v", c.trial)
	}
	whole := func(jvms ...capture.JVM) int64 {
		return NewBuilder(choice.Config{JVMs: jvms}).Build(choice.DefaultOptions())[0].StartWallNanos
	}
	assert.EqualValues(t, 2e9, whole(jvms...), "without windows the first JVM's start")
	assert.EqualValues(t, 3e9, whole(jvms[1]))
	assert.Zero(t, whole(jvms[2]), "no log has the time")
}
