package diff

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/noise"
)

func TestNoise(t *testing.T) {
	a, b := &TrialSide{Samples: 2000}, &TrialSide{Samples: 2000}
	n := newNoise(a, b, 1, 0.01)
	// Quantiles from tables, compared to as many digits as the tables have.
	assert.InDelta(t, 2.576, n.Factor, 0.0005, "99 %, both tails")
	assert.InDelta(t, 2.576*math.Sqrt(0.09*2/2000), n.At10, 1e-4)
	assert.InDelta(t, 3.481, newNoise(a, b, 20, 0.01).Factor, 0.0005, "99.95 %, both tails")
	assert.InDelta(t, 0.01, n.threshold(0, 1, 0), 1e-9, "the least change")
	assert.InDelta(t, 2*2.576*0.1, n.threshold(0, 1, 0.1), 2*0.0005*0.1, "the spread over forks")
	// Student's table has 5.041. The expansion's terms in 1/n^3 and smaller are left out.
	assert.InDelta(t, 5.041, noise.SpreadFactor(3.291, 8), 0.15, "99.9 %, both tails")
	assert.InDelta(t, 3.291, noise.SpreadFactor(3.291, 1e6), 0.0005)

	a.Forks = []int64{1000, 1000}
	b.Forks = []int64{2000}
	item := Item{Count: 1000, Forks: []int64{600, 400}}
	// Shares of 60 and 40 %: their mean has a standard error of 10 points.
	assert.InDelta(t, 0.1, spreadError(a, b, &item, nil), 1e-9)
	assert.Zero(t, spreadError(a, b, &Item{Count: 1000}, nil), "nothing known by fork")
}

// TestNoFalseAlarms compares profiles that are drawn from the same distribution. A change may be shown in one of a
// hundred comparisons.
func TestNoFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) // always the same samples
	draw := func(n int64) TrialSide {
		tr := TrialSide{Samples: n}
		for i := range 40 {
			tr.Methods = append(tr.Methods, Item{Source: "c2, level 4", Name: fmt.Sprint(i)})
		}
		for range n {
			i := int(rng.ExpFloat64() * 5)
			tr.Methods[min(i, 39)].Count++
		}
		return tr
	}
	alarms := 0
	const runs = 2000
	for range runs {
		r := Compare(side("a", draw(3000)), side("b", draw(5000)), options())
		if !r.Trials[0].unchanged() {
			alarms++
		}
	}
	t.Logf("%d of %d comparisons show a change", alarms, runs)
	// There are fewer alarms than noise.FalseAlarms allows, because the rows depend on each other, and because small
	// changes are not shown however unlikely they are.
	assert.LessOrEqual(t, float64(alarms), noise.FalseAlarms*runs)
}

func TestTrials(t *testing.T) {
	named := func(name string) TrialSide { return TrialSide{Name: name, Event: "cycles", Samples: 100} }
	r := Compare(side("a", named("x"), named("y"), named("z")), side("b", named("y"), named("w"), named("x")), options())
	require.Len(t, r.Trials, 2)
	assert.Equal(t, "x", r.Trials[0].B.Name)
	assert.Equal(t, []string{"z"}, r.UnpairedA)
	assert.Equal(t, []string{"w"}, r.UnpairedB)

	other := named("n")
	other.Event = "cpu-clock"
	r = Compare(side("a", named("m")), side("b", other), options())
	require.Len(t, r.Trials, 1, "the only ones pair whatever their names")
	assert.Contains(t, r.Notes[0], "A has samples of cycles, B of cpu-clock")

	slow, fast := named("n"), named("n")
	slow.Event, fast.Event = "profile-301", "profile-1001"
	assert.Empty(t, Compare(side("a", slow), side("b", fast), options()).Notes, "both sample by the clock")
}

// Both formats say when a side has no samples in a trial.
func TestNoSamples(t *testing.T) {
	r := Compare(side("a", trial(1000, region("A::sum", 1, code(0x1000, sumLoop...)))), side("b", TrialSide{}), options())
	assert.Contains(t, string(writeText(t, r, TextOptions{})), "\nNot compared: one side has no samples of it.\n")
	var text bytes.Buffer
	require.NoError(t, r.WriteJSON(&text, ""))
	assert.Contains(t, text.String(), `"methods": []`)
}

var (
	sumLoop = []string{"100 mov 0x10(%rax),%r8d", "100 add %r8d,%r9d", "100 inc %ecx", "100 cmp %edx,%ecx",
		"100 jl 0x1000"}
	mulLoop = []string{"100 mov 0x10(%rax),%r8d", "300 imul %r8d,%r9d", "100 rol %r9d", "100 inc %ecx",
		"100 cmp %edx,%ecx", "100 jl 0x1000"}
	walkLoop = []string{"250 mov 0x8(%rsi),%rsi", "100 test %rsi,%rsi", "50 mov 0x20(%rsi),%r11", "50 shr $0x3,%r11",
		"50 jne 0x1000"}
)

