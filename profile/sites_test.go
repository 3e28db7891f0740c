package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// of returns an event of a thread of JVM 1, with times in ms.
func of(tid int, kind event.Kind, name string, from, length int64, frames ...event.Frame) event.Event {
	e := ms(kind, name, from, length, 0)
	e.TID, e.Frames = tid, frames
	return e
}

// threaded returns a Builder for a JVM with a sample of each of two threads in each ms, and narrows its windows by
// events.
func threaded(t *testing.T, window string, events ...event.Event) (*Builder, error) {
	t.Helper()
	w, err := windows.ParseEventChoice(window)
	require.NoError(t, err)
	log := newLog(t, c2(1, 1, "A::handle", 0x1000, nops(8)), c2(1, 2, "B::background", 0x2000, nops(8)))
	jvms := []capture.JVM{{PID: 1, Log: log}}
	measured := windows.Measurements(jvms, []capture.Trial{{Windows: []capture.Window{{PID: 1,
		Span: capture.Span{ToMonoNanos: 1e9}}}}})
	event.Sort(events)
	threads, err := w.Narrow(measured, events)
	if err != nil {
		return nil, err
	}
	b := NewBuilder(choice.Config{JVMs: jvms, Events: events, Locations: true, History: true, Measured: measured,
		EventWindows: threads})
	for ms := range int64(1000) {
		for tid, pc := range map[int]uint64{11: 0x1001, 12: 0x2001} {
			s := at(1, ms, pc)
			s.TID = tid
			add(b, s)
		}
	}
	return b, nil
}

// If a window is made of events that belong to a thread, only this thread's samples count. If it is made of all other
// times, the samples of all other threads count as well.
func TestThreadWindows(t *testing.T) {
	requests := []event.Event{of(11, event.Own, "acme.Request", 100, 50), of(11, event.Own, "acme.Request", 300, 50),
		of(11, event.Own, "acme.Query", 110, 10),
		of(0, event.Own, "acme.Virtual", 1, 5), of(11, event.Lock, "java.lang.Object", 310, 5),
		of(12, event.Lock, "java.lang.Object", 310, 5)}
	for window, want := range map[string]map[string]int64{
		"jfr:acme.Request":  {"A::handle": 100},
		"!jfr:acme.Request": {"A::handle": 900, "B::background": 1000},
		"jfr:acme.Query":    {"A::handle": 10},
		"":                  {"A::handle": 1000, "B::background": 1000},
	} {
		b, err := threaded(t, window, requests...)
		require.NoError(t, err)
		o := choice.DefaultOptions()
		o.Locations = true
		p := build(t, b, o)[0]
		got := map[string]int64{}
		for _, m := range p.Methods {
			got[m.Name] = m.Counts[0]
		}
		assert.Equal(t, want, got, window)
		for _, a := range p.Accounts {
			assert.True(t, a.Balanced(), "%s: %+v", window, a)
			assert.EqualValues(t, 2000, a.Total)
		}
		during := map[string]int64{}
		for _, l := range p.Locations {
			for _, d := range l.During {
				during[d] += l.Counts[0]
			}
		}
		switch window {
		case "jfr:acme.Request":
			assert.Equal(t, map[string]int64{"acme.Request": 100, "acme.Query": 10, "lock": 5}, during)
			assert.InDelta(t, 0.1, p.WindowSeconds, 1e-9)
			assert.Equal(t, 1, p.Locks[0].Count, "only that of the thread itself")
		case "":
			assert.Equal(t, map[string]int64{"acme.Request": 100, "acme.Query": 10, "lock": 10}, during)
			assert.Equal(t, 2, p.Locks[0].Count)
		}
	}
	_, err := threaded(t, "jfr:acme.Virtual", requests...)
	assert.ErrorContains(t, err, "JFR does not say where virtual threads run")
	_, err = threaded(t, "jfr:acme.Nothing", requests...)
	assert.ErrorContains(t, err,
		"no event of this name; it has acme.Virtual, acme.Request, acme.Query (gasm profile --events jfr")
}

