package warmup

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/event"
)

// FuzzCollect makes events from lines of any text, and checks that no event is lost or counted twice.
func FuzzCollect(f *testing.F) {
	f.Add(run)
	f.Add("1 compile A::a id=-1 level=9\n1 compile A::a id=99999999999999999999 level=-1 compiler=C1\n1 discard A::a id=0\n1 deoptimize \n2 deoptimize x bci=-5 lineNumber=x compileId=1 action=none")
	f.Add(strings.Repeat("9 compile A::a id=7 level=4 ms=1\n9 discard A::a id=7 level=4 reason=relocated\n8 deoptimize A::a compileId=7 reason=a action=b\n", 150))
	f.Fuzz(func(t *testing.T, text string) {
		all := foreignEvents(text)
		compilations, deopts := 0, 0
		for i := range all {
			switch all[i].Kind {
			case event.Compilation:
				compilations++
			case event.Deopt:
				deopts++
			}
		}
		r := Collect(all, window).Of([]int{7})
		if r == nil {
			assert.Zero(t, compilations+deopts)
			return
		}
		j := r.Trial(0)
		sum := 0
		for _, l := range j.Levels {
			sum += l.Count
			for _, part := range []int{l.Inside, l.OSR, l.Failed, l.Discarded, l.Timed} {
				assert.LessOrEqual(t, part, l.Count, "level %d", l.Level)
			}
			assert.NotEmpty(t, LevelName(l.Level, "", "C2", false))
		}
		assert.Equal(t, compilations, sum)
		assert.Equal(t, deopts, j.Deoptimizations)
		assert.LessOrEqual(t, j.DeoptimizationsInside, deopts)
		for _, list := range []int{len(j.Longest), len(j.Methods), len(j.Again), len(j.Deopts)} {
			assert.LessOrEqual(t, list, Most)
		}
		sum = 0
		for _, d := range j.Deopts {
			sum += d.Count
			assert.LessOrEqual(t, d.Never+d.Unknown, d.Count)
			assert.LessOrEqual(t, d.FirstMonoNanos, d.LastMonoNanos)
		}
		assert.LessOrEqual(t, sum, deopts)
		if j.AllDeopts <= Most {
			assert.Equal(t, deopts, sum)
		}
	})
}

// foreignEvents makes an event of each line: its time in ms, its kind, its name, and arguments.
func foreignEvents(text string) (all []event.Event) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		at, _ := strconv.ParseInt(words[0], 10, 32) // 0 if it is not a number
		e := event.Event{PID: 7, MonoNanos: at * 1e6, Kind: event.Kind(words[1])}
		if len(words) > 2 {
			e.Name = words[2]
		}
		for _, word := range words[min(3, len(words)):] {
			name, value, _ := strings.Cut(word, "=")
			if ms, err := strconv.ParseInt(value, 10, 32); name == "ms" && err == nil {
				e.Nanos = ms * 1e6
			}
			e.Args = append(e.Args, event.Arg{Name: name, Value: value})
		}
		all = append(all, e)
	}
	return all
}
