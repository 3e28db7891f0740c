package profile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

// A method is compiled again at the same tier and at another one.
func TestMethods(t *testing.T) {
	log := newLog(t,
		method("c1", 10, 1, 3, "A::a", 0x1000, nops(16)),
		c2(20, 2, "A::a", 0x2000, nops(16)),
		c2(30, 3, "A::a", 0x1000, nops(16)), // where the first one was
		c2(40, 4, "B::b", 0x3000, nops(16)),
		codelet("iload  21 iload", 0x4000, nops(16)))
	p := one(t, choice.DefaultOptions(), log, slices.Concat(
		repeat(2, at(1, 15, 0x1000)), repeat(3, at(1, 25, 0x2001)), repeat(4, at(1, 35, 0x1001)),
		repeat(1, at(1, 45, 0x3000)), repeat(1, at(1, 45, 0x3001)), repeat(2, at(1, 45, 0x4000)))...)
	assert.Equal(t, []Method{
		{"c2, level 4", "A::a", 3, 2, tally.Counts{7}, []tally.Counts{{7}}, nil},
		{"c1, level 3", "A::a", 1, 1, tally.Counts{2}, []tally.Counts{{2}}, nil},
		{"c2, level 4", "B::b", 4, 1, tally.Counts{2}, []tally.Counts{{2}}, nil},
		{"interpreter", "iload", 0, 1, tally.Counts{2}, []tally.Counts{{2}}, nil},
	}, p.Methods)
	assert.Contains(t, strings.Join(p.Warnings, "\n"),
		"46.2% of the profile is at code-cache addresses that HotSpot used more than once")
}

func TestFrames(t *testing.T) {
	log := newLog(t, c2(10, 1, "A::a", 0x1000, `9090 9090
		 ;*iadd {reexecute=0}
		 ; - A::inner@4 (line 12)
		 ; - A::a@9 (line 3)
		 4801 d090
		 ;*iadd {reexecute=0}
		 ; - A::inner@5 (line 13)
		 ; - A::a@9 (line 3)
		 4801 d090
		 ;*iadd {reexecute=0}
		 ; - A::a@10
		 4801 d090
		 9090 90c3`),
		method("n/a", 10, 1, 0, "A::wrapped", 0x2000, nops(16)),
		stub("copy", 0x3000, nops(16)))
	p := one(t, choice.DefaultOptions(), log, slices.Concat(
		repeat(1, at(1, 15, 0x1000)), repeat(4, at(1, 15, 0x1004)), // inner, line 12
		repeat(2, at(1, 15, 0x1007)), repeat(3, at(1, 15, 0x1008)), // line 13
		repeat(2, at(1, 15, 0x100c)), // a, no line
		repeat(1, at(1, 15, 0x1013)), // no debug info
		repeat(1, at(1, 15, 0x2000)), repeat(9, at(1, 15, 0x3000)))...)
	assert.Equal(t, []FrameTotal{
		{Method: "A::inner", Counts: tally.Counts{10}, Total: tally.Counts{10},
			Lines:  []LineTotal{{Line: 12, Counts: tally.Counts{5}}, {Line: 13, Counts: tally.Counts{5}}},
			PerJVM: []tally.Counts{{10}}},
		{Method: "A::a", Counts: tally.Counts{3}, Total: tally.Counts{13},
			Lines: []LineTotal{{Line: 0, Counts: tally.Counts{3}}}, PerJVM: []tally.Counts{{3}}},
		{Method: "A::wrapped", Counts: tally.Counts{1}, Total: tally.Counts{1},
			Lines: []LineTotal{{Line: 0, Counts: tally.Counts{1}}}, PerJVM: []tally.Counts{{1}}},
	}, p.Frames)
	opts := choice.DefaultOptions()
	opts.SkipLines = true
	assert.Len(t, one(t, opts, log, at(1, 15, 0x1000)).Frames, 2, "only the lines are left out")
}

func TestWarnings(t *testing.T) {
	log := newLog(t, c2(0, 1, "A::a", 0x1000, nops(256)), stub("outer", 0x2000, nops(64)), stub("inner", 0x2010, nops(16)))
	const (
		few   = "only 499 samples in the profile: a share of 10% is good to ±3 points; let it run longer"
		lost  = "the sampler lost 1.1% of its samples: lower --frequency"
		where = "2.1% of the profile is at addresses that neither HotSpot's logs nor the sampler know (is a log missing or cut?)"
	)
	for _, c := range []struct {
		name    string
		samples []sampler.Sample
		lost    int64
		want    []string
	}{
		{"none", repeat(500, at(1, 1, 0x1000)), 0, nil},
		{"few samples", repeat(499, at(1, 1, 0x1000)), 0, []string{few}},
		{"no samples at all", nil, 0, nil},
		{"none of ours", repeat(499, at(2, 1, 0x1000)), 0, nil},
		{"lost", repeat(990, at(1, 1, 0x1000)), 11, []string{lost}},
		{"few lost", repeat(990, at(1, 1, 0x1000)), 9, nil},
		{"unresolved", slices.Concat(repeat(979, at(1, 1, 0x1000)), repeat(21, at(1, 1, 1))), 0, []string{where}},
		{"few unresolved", slices.Concat(repeat(980, at(1, 1, 0x1000)), repeat(20, at(1, 1, 1))), 0, nil},
		{"a stub inside a stub is not reuse", repeat(500, at(1, 1, 0x2010)), 0, nil},
	} {
		b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}}})
		add(b, c.samples...)
		if c.lost > 0 {
			b.Lost(c.lost)
		}
		assert.Equal(t, c.want, build(t, b, choice.DefaultOptions())[0].Warnings, c.name)
	}
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}}, Code: capture.CodeCopied})
	add(b, slices.Concat(repeat(979, at(1, 1, 0x1000)), repeat(21, at(1, 1, 1)))...)
	assert.Equal(t,
		[]string{"2.1% of the profile is at addresses of code that gasm did not get to read: the JVM ended, or the code was gone, before that"},
		build(t, b, choice.DefaultOptions())[0].Warnings)
}

