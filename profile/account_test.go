package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

func TestBalanced(t *testing.T) {
	good := Account{Total: 15, OtherProcess: 1, OtherJVM: 1, OtherTrial: 1, OutsideWindow: 1, OtherThread: 1,
		OutsideMethod: 1, Printing: 1, Lost: 1, Profiled: 7,
		Compiled: 1, Stub: 1, Interpreter: 1, Native: 1, Kernel: 1, Unresolved: 2}
	assert.True(t, good.Balanced())
	assert.True(t, Account{}.Balanced())
	bad := good
	bad.Lost++
	assert.False(t, bad.Balanced())
	bad = good
	bad.Unresolved++
	assert.False(t, bad.Balanced())
}

// smallLog returns a log with one blob of each kind.
func smallLog(t *testing.T) *printassembly.Log {
	return newLog(t,
		stub("copy", 0x100, nops(16)),
		codelet("iload  21 iload", 0x200, nops(16)),
		"Decoding RuntimeStub - slow 0x0 [0x300, 0x310] (16 bytes)\n",
		"Decoding VtableStub itbl[0]@0xc [0x400, 0x410] (16 bytes)\n",
		"Decoding I2C/C2I adapters 0x0 [0x500, 0x510] (16 bytes)\n",
		method("n/a", 10, 1, 0, "System::arraycopy", 0x600, nops(16)),
		c2(20, 2, "A::a", 0x700, nops(16)),
	)
}

func TestAccount(t *testing.T) {
	b := NewBuilder(choice.Config{
		JVMs: []capture.JVM{{PID: 1, Log: smallLog(t), StartMonoNanos: 5e9}},
		Trials: []capture.Trial{{Windows: []capture.Window{window(1, 5e9+1000e6, 5e9+2000e6),
			window(1, 5e9+3000e6, 5e9+3500e6)}}},
	})
	in := func(samples ...sampler.Sample) {
		for i := range samples {
			samples[i].MonoNanos = 5e9 + 1500e6
		}
		add(b, samples...)
	}
	when := func(mono int64) sampler.Sample {
		s := at(1, 0, 0x700)
		s.MonoNanos = mono
		return s
	}
	in(at(1, 0, 0x700), at(1, 0, 0x70f), at(1, 0, 0x600))                          // compiled and wrapper
	in(at(1, 0, 0x100), at(1, 0, 0x300), at(1, 0, 0x400), at(1, 0, 0x50f))         // stubs
	in(at(1, 0, 0x200))                                                            // interpreter
	in(native(1, 0, "libjvm.so", "f"), native(1, 0, "libc.so.6", ""))              // native
	in(native(1, 0, "kernel", "schedule"), native(1, 0, "kernel", ""))             // kernel
	in(at(1, 0, 0x710), at(1, 0, 0xff), at(1, 0, 0x6ff))                           // unresolved
	in(at(2, 0, 0x700), at(0, 0, 0x700), native(0, 0, "kernel", ""), at(-1, 0, 1)) // other processes
	add(b, when(5e9+1000e6), when(5e9+2000e6-1), when(5e9+3000e6), when(-1))       // half-open windows; -1: no time
	add(b, when(5e9+1000e6-1), when(5e9+2000e6), when(5e9+3500e6), when(0))        // outside
	b.Lost(3)
	b.Lost(4)
	p := build(t, b, choice.DefaultOptions())[0]
	assert.Equal(t, []Account{{Total: 34, OtherProcess: 4, OutsideWindow: 4, Lost: 7, Profiled: 19,
		Compiled: 7, Stub: 4, Interpreter: 1, Native: 2, Kernel: 2, Unresolved: 3}}, p.Accounts)
	assert.InDelta(t, 1.5, p.WindowSeconds, 1e-9)
	assert.Equal(t, []int{1}, p.PIDs)
	assert.Equal(t, []NativeFunction{{Module: "kernel", Counts: tally.Counts{1}},
		{Module: "kernel", Symbol: "schedule", Counts: tally.Counts{1}},
		{Module: "libc.so.6", Counts: tally.Counts{1}}, {Module: "libjvm.so", Symbol: "f", Counts: tally.Counts{1}}},
		counted(p.Native))
	assert.Equal(t, []Source{{"c2, level 4", tally.Counts{6}}, {"unresolved", tally.Counts{3}},
		{"kernel", tally.Counts{2}}, {"adapter", tally.Counts{1}},
		{"interpreter", tally.Counts{1}}, {"libc.so.6", tally.Counts{1}}, {"libjvm.so", tally.Counts{1}},
		{"native wrapper", tally.Counts{1}},
		{"runtime stub", tally.Counts{1}}, {"stub", tally.Counts{1}}, {"vtable stub", tally.Counts{1}}}, p.Sources)
}

