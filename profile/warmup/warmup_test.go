package warmup

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// parse reads events, one a line: the time in ms, the kind, the method, and arguments. The argument ms is the event's
// length.
func parse(t *testing.T, text string) (events []event.Event) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		at, err := strconv.ParseFloat(words[0], 64)
		require.NoError(t, err)
		e := event.Event{PID: 7, MonoNanos: int64(at * 1e6), Kind: event.Kind(words[1]), Name: words[2]}
		for _, word := range words[3:] {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "ms":
				ms, err := strconv.ParseFloat(value, 64)
				require.NoError(t, err)
				e.Nanos = int64(ms * 1e6)
			case "pid":
				e.PID, err = strconv.Atoi(value)
				require.NoError(t, err)
			default:
				e.Args = append(e.Args, event.Arg{Name: name, Value: value})
			}
		}
		events = append(events, e)
	}
	return events
}

const run = `
1 compile A::a id=1 level=3
2 compile A::a id=2 level=4 ms=10 size=400 inlined=50
3 compile B::b id=3 level=0 native=true
20 deoptimize A::inlined compileId=2 lineNumber=12 bci=0 reason=unstable_if action=reinterpret
21 discard A::a id=2 level=4 reason=uncommon_trap
30 compile A::a id=4 level=3 ms=1
31 compile A::a id=5 level=4 osr=true ms=3
50 compile A::a id=6 level=4 ms=20
55 discard A::a id=6 level=4 reason=relocated
60 deoptimize A::inlined compileId=6 lineNumber=12 bci=0 reason=unstable_if action=none
61 compile C::c id=8 level=4 failed=true ms=5
70 deoptimize X::x compileId=99 reason=null_check action=none
90 compile A::a id=6 level=4 pid=8`

// window reports that an event is in the window if it began after 25 ms.
func window(e *event.Event) (trial int, in bool) { return 0, e.MonoNanos > 25e6 }

func TestOf(t *testing.T) {
	all := Collect(parse(t, run), window).Of([]int{7})
	j := all.Trial(0)
	assert.Equal(t, []Level{{Level: 0, Count: 1}, {Level: 3, Count: 2, Inside: 1, Timed: 1, Nanos: 1e6},
		{Level: 4, Count: 4, OSR: 1, Inside: 3, Failed: 1, Discarded: 1, Timed: 4, Nanos: 38e6, Bytes: 400}}, j.Levels)
	var longest []string
	for _, c := range j.Longest {
		longest = append(longest, fmt.Sprint(c.ID, " ", c.Nanos/1e6))
	}
	assert.Equal(t, []string{"6 20", "2 10", "8 5", "5 3", "4 1"}, longest)
	end := &End{MonoNanos: 21e6, Reason: "uncommon_trap", Trap: "unstable_if", Action: "reinterpret"}
	assert.Equal(t, Compilation{PID: 7, Method: "A::a", ID: 2, Level: 4, MonoNanos: 2e6, Nanos: 10e6, Size: 400,
		Inlined: 50, End: end}, j.Longest[1])
	assert.Equal(t, end, all.EndOf(7, 2, false))
	assert.Nil(t, all.EndOf(7, 2, true))
	assert.Nil(t, (*Run)(nil).EndOf(7, 2, false))
	assert.Equal(t, []Method{{Name: "A::a", C1: 2, C2: 3, Timed: 4, Nanos: 34e6, C1Nanos: 1e6, C2Nanos: 33e6,
		LongestNanos: 20e6},
		{Name: "C::c", C2: 1, Timed: 1, Nanos: 5e6, C2Nanos: 5e6, LongestNanos: 5e6, FailedAttempts: 1}}, j.Methods)
	assert.Equal(t, 2, j.AllMethods)

	require.Len(t, j.Again, 2, "the on-stack replacement is not one of them")
	again := &j.Again[0]
	assert.Equal(t, []any{"A::a", 4, 2, int64(30e6), []Cause{{"unstable_if", 1}}},
		[]any{again.Method, again.Level, again.Count, again.Nanos, again.Causes})
	assert.Equal(t, []int{2, 6}, []int{again.Versions[0].ID, again.Versions[1].ID})
	assert.Equal(t, 3, j.Again[1].Level)
	assert.Equal(t, []int{2, 1}, []int{j.AllAgain, j.MethodsAgain}, "it is one method at two levels")

	assert.Equal(t, []int{3, 2}, []int{j.Deoptimizations, j.DeoptimizationsInside})
	require.Len(t, j.Deopts, 3)
	assert.Equal(t, Deopt{Method: "A::inlined", Line: 12, Reason: "unstable_if", Action: "reinterpret",
		Of: []string{"A::a"}, Count: 1, FirstMonoNanos: 20e6, LastMonoNanos: 20e6,
		Levels: []int{4}, After: []After{{3, 1, 10e6, 10e6, 10e6}, {4, 1, 30e6, 30e6, 30e6}}}, j.Deopts[0])
	assert.Equal(t, []int{1, 0, 1}, []int{j.Deopts[1].Never, j.Deopts[1].Unknown, j.Deopts[1].Inside}, "the code stays")
	assert.Equal(t, Deopt{Method: "X::x", BCI: -1, Reason: "null_check", Action: "none", Count: 1, Inside: 1,
		FirstMonoNanos: 70e6, LastMonoNanos: 70e6, Unknown: 1}, j.Deopts[2])
	assert.Nil(t, Collect(parse(t, run), window).Of([]int{9}).Trial(0))
}

