package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

func TestParseEventChoice(t *testing.T) {
	for _, c := range []struct {
		list string
		from EventSource
		want EventChoice
	}{
		{"default", EventsAuto, EventChoice{Log: DefaultKinds}},
		{"none", EventsAuto, EventChoice{}},
		{"gc", EventsAuto, EventChoice{Log: []event.Kind{event.GC}}},
		{"compile,gc, gc", EventsAuto, EventChoice{Log: []event.Kind{event.GC}, JFR: []event.Kind{event.Compilation}}},
		{"compile", EventsFromLog, EventChoice{Log: []event.Kind{event.Compilation}}},
		{"default,lock,jfr", EventsAuto, EventChoice{Log: DefaultKinds, JFR: []event.Kind{event.Lock, event.Own}}},
		{"default,lock", EventsFromUSDT, EventChoice{USDT: []event.Kind{event.GC, event.Safepoint, event.Lock}}},
		{"gc,usdt:hotspot:thread__park__begin", EventsFromDTrace, EventChoice{USDT: []event.Kind{event.GC}, Probes: []string{"hotspot:thread__park__begin"}, ByDTrace: true}},
		{"default,alloc", EventsFromJFR, EventChoice{JFR: []event.Kind{event.GC, event.Safepoint, event.Alloc}}},
		{"jni,usdt:hotspot:thread__park__begin", EventsAuto, EventChoice{USDT: []event.Kind{event.JNI}, Probes: []string{"hotspot:thread__park__begin"}}},
	} {
		got, err := ParseEventChoice(c.list, c.from)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.list)
		assert.Equal(t, c.list == "none", got.None())
	}
	for _, c := range []struct {
		list string
		from EventSource
		want string
	}{
		{"gc,", EventsAuto, `"" is no kind of events that can be recorded: they are gc, safepoint, compile, lock,`},
		{"all", EventsAuto, `usdt:PROVIDER:NAME for one of HotSpot's probes; default (gc,safepoint); or none`},
		{"none,gc", EventsAuto, `"none" is no kind`},
		{"lock", EventsFromLog, "--events-from log has no events of the kind lock: it has gc, safepoint and compile; lock come from --events-from jfr"},
		{"jni", EventsFromJFR, "jni come from --events-from usdt"},
		{"usdt:x", EventsAuto, `"usdt:x" is no USDT probe: it is usdt:PROVIDER:NAME`},
		{"gc", "perf", "it can be auto, log, jfr, usdt or dtrace"},
	} {
		_, err := ParseEventChoice(c.list, c.from)
		assert.ErrorContains(t, err, c.want, c.list)
	}
}
