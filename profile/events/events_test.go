package events

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// During finds the same events as a search through all events, however they overlap.
func TestDuring(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const span = 400
	var events []event.Event
	for i := range 300 {
		e := event.Event{PID: 1 + i%2, Kind: event.GC, Name: fmt.Sprint(random.IntN(80)), MonoNanos: random.Int64N(span),
			Nanos: random.Int64N(9)}
		if i%3 == 0 {
			e.Kind, e.WaitNanos = event.Safepoint, random.Int64N(4)
		}
		events = append(events, e)
	}
	event.Sort(events)
	x := New(events)
	assert.Len(t, x.totals, maxNames, "more names than bits")
	for range 20_000 {
		pid, at := 1+random.IntN(2), random.Int64N(span+20)-10
		var want Set
		for i := range events {
			e := &events[i]
			if e.PID != pid {
				continue
			}
			if e.MonoNanos <= at && at < e.EndMonoNanos() {
				want |= 1 << x.bit(e)
			}
			if e.MonoNanos <= at && at < e.MonoNanos+min(e.WaitNanos, e.Nanos) {
				want |= 1 << waiting
			}
		}
		require.Equal(t, want, x.During(pid, 7, at), "JVM %d at %d", pid, at)
	}
	assert.Zero(t, x.During(3, 7, 10), "a JVM without events")
	assert.Zero(t, New(nil).During(1, 7, 10), "no events at all")
}

// Events that Flight Recorder or agents cause are not added to those that the program causes.
func TestOfTool(t *testing.T) {
	recorder := []event.Frame{{Method: "java.util.HashMap::get"}, {Method: "jdk.jfr.internal.PlatformRecorder::stop"}}
	all := []event.Event{
		{PID: 1, Kind: event.Safepoint, Name: "G1CollectForAllocation", Nanos: 5},
		{PID: 1, Kind: event.Safepoint, Name: "JFRSafepointClear", Nanos: 7},
		{PID: 1, Kind: event.Safepoint, Name: "RedefineClasses", Nanos: 9},
		{PID: 1, TID: 2, Kind: event.Lock, Name: "A", Nanos: 1},
		{PID: 1, TID: 2, Kind: event.Lock, Name: "B", Nanos: 2},
		{PID: 1, TID: 2, Kind: event.Lock, Name: "A", Nanos: 40, Frames: recorder},
	}
	x := New(all)
	var s Sums
	for i := range all {
		s.Add(x, &all[i])
	}
	var got []string
	for _, total := range s.Totals(x, 0) {
		got = append(got, fmt.Sprint(total.Kind, " ", total.Name, " ", total.Tool, " ", total.Nanos))
	}
	assert.Equal(t, []string{"lock (Flight Recorder's own) true 40", "lock  false 3", "safepoint RedefineClasses true 9",
		"safepoint JFRSafepointClear true 7", "safepoint G1CollectForAllocation false 5"}, got)
}