// TestTrials: the work of the compilers is determined only once for all trials of a JVM.
func TestTrials(t *testing.T) {
	const trials = 1000
	var asked int
	all := Collect(parse(t, run), func(e *event.Event) (trial int, in bool) {
		asked++
		return int(e.MonoNanos / 30e6), e.MonoNanos > 10e6 && e.MonoNanos != 31e6
	})
	var js []*JIT
	for trial := range trials {
		js = append(js, all.Of([]int{7}).Trial(trial))
	}
	assert.Equal(t, 12, asked, "once for each event")
	inside := func(j *JIT) (levels, longest, again, deopts []int) {
		for _, l := range j.Levels {
			levels = append(levels, l.Inside)
		}
		for _, c := range j.Longest {
			if c.Inside {
				longest = append(longest, c.ID)
			}
		}
		for _, r := range j.Again {
			for _, v := range r.Versions {
				if v.Inside {
					again = append(again, v.ID)
				}
			}
		}
		for _, d := range j.Deopts {
			deopts = append(deopts, d.Inside)
		}
		return levels, longest, again, append(deopts, j.DeoptimizationsInside)
	}
	for trial, want := range [][4][]int{
		{{0, 0, 0}, nil, nil, {1, 0, 0, 1}},
		{{0, 1, 1}, {6, 4}, {6, 4}, {0, 0, 0, 0}},
		{{0, 0, 1}, {8}, nil, {0, 1, 1, 2}},
		{{0, 0, 0}, nil, nil, {0, 0, 0, 0}},
	} {
		levels, longest, again, deopts := inside(js[trial])
		assert.Equal(t, want, [4][]int{levels, longest, again, deopts}, "trial %d", trial)
	}
	last := js[trials-1]
	assert.Same(t, &js[3].Longest[0], &last.Longest[0], "lists without marks are shared")
	assert.Same(t, &js[0].Again[0], &last.Again[0])
	assert.Same(t, &js[1].Methods[0], &last.Methods[0])
	assert.Same(t, &js[1].Deopts[0], &last.Deopts[0])
}

// Methods with the same name and other parameters are different methods.
func TestOverloads(t *testing.T) {
	j := Collect(parse(t, `1 compile A::a id=1 level=4 bytecode=10 descriptor=(I)V
2 compile A::a id=2 level=4 bytecode=20
3 compile B::b id=3 level=4 descriptor=(I)V
4 compile B::b id=4 level=4 descriptor=(J)V
5 deoptimize A::a compileId=1 bci=1 reason=null_check action=reinterpret
6 compile A::a id=5 level=4 bytecode=20
9 compile A::a id=6 level=4 bytecode=10`), window).Of([]int{7}).Trial(0)
	require.Len(t, j.Again, 2)
	assert.Equal(t, 2, j.MethodsAgain)
	assert.Equal(t, [][]int{{1, 6}, {2, 5}}, [][]int{{j.Again[0].Versions[0].ID, j.Again[0].Versions[1].ID},
		{j.Again[1].Versions[0].ID, j.Again[1].Versions[1].ID}})
	require.Len(t, j.Deopts, 1)
	assert.Equal(t, []After{{4, 1, 4e6, 4e6, 4e6}}, j.Deopts[0].After)
}