func TestDamagedLog(t *testing.T) {
	text := "<hotspot_log version='160 1' process='1' time_ms='0'>\nCompiled method (c2) soon\n" +
		c2(0, 1, "A::a", 0x1000, nops(16)) + "<wri"
	l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "asm.log")
	require.NoError(t, err)
	p := one(t, choice.DefaultOptions(), l, repeat(500, at(1, 1, 0x1000))...)
	assert.Equal(t,
		[]string{"asm.log: 1 piece of code could not be read, because it is damaged or in a form that gasm does not know: samples in that code have no name",
			"asm.log ends in the middle: the JVM was killed while it wrote, its disk was full, or it is still running; code after that is missing"}, p.Warnings)
}

// If a log can't be read any more, the profile only lacks its code.
func TestUnreadableLog(t *testing.T) {
	text := "<hotspot_log version='160 1' process='1' time_ms='0'>\n" + c2(0, 1, "A::a", 0x1000, nops(16)) +
		"</hotspot_log>\n"
	disk := &disk{text: text}
	l, err := printassembly.NewLog(disk, int64(len(text)), "asm.log")
	require.NoError(t, err)
	disk.err = errors.New("broken disk")
	p := one(t, choice.DefaultOptions(), l, repeat(500, at(1, 1, 0x1000))...)
	assert.Equal(t, "A::a 1000-1001 500 hot, 0 lines", regionsText(p))
	assert.Equal(t, []string{"reading the code of A::a in asm.log: broken disk: shown without code"}, p.Warnings)
}

// A disk returns err, if it is set, from every read.
type disk struct {
	text string
	err  error
}

func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	return strings.NewReader(d.text).ReadAt(p, off)
}

// Without DebugNonSafepoints, frames follow the flow of control: the jump over the call of B::other leads to the call
// of B::next. Samples whose frames are guesses are counted separately.
func TestSafepointsOnly(t *testing.T) {
	log := newLog(t, c2(10, 1, "A::a", 0x1000, `9090 90e8
		 ;*invokestatic x
		 ; - A::a@1 (line 2)
		 0000 0000
		 9090 eb08
		 9090 90e8
		 ;*invokestatic x
		 ; - B::other@1 (line 30)
		 ; - A::a@2 (line 3)
		 0000 0000
		 4801 d0e8
		 ;*invokestatic x
		 ; - B::next@4 (line 12)
		 ; - A::a@9 (line 7)
		 0000 0000
		 9090 90c3`))
	jvms := []capture.JVM{{PID: 1, Main: "App", Log: log, SafepointsOnly: true}}
	b := NewBuilder(choice.Config{JVMs: jvms, Trials: []capture.Trial{{Windows: []capture.Window{always(1)}}}})
	add(b, slices.Concat(repeat(2, at(1, 15, 0x1009)), repeat(3, at(1, 15, 0x100a)), repeat(4, at(1, 15, 0x1017)))...)
	o := choice.DefaultOptions()
	o.Listings = 100
	ps := build(t, b, o)
	require.Len(t, ps, 1)
	frames := ps[0].Frames
	require.Len(t, frames, 2)
	assert.Equal(t, "~B::next", frames[0].Name())
	assert.Equal(t, tally.Counts{9}, frames[0].Counts)
	assert.Equal(t, tally.Counts{5}, frames[0].Guessed, "the call itself is certain")
	assert.Equal(t, []LineTotal{{Line: 12, Counts: tally.Counts{9}, Guessed: tally.Counts{5}}}, frames[0].Lines)
	assert.Equal(t, ":~12", ":"+frames[0].Lines[0].Number())
	assert.Equal(t, "A::a", frames[1].Name())
	assert.Nil(t, frames[1].Guessed)
	assert.Equal(t, tally.Counts{9}, ps[0].SafepointsOnly)
	assert.True(t, ps[0].Regions[0].SafepointsOnly)
	assert.True(t, ps[0].Listings[0].SafepointsOnly)

	jvms[0].SafepointsOnly = false
	b = NewBuilder(choice.Config{JVMs: jvms, Trials: []capture.Trial{{Windows: []capture.Window{always(1)}}}})
	add(b, repeat(2, at(1, 15, 0x1009))...)
	p := build(t, b, choice.DefaultOptions())[0]
	assert.Equal(t, "B::other", p.Frames[0].Name(), "the next address")
	assert.Nil(t, p.SafepointsOnly)
	assert.False(t, p.Regions[0].SafepointsOnly)

	// The method was compiled 10 ms after the JVM's start.
	for from, early := range map[int64]bool{11: true, 1: true, 0: false} {
		jvms[0].DetailedFromMillis = from
		b = NewBuilder(choice.Config{JVMs: jvms, Trials: []capture.Trial{{Windows: []capture.Window{always(1)}}}})
		add(b, repeat(2, at(1, 15, 0x1009))...)
		p := build(t, b, choice.DefaultOptions())[0]
		warned := strings.Contains(strings.Join(p.Warnings, "\n"),
			"100.0% of the profile is in methods that HotSpot had compiled before gasm switched DebugNonSafepoints on")
		assert.Equal(t, early, warned, "switched on after %d ms", from)
		assert.Equal(t, early, p.SafepointsOnly != nil)
	}
}
