package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/sampler"
)

// ms returns an event of JVM 1, with times in ms.
func ms(kind event.Kind, name string, from, length, wait int64) event.Event {
	return event.Event{PID: 1, Kind: kind, Name: name, MonoNanos: from * 1e6, Nanos: length * 1e6, WaitNanos: wait * 1e6}
}

// eventful returns a Builder for a JVM with two methods, two collections in safepoints, and a sample in each ms.
func eventful(t *testing.T, trials ...capture.Trial) *Builder {
	t.Helper()
	log := newLog(t, c2(1, 1, "A::slow", 0x1000, nops(8)), c2(1, 2, "B::quick", 0x2000, nops(8)))
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}}, Trials: trials, Events: []event.Event{
		ms(event.Safepoint, "Collect", 100, 20, 8), ms(event.GC, "Pause Young", 110, 9, 0),
		ms(event.Safepoint, "Collect", 200, 10, 0), ms(event.GC, "Pause Full", 202, 5, 0),
		ms(event.Safepoint, "Cleanup", 990, 1, 0),
	}})
	for at1 := range int64(1000) {
		s := at(1, at1, 0x2004)
		if 100 <= at1 && at1 < 106 {
			s = at(1, at1, 0x1001)
		}
		if 110 <= at1 && at1 < 119 {
			s = native(1, at1, "libjvm.so", "evacuate")
			s.Thread = "GC Thread#1"
		}
		add(b, s)
	}
	return b
}

func TestEventTotals(t *testing.T) {
	p := build(t, eventful(t), choice.DefaultOptions())[0]
	assert.Equal(t, []events.Total{
		{Kind: event.GC, Name: "Pause Young", Count: 1, Nanos: 9e6, LongestNanos: 9e6, Counts: tally.Counts{9}},
		{Kind: event.GC, Name: "Pause Full", Count: 1, Nanos: 5e6, LongestNanos: 5e6, Counts: tally.Counts{5}},
		{Kind: event.Safepoint, Name: "Collect", Count: 2, Nanos: 30e6, LongestNanos: 20e6, WaitNanos: 8e6,
			LongestWaitNanos: 8e6, Counts: tally.Counts{30}},
		{Kind: event.Safepoint, Name: "Cleanup", Count: 1, Nanos: 1e6, LongestNanos: 1e6, Counts: tally.Counts{1}},
	}, p.Events)
}

// The code that runs between the request and the arrival delays the safepoint. The profile names the instruction.
func TestDelays(t *testing.T) {
	p := build(t, eventful(t), choice.DefaultOptions())[0]
	require.Len(t, p.Delays, 2)
	slow := p.Delays[0]
	assert.Equal(t, "A::slow", slow.Method)
	assert.Equal(t, tally.Counts{6}, slow.Counts)
	require.Len(t, slow.Lines, 1)
	assert.EqualValues(t, 0x1001, slow.Lines[0].Lo)
	assert.Equal(t, "A::slow", p.Regions[slow.Region].Method)
	assert.Equal(t, "B::quick", p.Delays[1].Method)
	assert.Equal(t, tally.Counts{2}, p.Delays[1].Counts)
}

// A safepoint does not wait for the threads of the collector and the compilers.
func TestDelaysOfApplication(t *testing.T) {
	b := eventful(t)
	jit := at(1, 103, 0x2004)
	jit.Thread = "C2 CompilerThre"
	inKernel := sampler.Sample{PID: 1, MonoNanos: 103e6, PC: 0xffff_ffff_8000_0000, Symbol: "clear_page",
		Module: sampler.KernelModule, Event: "cycles"}
	add(b, jit, inKernel)
	p := build(t, b, choice.DefaultOptions())[0]
	require.Len(t, p.Delays, 3)
	assert.Equal(t, tally.Counts{2}, p.Delays[1].Counts)
	assert.Equal(t, delays.Delay{Source: sampler.KernelModule, Method: "clear_page", Native: true, Region: -1,
		Counts: tally.Counts{1}}, p.Delays[2])
}

// An event counts for the trial in whose window it begins.
func TestEventsOfTrials(t *testing.T) {
	b := eventful(t, capture.Trial{Name: "first", Windows: []capture.Window{window(1, 0, 150e6)}},
		capture.Trial{Name: "second", Windows: []capture.Window{window(1, 150e6, 500e6)}})
	ps := build(t, b, choice.DefaultOptions())
	require.Len(t, ps, 2)
	for i, want := range []string{"Pause Young", "Pause Full"} {
		require.Len(t, ps[i].Events, 2)
		assert.Equal(t, want, ps[i].Events[0].Name)
		assert.Equal(t, 1, ps[i].Events[1].Count, "safepoints")
	}
	assert.Empty(t, ps[1].Delays)
}

// With --window-event, each of the chosen events counts, even if its duration is 0 or its thread is unknown.
func TestEventsThatAreWindows(t *testing.T) {
	request := func(tid int, from, length int64) event.Event {
		e := ms(event.Own, "acme.Request", from, length, 0)
		e.TID = tid
		return e
	}
	counted := func(kinds string) map[string]int {
		c := choice.Config{JVMs: []capture.JVM{{PID: 1, Log: newLog(t)}},
			Trials: []capture.Trial{{Windows: []capture.Window{window(1, 0, 1e9)}}},
			Events: []event.Event{request(7, 100, 0), request(7, 200, 50),
				{PID: 1, TID: 7, Kind: event.Lock, Name: "acme.Cache", MonoNanos: 210e6, Nanos: 1e6},
				request(0, 300, 50), {PID: 1, TID: 7, Kind: event.Lock, Name: "acme.Cache", MonoNanos: 310e6, Nanos: 1e6}}}
		c.Measured = windows.Measurements(c.JVMs, c.Trials)
		o := choice.DefaultOptions()
		var err error
		o.WindowEvent, err = windows.ParseEventChoice(kinds)
		require.NoError(t, err)
		_, err = c.Narrow(&o, nil)
		require.NoError(t, err)
		counts := map[string]int{}
		for _, total := range build(t, NewBuilder(c), o)[0].Events {
			counts[string(total.Kind)] = total.Count
		}
		return counts
	}
	assert.Equal(t, map[string]int{"jfr": 3, "lock": 2}, counted(""))
	assert.Equal(t, map[string]int{"jfr": 3, "lock": 1}, counted("jfr:acme.Request"))
	assert.Equal(t, map[string]int{"lock": 1}, counted("!jfr:acme.Request"))
}
