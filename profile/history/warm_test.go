package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// A phase is a part of a run: a number of bins, the work in each, and the share of it that is done in cold code.
type phase struct {
	bins, work int
	cold       float64
}

func TestWarmth(t *testing.T) {
	const step = 100e6
	for _, c := range []struct {
		name   string
		phases []phase
		want   string // a sign for the verdict
		bin    int    // of a JVM that was warm
	}{
		{"warm after a while", []phase{{20, 100, 0.8}, {80, 100, 0.02}}, "warm", 20},
		{"slowly warmer", []phase{{10, 100, 0.8}, {10, 100, 0.3}, {10, 100, 0.12}, {70, 100, 0.03}}, "warm", 30},
		{"warm from the start", []phase{{50, 100, 0.05}}, "at once", 0},
		{"idle at first", []phase{{10, 0, 0}, {50, 100, 0.05}}, "at once", 10},
		{"never", []phase{{60, 100, 0.3}}, "cold", 0},
		{"only interpreted", []phase{{60, 100, 1}}, "cold", 0},
		{"a new phase at the end", []phase{{20, 100, 0.8}, {80, 100, 0.02}, {20, 100, 0.7}}, "cold", 0},
		{"a new phase in between", []phase{{20, 100, 0.8}, {40, 100, 0.02}, {15, 100, 0.7}, {60, 100, 0.02}}, "warm", 75},
		{"a burst at the end", []phase{{20, 100, 0.8}, {80, 100, 0.02}, {1, 100, 1}}, "warm", 20},
		{"bursts of single bins", []phase{{20, 100, 0.8}, {30, 100, 0.02}, {1, 100, 0.9}, {30, 100, 0.02}, {1, 100, 0.9},
			{30, 100, 0.02}}, "warm", 20},
		{"too little follows", []phase{{60, 100, 0.8}, {2, 100, 0.02}}, "cold", 0},
		{"just enough follows", []phase{{60, 100, 0.8}, {3, 100, 0.02}}, "warm", 60},
		{"too few samples", []phase{{2, 100, 0.02}}, "unknown", 0},
		{"sparse", []phase{{100, 2, 0.5}, {120, 20, 0}}, "warm", 100},
		{"no samples", nil, "unknown", 0},
		{"all in one bin", []phase{{1, 10_000, 0}}, "at once", 0},
	} {
		h := &History{FromMonoNanos: 7e9, StepNanos: step}
		j := &JVM{PID: 1}
		for _, p := range c.phases {
			for range p.bins {
				cold := int64(p.cold*float64(p.work) + 0.5)
				b := Counts{RanC2: int64(p.work) - cold, RanInterpreter: cold / 2, RanC1Profiled: cold / 4, RanGC: 1000,
					RanNative: 1000, RanService: 10}
				b[RanJIT] = cold - b[RanInterpreter] - b[RanC1Profiled]
				j.All = append(j.All, b)
			}
		}
		got := h.Warmth(j, 0)
		verdict := "cold"
		switch {
		case !got.Known:
			verdict = "unknown"
			assert.Zero(t, got.Interpreted+got.C1+got.JIT+got.Other, c.name)
		case got.AtOnce:
			verdict = "at once"
		case got.Warm:
			verdict = "warm"
		}
		assert.Equal(t, c.want, verdict, c.name)
		if got.Warm {
			assert.InDelta(t, 7e9+float64(c.bin)*step, float64(got.FromMonoNanos), 2*step, c.name)
			assert.Less(t, float64(got.Interpreted+got.C1+got.JIT), MaxCold*float64(got.Work), c.name)
			assert.GreaterOrEqual(t, got.Work, int64(LeastWarm), c.name)
		}
		if got.Known {
			assert.Equal(t, got.Work, got.Interpreted+got.C1+got.JIT+got.Other, c.name)
		}
	}
}