// USDT probes report neither the ids nor the levels of compilations.
func TestOfProbes(t *testing.T) {
	j :=
		Collect(parse(t, "1 compile A::a compiler=C2 ms=4\n2 compile A::a compiler=C1 ms=1 success=false\n3 compile A::a compiler=C2 ms=2"), window).Of([]int{7}).Trial(0)
	assert.Equal(t, []Level{{Level: UnknownLevel, Count: 3, Failed: 1, Timed: 3, Nanos: 7e6}}, j.Levels)
	assert.Equal(t, []Method{{Name: "A::a", C1: 1, C2: 2, Timed: 3, Nanos: 7e6, C1Nanos: 1e6, C2Nanos: 6e6,
		LongestNanos: 4e6, FailedAttempts: 1}}, j.Methods)
	require.Len(t, j.Again, 1)
	assert.Equal(t, "C2", j.Again[0].Compiler)
}

// Lists are bounded, and numbers that are out of range count as unknown.
func TestBounds(t *testing.T) {
	var text strings.Builder
	for i := range 3 * Most {
		fmt.Fprintf(&text, "%d compile M%d::m id=%d level=4 ms=1\n%d compile M%d::m id=%d level=4 ms=1\n", i, i, 2*i+1, i, i,
			2*i+2)
		fmt.Fprintf(&text, "%d deoptimize M%d::m compileId=%d bci=1 reason=r action=a\n", i+1, i, 2*i+1)
	}
	for i := range 10 * maxVersions {
		fmt.Fprintf(&text, "%d compile Again::m id=%d level=3 ms=100\n", i, 10_000+i)
	}
	j := Collect(parse(t, text.String()), window).Of([]int{7}).Trial(0)
	assert.Equal(t, []int{Most, Most, Most, Most}, []int{len(j.Longest), len(j.Methods), len(j.Again), len(j.Deopts)})
	assert.Equal(t, []int{3*Most + 1, 3*Most + 1, 3 * Most}, []int{j.AllMethods, j.AllAgain, j.AllDeopts})
	assert.Len(t, j.Again[0].Versions, maxVersions)
	assert.Equal(t, 10*maxVersions, j.Again[0].Count)
	text.Reset()
	for i := range 3 * maxFollowing {
		fmt.Fprintf(&text, "%d compile F::f id=%d level=3\n", i+1, i+1)
	}
	fmt.Fprintf(&text, "%d compile F::f id=100000 level=4\n5 deoptimize F::f compileId=100000 bci=0", 3*maxFollowing+1)
	assert.Equal(t, 1, Collect(parse(t, text.String()), window).Of([]int{7}).Trial(0).Deopts[0].Never,
		"it is too far away")
	j = Collect(parse(t, "1 compile A::a id=99999999999999999999 level=77 size=-3 inlined=x\n2 discard A::a id=0"),
		window).Of([]int{7}).Trial(0)
	assert.Equal(t, []Level{{Level: UnknownLevel, Count: 1}}, j.Levels)
}

// Narrow makes the time at which code was made exact, but never contradicts what is known already.
func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		name             string
		made, by         int64
		begin, end       int64
		wantMade, wantBy int64
	}{
		{"a compilation within the time", 100, 350, 200, 300, 300, 300},
		{"one that began before", 100, 350, 20, 300, 300, 300},
		{"one that ended after the code was seen", 100, 350, 200, 360, 350, 350},
		{"its end is unknown", 100, 350, 200, 0, 200, 350},
		{"it ended too early: another clock, or another compilation", 100, 350, 20, 90, 100, 350},
		{"it began too late", 100, 350, 400, 500, 100, 350},
		{"an exact time", 100, 100, 20, 110, 100, 100},
	} {
		v := Version{MadeMillis: c.made, MadeByMillis: c.by}
		v.Narrow(c.begin, c.end)
		assert.Equal(t, []int64{c.wantMade, c.wantBy}, []int64{v.MadeMillis, v.MadeByMillis}, c.name)
	}
}