// Locks and allocations are summed up by frame and class. A lock of java.util.concurrent is summed up by the frame that
// calls it.
func TestSites(t *testing.T) {
	site := func(line int) event.Frame { return event.Frame{Method: "A::handle", BCI: 3, Line: line} }
	lock := func(tid int, from, length int64, owner string, frames ...event.Frame) event.Event {
		e := of(tid, event.Lock, "java.lang.Object", from, length, frames...)
		e.Args = []event.Arg{{Name: "previousOwner", Value: owner}}
		return e
	}
	alloc := func(at, bytes int64, class string, frames ...event.Frame) event.Event {
		e := of(11, event.Alloc, class, at, 0, frames...)
		e.Bytes = bytes
		return e
	}
	park := of(11, event.Park, "java.util.concurrent.locks.ReentrantLock$NonfairSync", 700, 9,
		event.Frame{Method: "jdk.internal.misc.Unsafe::park"},
		event.Frame{Method: "java.util.concurrent.locks.LockSupport::park"}, site(77))
	happened := []event.Event{lock(11, 100, 10, "worker-1", site(7)),
		lock(12, 200, 30, "worker-22", event.Frame{Method: "A::handle", BCI: 4, Line: 7}), lock(11, 300, 5, "main", site(7)),
		lock(11, 400, 1, "main", site(8)), lock(11, 2000, 500, "main", site(7)), park,
		of(11, event.Park, "java.lang.Object", 800, 90, site(9)),
		alloc(500, 1000, "byte[]", site(20)), alloc(510, 500, "byte[]", site(20)), alloc(520, 700, "int[]", site(20)),
		alloc(525, 900, "byte[]", site(20), event.Frame{Method: "jdk.jfr.internal.Repository::ensure"}),
		alloc(530, 1<<62, "A"), alloc(531, 1<<62, "A")}
	b, err := threaded(t, "", happened...)
	require.NoError(t, err)
	p := build(t, b, choice.DefaultOptions())[0]
	require.Len(t, p.Parks, 1)
	assert.Equal(t, []sites.Stack{{Frames: []event.Frame{site(9)}, Weight: 90e6, Count: 1}}, p.Parks[0].Stacks)
	assert.Equal(t, []sites.Stack{{Frames: []event.Frame{site(77)}, Weight: 9e6, Count: 1}}, p.Locks[1].Stacks,
		"from the place on")
	for _, list := range [][]sites.Wait{p.Locks, p.Parks} {
		for i := range list {
			list[i].Stacks = nil
		}
	}
	for i := range p.Allocations {
		p.Allocations[i].Stacks = nil
	}
	assert.Equal(t, []sites.Wait{{Frame: site(9), Class: "java.lang.Object", Count: 1, Nanos: 90e6, LongestNanos: 90e6}},
		p.Parks)
	assert.Equal(t, []sites.Wait{
		{Frame: site(7), Class: "java.lang.Object", Owner: "worker-", Count: 3, Nanos: 45e6, LongestNanos: 30e6},
		{Frame: site(77), Class: "java.util.concurrent.locks.ReentrantLock$NonfairSync", Count: 1, Nanos: 9e6,
			LongestNanos: 9e6},
		{Frame: site(8), Class: "java.lang.Object", Owner: "main", Count: 1, Nanos: 1e6, LongestNanos: 1e6},
	}, p.Locks)
	assert.Equal(t, []sites.Alloc{{Class: "A", Events: 2, Bytes: 1 << 60},
		{Frame: site(20), Class: "byte[]", Events: 2, Bytes: 1500},
		{Frame: site(20), Class: "int[]", Events: 1, Bytes: 700}}, p.Allocations)
	h := b.history.History()
	h.AddLanes(happened)
	require.Len(t, h.JVMs, 1)
	require.Len(t, h.JVMs[0].Lanes, 1, "parking has no lane")
	assert.Equal(t, event.Lock, h.JVMs[0].Lanes[0].Kind)
	var covered float64
	for _, share := range h.JVMs[0].Lanes[0].Shares {
		assert.LessOrEqual(t, share, 1.0)
		covered += share * float64(h.StepNanos)
	}
	assert.InDelta(t, 46e6, covered, 1, "of the events within the run")
}

// Unrecorded is the time before a recording began. It is a part of the windows or, without windows, of the whole run.
func TestUnrecorded(t *testing.T) {
	log := newLog(t, c2(1, 1, "A::handle", 0x1000, nops(8)))
	for _, c := range []struct {
		windows          []capture.Window
		from, late, want int64
	}{
		{nil, 0, 0, 0},
		{nil, 5e9, 3e9, 3e9},
		{[]capture.Window{{PID: 1, Span: capture.Span{FromMonoNanos: 6e9, ToMonoNanos: 7e9}}}, 5e9, 3e9, 0},
		{[]capture.Window{{PID: 1, Span: capture.Span{FromMonoNanos: 8e9, ToMonoNanos: 9e9}},
			{PID: 1, Span: capture.Span{FromMonoNanos: 4e9, ToMonoNanos: 7e9}}}, 5e9, 3e9, 1e9},
		{[]capture.Window{{PID: 1, Span: capture.Span{FromMonoNanos: 4e9, ToMonoNanos: 7e9}}}, 0, 0, 0},
		// the JVM began at 2
		{[]capture.Window{{PID: 1, Span: capture.Span{FromMonoNanos: 1e9, ToMonoNanos: 7e9}}}, 5e9, 3e9, 3e9},
	} {
		jvms := []capture.JVM{{PID: 1, Log: log, RecordingFromMonoNanos: c.from, RecordingLateNanos: c.late}}
		var trials []capture.Trial
		if c.windows != nil {
			trials = append(trials, capture.Trial{Name: "A", Windows: c.windows})
		}
		b := NewBuilder(choice.Config{JVMs: jvms, Trials: trials})
		add(b, at(1, 6000, 0x1001))
		assert.Equal(t, c.want, build(t, b, choice.DefaultOptions())[0].UnrecordedNanos, "%+v", c)
	}
}