// Code of an unknown compiler may be C1's or C2's, so nothing is said.
func TestWarmthOfUnknownCode(t *testing.T) {
	j := &JVM{All: []Counts{{RanCompiled: 1000}, {RanCompiled: 100, RanC2: 1000}}}
	assert.Equal(t, Warmth{Work: 2100}, (&History{StepNanos: 1}).Warmth(j, 0))
	j = &JVM{All: []Counts{{RanC1: 1000}, {RanC1: 1000, RanStub: 10}}} // -XX:TieredStopAtLevel=1
	assert.True(t, (&History{StepNanos: 1}).Warmth(j, 0).AtOnce)
}

func TestDoingOf(t *testing.T) {
	for _, c := range []struct {
		kind string
		blob printassembly.Blob
		want Doing
	}{
		{threads.Application, printassembly.Blob{Kind: printassembly.NMethod, Compiler: "c2", Level: 4}, RanC2},
		{threads.Application, printassembly.Blob{Kind: printassembly.NMethod, Compiler: "jvmci", Level: 4}, RanC2},
		{threads.Application, printassembly.Blob{Kind: printassembly.NMethod, Compiler: "c1", Level: 3}, RanC1Profiled},
		{threads.Application, printassembly.Blob{Kind: printassembly.NMethod, Compiler: "c1", Level: 1}, RanC1},
		{threads.Application, printassembly.Blob{Kind: printassembly.NMethod}, RanCompiled},
		{threads.Application, printassembly.Blob{Kind: printassembly.Interpreter}, RanInterpreter},
		{threads.Application, printassembly.Blob{Kind: printassembly.Native}, RanStub},
		{threads.Compilers, printassembly.Blob{Kind: printassembly.Stub}, RanJIT},
		{threads.Collector, printassembly.Blob{Kind: printassembly.Stub}, RanGC},
		{threads.OtherJVM, printassembly.Blob{Kind: printassembly.Interpreter}, RanService},
	} {
		assert.Equal(t, c.want, DoingOf(c.kind, true, DoingIn(&c.blob)), c)
	}
}

// What a JVM does after its measurement does not count.
func TestWarmthUntil(t *testing.T) {
	h, j := &History{FromMonoNanos: 1000, StepNanos: 10}, &JVM{All: []Counts{{RanJIT: 1000}, {RanC2: 1000},
		{RanInterpreter: 1000}}}
	assert.False(t, h.Warmth(j, 0).Warm)
	assert.False(t, h.Warmth(j, 1021).Warm, "a bin that has begun counts")
	assert.EqualValues(t, 1010, h.Warmth(j, 1020).FromMonoNanos)
	assert.False(t, h.Warmth(j, 1).Known)
}

// Without the names of threads, the work of the compiler threads is unknown.
func TestWarmthWithoutNames(t *testing.T) {
	assert.Equal(t, RanUnnamed, DoingOf(threads.Application, false, RanNative))
	assert.Equal(t, RanC2, DoingOf(threads.Application, false, RanC2))
	j := &JVM{All: []Counts{{RanInterpreter: 1000, RanUnnamed: 1000}, {RanC2: 1000, RanUnnamed: 10}}}
	got := (&History{StepNanos: 1}).Warmth(j, 0)
	assert.True(t, got.Warm)
	assert.True(t, got.JITUnknown)
}

func TestSpans(t *testing.T) {
	h := &History{FromMonoNanos: 100, StepNanos: 10}
	j := &JVM{All: []Counts{{}, {RanC2: 1}, {RanC2: 2}, {}, {RanJIT: 4}, {}}}
	assert.Equal(t, []Span{{110, 130, Counts{RanC2: 3}}, {130, 150, Counts{RanJIT: 4}}}, h.Spans(j, 2))
	assert.Len(t, h.Spans(j, 100), 4)
	assert.Nil(t, h.Spans(&JVM{All: make([]Counts, 3)}, 2))
	assert.Nil(t, h.Spans(j, 0))
}
