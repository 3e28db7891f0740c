package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// paused returns a profile with pauses, in which a loop without a safepoint poll made other threads wait.
func paused(t *testing.T) profile.Profile {
	p := reporttest.Dot(t)
	lines := p.Regions[0].Lines
	p.Events = []events.Total{
		{Kind: event.GC, Name: "Pause Young (Normal)", Count: 12, Nanos: 34_500_000, LongestNanos: 6_100_000, Counts: c(23)},
		{Kind: event.GC, Name: "Pause \x1b[31mFull", Count: 1, Nanos: 2_000_000, LongestNanos: 2_000_000, Counts: c(0)},
		{Kind: event.Safepoint, Name: "G1CollectForAllocation", Count: 13, Nanos: 61_000_000, LongestNanos: 31_000_000,
			WaitNanos: 24_000_000, LongestWaitNanos: 23_400_000, Counts: c(45)},
	}
	p.Delays = []delays.Delay{
		{Source: "c2, level 4, osr", Method: "Workload::dot", CompileID: 75, Region: 0, Counts: c(18), Lines: []delays.Line{
			{Instruction: lines[1].Instruction, Counts: c(12)}, {Instruction: lines[2].Instruction, Counts: c(6)}}},
		{Source: "libjvm.so", Method: "", Native: true, Region: -1, Counts: c(2)},
	}
	return p
}

func TestHappened(t *testing.T) {
	gasmtest.Golden(t, "happened.golden", text(t, reporttest.Header(), []profile.Profile{paused(t)}, options()))
	narrow := options()
	narrow.Width, narrow.TableWidth = 80, 80
	_, from, _ := strings.Cut(string(text(t, reporttest.Header(), []profile.Profile{paused(t)}, narrow)), "[Events]")
	_, from, _ = strings.Cut(from, "\n")
	to, _, ok := strings.Cut(from, "[Account")
	require.True(t, ok)
	for line := range strings.Lines(to) {
		assert.LessOrEqual(t, layout.Width(strings.TrimRight(line, "\n")), 80, line)
	}
}

// The overview counts the events of kinds that are in no table.
func TestPlainEvents(t *testing.T) {
	p := paused(t)
	p.Events = []events.Total{
		{Kind: "", Name: events.Others, Count: 5, Counts: c(0)},
		{Kind: event.JNI, Name: "FindClass", Count: 3, Nanos: 700, LongestNanos: 500, Counts: c(0)},
		{Kind: event.JNI, Name: "GetEnv", Count: 4, Nanos: 7, LongestNanos: 5, Counts: c(0)},
		{Kind: event.Probe, Name: "hotspot:thread__park__begin", Count: 100_000, Counts: c(0)},
	}
	got := string(text(t, reporttest.Header(), []profile.Profile{p}, options()))
	assert.Contains(t, got, "\nEvents:     7 jni, 100000 usdt, 5 others (gasm events lists them)\n")
}

// Short pauses have a line in the overview and no table. Without pauses, there is no line either.
func TestNothingHappened(t *testing.T) {
	p := paused(t)
	p.WindowSeconds = 100
	p.Events = []events.Total{{Kind: event.GC, Name: "Pause Young (Normal)", Count: 2, Nanos: 5e6, LongestNanos: 3e6,
		Counts: c(0)},
		{Kind: event.Safepoint, Name: "Cleanup", Count: 1, Nanos: 6e6, LongestNanos: 6e6, WaitNanos: 1e6,
			LongestWaitNanos: 1e6, Counts: c(0)}}
	got := string(text(t, reporttest.Header(), []profile.Profile{p}, options()))
	assert.Contains(t, got,
		"\nEvents:     2 GC pauses, 5.00 ms (longest 3.00 ms)\n            1 safepoint, 6.00 ms, of which 1.00 ms to reach them (longest 1.00 ms)\n")
	for _, title := range []string{"[Events]", "[Time to Safepoint]"} {
		assert.NotContains(t, got, title)
	}
	tools := p
	tools.Events = append(slices.Clone(p.Events), events.Total{Kind: event.Safepoint, Name: "RedefineClasses", Tool: true,
		Count: 3, Nanos: 12e6, LongestNanos: 11e6, Counts: c(0)})
	got = string(text(t, reporttest.Header(), []profile.Profile{tools}, options()))
	assert.Contains(t, got, " 1 safepoint, 6.00 ms, of which", "those of agents are not the program's")
	assert.Contains(t, got, " safepoint  RedefineClasses (not the program's)\n")
	p.Events[1].WaitNanos, p.Events[1].LongestWaitNanos = 0, 0
	assert.Contains(t, string(text(t, reporttest.Header(), []profile.Profile{p}, options())),
		" 1 safepoint, 6.00 ms, how long it took to reach them is unknown\n")
	p.Events, p.Delays = nil, nil
	assert.NotContains(t, string(text(t, reporttest.Header(), []profile.Profile{p}, options())), "Events:  ")
}

// If there are too many names, the table has the ones that took longest.
func TestManyEvents(t *testing.T) {
	p := paused(t)
	o := options()
	o.Top = 2
	got := string(text(t, reporttest.Header(), []profile.Profile{p}, o))
	assert.Contains(t, got, "Pause Young (Normal)")
	assert.NotContains(t, got, "31mFull")
	assert.Contains(t, got, "1 row with less time left out.")
}