// The Builder takes more samples after Build, and Build returns the same profiles when it is called twice.
func TestBuildAgain(t *testing.T) {
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: smallLog(t)}}})
	assert.Empty(t, build(t, b, choice.DefaultOptions())[0].Accounts)
	add(b, at(1, 100, 0x700))
	first := build(t, b, choice.DefaultOptions())
	assert.Equal(t, first, build(t, b, choice.DefaultOptions()))
	add(b, at(1, 100, 0x700))
	assert.Equal(t, tally.Counts{2}, build(t, b, choice.DefaultOptions())[0].Methods[0].Counts)
	assert.Equal(t, tally.Counts{1}, first[0].Methods[0].Counts)
}

// The second counter first occurs late in the samples. All Counts still have the full length.
func TestTwoEvents(t *testing.T) {
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: smallLog(t)}}})
	add(b, at(1, 100, 0x700), at(1, 100, 0x701), at(1, 100, 0x100), native(1, 100, "libc.so.6", "f"), at(1, 100, 1),
		at(2, 100, 1))
	for _, s := range []sampler.Sample{at(1, 100, 0x701), native(1, 100, "kernel", "g"), at(2, 1, 1)} {
		s.Event = "cache-misses"
		add(b, s)
	}
	b.Lost(2)
	p := build(t, b, choice.DefaultOptions())[0]
	assert.Equal(t, []string{"cycles", "cache-misses"}, p.Counters)
	assert.Equal(t, []Account{
		{Total: 8, OtherProcess: 1, Lost: 2, Profiled: 5, Compiled: 2, Stub: 1, Native: 1, Unresolved: 1},
		{Total: 3, OtherProcess: 1, Profiled: 2, Compiled: 1, Kernel: 1}}, p.Accounts)
	assert.Equal(t, tally.Counts{2, 1}, p.Methods[0].Counts)
	assert.Equal(t, tally.Counts{1, 0}, p.Methods[1].Counts)
	assert.Equal(t, tally.Counts{1, 1}, p.Regions[0].Lines[1].Counts)
	assert.Equal(t, []NativeFunction{{Module: "libc.so.6", Symbol: "f", Counts: tally.Counts{1, 0}},
		{Module: "kernel", Symbol: "g", Counts: tally.Counts{0, 1}}}, counted(p.Native))
	assert.Contains(t, p.Warnings[0], "cycles: only 5 samples")
}

// If the text with the samples has no process ids and there is only one JVM, all samples belong to it.
func TestNoPIDs(t *testing.T) {
	log := smallLog(t)
	p := one(t, choice.DefaultOptions(), log, at(sampler.NoPID, 100, 0x700), native(sampler.NoPID, 100, "kernel", "f"),
		at(0, 100, 0x700))
	assert.Equal(t, Account{Total: 3, OtherProcess: 1, Profiled: 2, Compiled: 1, Kernel: 1}, p.Accounts[0])

	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}, {PID: 2, Log: log}}})
	add(b, at(sampler.NoPID, 100, 0x700))
	p = &build(t, b, choice.DefaultOptions())[0]
	assert.Equal(t, Account{Total: 1, OtherProcess: 1}, p.Accounts[0], "whose is it?")
}

// A sample without a time counts for the last code that was at its address.
func TestNoTimes(t *testing.T) {
	log := newLog(t, c2(10, 1, "A::old", 0x700, nops(16)), c2(20, 2, "A::new", 0x700, nops(16)))
	s := at(1, 0, 0x700)
	s.MonoNanos = -1
	p := one(t, choice.DefaultOptions(), log, s)
	assert.Equal(t, "A::new", p.Methods[0].Name)
}

