package diff

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/sampler"
)

// Samples go to the slices of their time and JVM; those of other events, other
// processes and outside of the windows go nowhere.
func TestSlices(t *testing.T) {
	frames := []printassembly.Frame{{Method: "A::sum"}}
	ps := []profile.Profile{{Trial: "bench", PIDs: []int{1, 2}, Events: []string{"cycles"}, Accounts: []profile.Account{{Profiled: 40}},
		Methods: []profile.Method{{Source: "c2, level 4", Name: "A::run", Counts: profile.Counts{30}}},
		Frames:  []profile.FrameTotal{{Method: "A::sum", Counts: profile.Counts{30}}},
		Native:  []profile.NativeFunction{{Module: "kernel", Symbol: "idle", Counts: profile.Counts{10}}},
		Locations: []profile.Location{
			{PID: 1, PC: 0x10, Source: "c2, level 4, osr", Name: "A::run", Frames: frames, Counts: profile.Counts{10}},
			{PID: 2, PC: 0x10, Source: "c2, level 4", Name: "A::run", Frames: frames, Counts: profile.Counts{20}},
			{PID: 1, Source: "kernel", Module: "kernel", Name: "idle", Counts: profile.Counts{10}},
		}}}
	s := FromProfiles("a", report.Header{}, ps)
	trials := []profile.Trial{{Name: "bench", PIDs: []int{1, 2}, Windows: []profile.Window{
		{PID: 1, FromMonoNanos: 100, ToMonoNanos: 200}, {PID: 2, FromMonoNanos: 100, ToMonoNanos: 200}}}}
	sl := NewSlicer(s, trials, ps)
	require.True(t, sl.Wanted())
	for i := range int64(20) {
		sl.Add(&sampler.Sample{PID: 2, MonoNanos: 199 - i, Event: "cycles", PC: 0x10})
		kernel := sampler.Sample{PID: 1, MonoNanos: 100 + i, Event: "cycles", PC: 0xffffffff81000000, Symbol: "idle", Module: "kernel"}
		if i >= 10 {
			kernel = sampler.Sample{PID: 1, MonoNanos: 100 + i, Event: "cycles", PC: 0x10}
		}
		sl.Add(&kernel)
		sl.Add(&sampler.Sample{PID: 2, MonoNanos: 150, Event: "branches", PC: 0x10})
		sl.Add(&sampler.Sample{PID: 2, MonoNanos: 250, Event: "cycles", PC: 0x10})
		sl.Add(&sampler.Sample{PID: 3, MonoNanos: 150, Event: "cycles", PC: 0x10})
	}
	sl.Finish()
	tr := &s.Trials[0]
	assert.Equal(t, []int64{20, 20}, tr.Forks)
	assert.Equal(t, []int64{4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, tr.Slices)
	assert.Equal(t, []int64{0, 0, 2, 4, 4, 4, 4, 4, 4, 4}, tr.Methods[0].Slices)
	assert.Equal(t, tr.Methods[0].Slices, tr.Frames[0].Slices)
	assert.Equal(t, []int64{4, 4, 2, 0, 0, 0, 0, 0, 0, 0}, tr.Methods[1].Slices)
	assert.Equal(t, []int64{10, 20}, tr.Methods[0].Forks)

	trials[0].Name = ""
	assert.False(t, NewSlicer(s, trials, ps).Wanted(), "programs have phases")
}

// A method that takes over in the middle of a benchmark takes over at another
// time in the next run: no change.
func TestTakeOver(t *testing.T) {
	run := func(first int64) Trial {
		item := func(name string, counts ...int64) Item {
			i := Item{Source: "c2, level 4", Name: name, Slices: counts}
			for _, n := range counts {
				i.Count += n
			}
			return i
		}
		return Trial{Samples: 2000, Slices: []int64{400, 400, 400, 400, 400}, Methods: []Item{
			item("early", 400, first, 0, 0, 0), item("late", 0, 400-first, 400, 400, 400)}}
	}
	r := Compare(side("a", run(0)), side("b", run(300)), options()).Trials[0]
	assert.True(t, r.unchanged(), "%+v", r.Methods)
}
