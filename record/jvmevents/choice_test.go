package jvmevents

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

func TestParseEventChoice(t *testing.T) {
	for _, c := range []struct {
		list string
		from Source
		want Choice
	}{
		{"default", Auto, Choice{Log: DefaultKinds}},
		{"none", Auto, Choice{}},
		{"gc", Auto, Choice{Log: []event.Kind{event.GC}}},
		{"compile,gc, gc", Auto, Choice{Log: []event.Kind{event.Compilation, event.GC},
			JFR: []event.Kind{event.Compilation}}},
		{"compile", FromJFR, Choice{JFR: []event.Kind{event.Compilation}}},
		{"compile,lock", Auto, Choice{Log: []event.Kind{event.Compilation},
			JFR: []event.Kind{event.Compilation, event.Lock}}},
		{"compile", FromLog, Choice{Log: []event.Kind{event.Compilation}}},
		{"default,lock,jfr", Auto, Choice{Log: DefaultKinds, JFR: []event.Kind{event.Lock, event.Own}}},
		{"default,lock", FromUSDT, Choice{USDT: []event.Kind{event.GC, event.Safepoint, event.Lock}}},
		{"gc,usdt:hotspot:thread__park__begin", FromDTrace, Choice{USDT: []event.Kind{event.GC},
			Probes: []string{"hotspot:thread__park__begin"}, ByDTrace: true}},
		{"default,alloc", FromJFR, Choice{JFR: []event.Kind{event.GC, event.Safepoint, event.Alloc}}},
		{"jni,usdt:hotspot:thread__park__begin", Auto, Choice{USDT: []event.Kind{event.JNI},
			Probes: []string{"hotspot:thread__park__begin"}}},
	} {
		got, err := ParseChoice(c.list, c.from)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.list)
		assert.Equal(t, c.list == "none", got.None())
		assert.Equal(t, len(c.want.Log) > 0 && c.list != "compile,lock", got.NeedsLog(), c.list)
	}
	for _, c := range []struct {
		list string
		from Source
		want string
	}{
		{"gc,", Auto, `"" is not a kind of events that can be recorded: use gc, safepoint, compile, inlining, lock,`},
		{"all", Auto, `usdt:PROVIDER:NAME for one of HotSpot's probes; default (gc,safepoint); or none`},
		{"none,gc", Auto, `"none" is not a kind`},
		{"lock", FromLog, "--events-from log has no events of the kind lock: it has gc, safepoint and compile; lock come from --events-from jfr"},
		{"jni", FromJFR, "jni come from --events-from usdt"},
		{"usdt:x", Auto, `"usdt:x" is not a USDT probe: write usdt:PROVIDER:NAME`},
		{"gc", "perf", "it can be auto, log, jfr, usdt or dtrace"},
	} {
		_, err := ParseChoice(c.list, c.from)
		assert.ErrorContains(t, err, c.want, c.list)
	}
}
