package sampler

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eventsOf parses events. It returns nil if there are none.
func eventsOf(specs ...string) (events []Event) {
	for _, spec := range specs {
		events = append(events, ParseEvent(spec))
	}
	return events
}

func TestParseEvent(t *testing.T) {
	check := func(spec, name string, userOnly bool) {
		t.Helper()
		assert.Equal(t, Event{Spec: spec, Name: name, UserOnly: userOnly}, ParseEvent(spec))
	}
	check("cycles", "cycles", false)
	check("cycles:P", "cycles", false)
	check("cycles:Pu", "cycles", true)
	check("cycles:uk", "cycles", false)
	check("cpu-clock:ppp", "cpu-clock", false)
	check("cpu-clock:uppp", "cpu-clock", true)
	check("cpu-clock:uH", "cpu-clock", true)
	check("cpu_core/cycles/", "cycles", false)
	check("cpu_core/cycles/u", "cycles", true)
	check("cpu_core/cycles/Pu", "cycles", true)
	check("cpu/event=0x3c,umask=0x1/k", "event=0x3c,umask=0x1", false)
	check("cpu/event=0x3c,umask=0x1/u", "event=0x3c,umask=0x1", true)
	check("sdt_hotspot:foo", "sdt_hotspot:foo", false)
	check("sched:sched_switch", "sched:sched_switch", false)
	check("sched:sched_switch:u", "sched:sched_switch", true)
	check("usb:hubbub", "usb:hubbub", false)
	check("L1-dcache-load-misses:u", "L1-dcache-load-misses", true)
	check("r00c0", "r00c0", false)
	check("r01c4:u", "r01c4", true)
	check("profile-1001", "profile-1001", false)
	check("/", "/", false)
	check("a//u", "a//u", false)
	check(":u", ":u", false)
	check("", "", false)
}

func TestParseEvents(t *testing.T) {
	check := func(list string, specs ...string) {
		t.Helper()
		got, err := ParseEvents(list)
		require.NoError(t, err, list)
		assert.Equal(t, eventsOf(specs...), got, list)
		assert.Equal(t, specs, Specs(got), list)
	}
	check("")
	check(" , ")
	check("cycles", "cycles")
	check("cycles:u, instructions", "cycles:u", "instructions")
	check("cpu/event=0x3c,umask=0x1/u,cycles", "cpu/event=0x3c,umask=0x1/u", "cycles")
	check("cpu_core/cycles/P,cpu_atom/instructions/", "cpu_core/cycles/P", "cpu_atom/instructions/")
	check(",sched:sched_switch,,", "sched:sched_switch")
	check("cpu/event=0x3c,umask=0x1", "cpu/event=0x3c,umask=0x1") // perf refuses it
	check("cpu/config=1,config1=2,call-graph=no/", "cpu/config=1,config1=2,call-graph=no/")
}

func TestParseEventsRefuses(t *testing.T) {
	check := func(list, message string) {
		t.Helper()
		got, err := ParseEvents(list)
		assert.EqualError(t, err, message, list)
		assert.Nil(t, got, list)
	}
	check("{cpu-clock,page-faults}", "--event has a group in braces ({cpu-clock); name its events, separated by commas")
	check("page-faults,{cpu-clock}", "--event has a group in braces ({cpu-clock}); name its events, separated by commas")
	const frequency = ": gasm samples all events at one frequency; say it by --frequency"
	check("cpu-clock/freq=50/", "--event cpu-clock/freq=50/"+frequency)
	check("cycles,cpu/event=0x3c,period=1000/u", "--event cpu/event=0x3c,period=1000/u"+frequency)
	check("cpu-clock/name=foo/", "--event cpu-clock/name=foo/: name the event as perf list does, without name=")
	check("cpu-clock:u,page-faults,cpu-clock",
		"--event has cpu-clock:u and cpu-clock, whose samples both go by the name of cpu-clock; name one of them")
	check("cpu_core/cycles/,cpu_atom/cycles/",
		"--event has cpu_core/cycles/ and cpu_atom/cycles/, whose samples both go by the name of cycles; name one of them")
}

// TestEventMeaning checks what gasm knows about events, by the names that users write and by those that samples have.
func TestEventMeaning(t *testing.T) {
	const never = 0.0
	check := func(spec string, byClock, countsCycles bool, nanosAt1000Hz float64, namedFrequency int) {
		t.Helper()
		e := ParseEvent(spec)
		for _, e := range []Event{e, ParseEvent(e.Name)} {
			assert.Equal(t, byClock, e.ByClock(), "%+v", e)
			assert.Equal(t, countsCycles, e.CountsCycles(), "%+v", e)
			assert.Equal(t, nanosAt1000Hz, e.CPUNanos(1000), "%+v", e)
			assert.Zero(t, e.CPUNanos(0), "%+v at an unknown frequency", e)
			assert.Zero(t, e.CPUNanos(-1), "%+v", e)
			assert.Equal(t, namedFrequency, e.NamedFrequency(), "%+v", e)
		}
	}
	check("cpu-clock:u", true, false, 1e6, 0)
	check("task-clock", true, false, 1e6, 0)
	check("profile-1001", true, false, 1e6, 1001)
	check("profile-997hz", true, false, 1e6, 997)
	check("profile-10ms", true, false, 1e6, 0)
	check("profile-", true, false, 1e6, 0)
	check("profile--5", true, false, 1e6, 0)
	check("cycles:P", false, true, 1e6, 0)
	check("cpu_core/cycles/Pu", false, true, 1e6, 0)
	check("cpu-cycles", false, true, 1e6, 0)
	check("ref-cycles", false, false, 1e6, 0)
	check("bus-cycles:u", false, false, 1e6, 0)
	check("instructions", false, false, never, 0)
	check("page-faults", false, false, never, 0)
	check("sched:sched_switch", false, false, never, 0)
	check("cpu/event=0x3c,umask=0x1/u", false, false, never, 0)
	check("1001", false, false, never, 0)
	assert.InDelta(t, 999000.999, ParseEvent("cpu-clock").CPUNanos(1001), 0.001, "1 s / 1001, to a picosecond")
}

func FuzzParseEvents(f *testing.F) {
	for _, list := range []string{"cycles:Pu,cpu-clock", "cpu/event=0x3c,umask=0x1/u,cycles", "{a,b}", "profile-1001",
		":u", "a//u,b:ppp", "sched:sched_switch:u"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		events, err := ParseEvents(list)
		if err != nil && events != nil {
			t.Errorf("%q: both %v and %v", list, events, err)
		}
		names := map[string]bool{}
		for _, e := range events {
			if e.Name == "" || names[e.Name] || !strings.Contains(list, e.Spec) || !strings.Contains(e.Spec, e.Name) ||
				ParseEvent(e.Spec) != e {
				t.Errorf("%q: %+v", list, e)
			}
			if nanos := e.CPUNanos(1); nanos < 0 || math.IsInf(nanos, 0) || e.NamedFrequency() < 0 {
				t.Errorf("%q: a sample of %+v stands for %g ns", list, e, nanos)
			}
			names[e.Name] = true
		}
	})
}