// Three JVMs in four trials of one capture: one JVM is in two trials, one has no log, and one trial has no JVM.
func TestTrials(t *testing.T) {
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: smallLog(t)},
		{PID: 2, Log: smallLog(t), StartMonoNanos: 1e9}}, Trials: []capture.Trial{
		{Name: "a", Windows: []capture.Window{window(1, 0, 500e6), window(2, 1e9, 1500e6)}},
		{Name: "b", Windows: []capture.Window{window(2, 0, 1e9)}},
		{Name: "c", Windows: []capture.Window{window(3, 0, 1e9)}},
		{Name: "d"},
	}})
	add(b, at(1, 100, 0x700), at(1, 600, 0x700), at(2, 1100, 0x701), at(2, 700, 0x700), at(3, 100, 0x700),
		native(3, 1, "libc.so.6", "f"))
	b.Lost(1)
	ps := build(t, b, choice.DefaultOptions())
	require.Len(t, ps, 4)
	assert.Equal(t, Account{Total: 7, OtherTrial: 2, OutsideWindow: 2, Lost: 1, Profiled: 2, Compiled: 2},
		ps[0].Accounts[0])
	assert.Equal(t, []int{1, 2}, ps[0].PIDs)
	assert.InDelta(t, 1.0, ps[0].WindowSeconds, 1e-9)
	assert.Equal(t, Account{Total: 7, OtherTrial: 4, OutsideWindow: 1, Lost: 1, Profiled: 1, Compiled: 1},
		ps[1].Accounts[0])
	assert.Equal(t, Account{Total: 7, OtherTrial: 4, Lost: 1, Profiled: 2, Native: 1, Unresolved: 1}, ps[2].Accounts[0],
		"a JVM without a log has no code, and not another's")
	assert.Equal(t, Account{Total: 7, OtherTrial: 6, Lost: 1}, ps[3].Accounts[0])
	for i, want := range []string{"a", "b", "c", "d"} {
		assert.Equal(t, want, ps[i].Trial)
	}
}

// A JVM runs one trial at a time. If windows say otherwise, the capture is damaged. Each sample is still in one trial
// only, and the account is balanced.
func TestOverlappingTrials(t *testing.T) {
	trials := []capture.Trial{
		{Name: "a", Windows: []capture.Window{window(1, 0, 300e6), window(1, 200e6, 500e6)}},
		{Name: "b", Windows: []capture.Window{window(1, 100e6, 700e6), window(1, -1<<63, 1<<63-1)}},
		{Name: "c", Windows: []capture.Window{window(1, 50e6, 60e6)}},
	}
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: smallLog(t)}}, Trials: trials})
	for ms := range int64(1000) {
		add(b, at(1, ms, 0x700))
	}
	var profiled []int64
	for _, p := range build(t, b, choice.DefaultOptions()) {
		profiled = append(profiled, p.Accounts[0].Profiled)
	}
	assert.Equal(t, []int64{300, 700, 0}, profiled)
	assert.Equal(t, 3, b.overlapping)
}

// The account is balanced for any samples, and their order does not change the profile.
func TestAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var samples []sampler.Sample
	for range 2000 {
		s := at(1+rnd.IntN(3), int64(rnd.IntN(40)), 0xf0+uint64(rnd.IntN(0x700)))
		s.Event = []string{"cycles", "cycles", "misses"}[rnd.IntN(3)]
		s.Module = []string{"", "", "", "libjvm.so", "kernel"}[rnd.IntN(5)]
		samples = append(samples, s)
	}
	samples[0].Event, samples[1].Event = "cycles", "misses"
	var want []Profile
	for range 5 {
		b := NewBuilder(choice.Config{
			JVMs:   []capture.JVM{{PID: 1, Log: smallLog(t)}, {PID: 2, Log: smallLog(t)}},
			Trials: []capture.Trial{{Windows: []capture.Window{window(1, 10e6, 30e6), window(2, 0, 20e6)}}},
		})
		add(b, samples...)
		got := build(t, b, choice.DefaultOptions())
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
		rnd.Shuffle(len(samples)-2, func(i, k int) { samples[i+2], samples[k+2] = samples[k+2], samples[i+2] })
	}
}