// A loop whose code changed comes before code whose share only shrank because of it.
func TestChangedLoop(t *testing.T) {
	a := trial(1000, region("A::sum", 1, code(0x1000, sumLoop...)), region("A::walk", 2, code(0x9000, walkLoop...)))
	b := trial(1300, region("A::sum", 7, code(0x3000, mulLoop...)), region("A::walk", 9, code(0x8000, walkLoop...)))
	r := Compare(side("a", a), side("b", b), options()).Trials[0]
	require.Len(t, r.Methods, 2)
	assert.Equal(t, "A::sum", r.Methods[0].Name)
	assert.InDelta(t, 800.0/1300-500.0/1000, r.Methods[0].Change, 1e-9)
	require.Len(t, r.Regions, 2)
	sum := r.Regions[0]
	assert.Equal(t, "A::sum", sum.Name)
	assert.InDelta(t, 400.0/1300, sum.Code, 1e-9, "imul and rol")
	assert.NotEmpty(t, sum.Listing)
	walk := r.Regions[1]
	assert.Equal(t, []any{"A::walk", 0.0, true, 0}, []any{walk.Name, walk.Code, walk.CodeKnown, len(walk.Listing)})
	assert.Equal(t, Compared{2, 2, 2}, r.Compared)
}

// Code counts as the same even if the things differ that vary from run to run: where regions end, how many compilations
// there are, OSR, registers, and whether one side has code at all.
func TestSameCode(t *testing.T) {
	long := make([]string, 40)
	for i := range long {
		long[i] = fmt.Sprintf("10 add 0x%x(%%rax),%%r%dd", 16*i, 8+i%4)
	}
	whole := region("A::sum", 1, code(0x1000, long...))
	half := func(id int, osr bool, lo uint64) (x, y Region) {
		x, y = region("A::sum", id, code(lo, long[:20]...)), region("A::sum", id, code(lo+0x1000, long[20:]...))
		x.OSR, y.OSR = osr, osr
		return x, y
	}
	b1, b2 := half(4, false, 0x5000)
	c1, c2 := half(5, true, 0x15000)
	renamed := make([]string, len(long))
	for i := range long {
		renamed[i] = fmt.Sprintf("10 add 0x%x(%%rbx),%%r%dd", 16*i, 12+i%4)
	}
	check := func(name string, a, b TrialSide) {
		t.Helper()
		r := Compare(side("a", a), side("b", b), options()).Trials[0]
		assert.True(t, r.unchanged(), "%s: %+v", name, r.Regions)
		r = Compare(side("b", b), side("a", a), options()).Trials[0]
		assert.True(t, r.unchanged(), "%s, the other way round: %+v", name, r.Regions)
	}
	check("two regions", trial(500, whole), trial(500, b1, b2))
	check("two compilations", trial(450, whole), trial(900, b1, b2, c1, c2))
	check("registers", trial(500, whole), trial(500, region("A::sum", 3, code(0x1000, renamed...))))
	check("no code", trial(500, whole), trial(500, Region{Source: "c2, level 4", Method: "A::sum", Count: 400}))
}

// Regions of A and B are paired by their code, not by their order.
func TestTwoLoops(t *testing.T) {
	a := trial(1000, region("A::main", 1, code(0x1000, sumLoop...)), region("A::main", 1, code(0x2000, walkLoop...)))
	b := trial(1100, region("A::main", 1, code(0x1000, walkLoop...)), region("A::main", 1, code(0x2000, mulLoop[1:]...)))
	r := Compare(side("a", a), side("b", b), options()).Trials[0]
	assert.Equal(t, 2, r.Compared.Regions)
	require.NotEmpty(t, r.Regions)
	assert.Greater(t, r.Regions[0].Code, 0.3)
	assert.EqualValues(t, 700, r.Regions[0].SamplesB)
}

func TestSyntax(t *testing.T) {
	intel := code(0x1000, "500 add eax,ebx", "sub eax,ecx", "mov eax,edx", "ret")
	att := code(0x1000, "500 add %ebx,%eax", "sub %ecx,%eax", "mov %edx,%eax", "ret")
	r := Compare(side("a", trial(500, region("A::a", 1, intel))), side("b", trial(500, region("A::a", 1, att))), options())
	assert.True(t, r.Trials[0].unchanged())
	require.Len(t, r.Notes, 1)
	assert.Contains(t, r.Notes[0], "the code is not compared")
}

// Frames are not compared if HotSpot printed a different selection of code on one side.
func TestOtherSelection(t *testing.T) {
	run := func(selection string, count int64) *Side {
		s := side("x", TrialSide{Samples: 5000, Frames: []Item{{Name: "A::sum", Count: count}}})
		s.Selection = selection
		return s
	}
	assert.Len(t, Compare(run("", 1000), run("", 3000), options()).Trials[0].Frames, 1)
	r := Compare(run("", 1000), run("--skip-c1", 3000), options())
	assert.Empty(t, r.Trials[0].Frames)
	assert.Equal(t, []string{"HotSpot printed other code in A (all) than in B (--skip-c1): " +
		"inlining is known only for the methods that HotSpot printed, so frames are not compared"}, r.Notes)
}
