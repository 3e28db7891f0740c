package windows

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
)

// window returns a window of a JVM.
func window(pid int, from, to int64) capture.Window {
	return capture.Window{PID: pid, Span: capture.Span{FromMonoNanos: from, ToMonoNanos: to}}
}

// ms returns an event of JVM 1, with times in ms.
func ms(kind event.Kind, name string, from, length int64) event.Event {
	return event.Event{PID: 1, Kind: kind, Name: name, MonoNanos: from * 1e6, Nanos: length * 1e6}
}

func TestEventChoice(t *testing.T) {
	events := []event.Event{ms(event.GC, "a", 100, 10), ms(event.GC, "b", 105, 10), ms(event.Safepoint, "c", 300, 10),
		ms(event.GC, "d", 400, 10),
		{PID: 2, Kind: event.GC, MonoNanos: 1, Nanos: 1}}
	windows := []capture.Window{window(1, 110e6, 405e6), window(1, 500e6, 600e6)}
	for text, want := range map[string][]capture.Window{
		"gc":         {window(1, 110e6, 115e6), window(1, 400e6, 405e6), window(1, 500e6, 500e6)},
		"!gc":        {window(1, 115e6, 400e6), window(1, 500e6, 600e6)},
		"safepoint":  {window(1, 300e6, 310e6), window(1, 500e6, 500e6)},
		"!safepoint": {window(1, 110e6, 300e6), window(1, 310e6, 405e6), window(1, 500e6, 600e6)},
		"":           windows,
	} {
		w, err := ParseEventChoice(text)
		require.NoError(t, err)
		assert.Equal(t, text, w.String())
		measured := []Measurement{{Trial: capture.Trial{Windows: windows}, PIDs: []int{1}}}
		threads, err := w.Narrow(measured, events)
		require.NoError(t, err)
		assert.Nil(t, threads)
		assert.Equal(t, want, measured[0].Windows, text)
	}
	for _, bad := range []string{"jfr", "jfr:", "!", "gc,safepoint"} {
		_, err := ParseEventChoice(bad)
		assert.ErrorContains(t, err, "use gc, safepoint or jfr:NAME", bad)
	}
	w, err := ParseEventChoice("gc")
	require.NoError(t, err)
	_, err = w.Narrow([]Measurement{{Trial: capture.Trial{Windows: windows}}}, nil)
	assert.ErrorContains(t, err, "the capture has no events of this kind")
	_, err = w.Narrow([]Measurement{{}}, events)
	assert.ErrorContains(t, err, "it is not known when the capture began")
}

// A chosen event counts for the trial in which it began, whether or not it narrows a window.
func TestChosen(t *testing.T) {
	measured := []Measurement{
		{Trial: capture.Trial{Windows: []capture.Window{window(1, 100e6, 200e6)}}, PIDs: []int{1}},
		{Trial: capture.Trial{Windows: []capture.Window{window(1, 200e6, 300e6)}}, PIDs: []int{1}},
	}
	long, instant, unknown := ms(event.Own, "a.Request", 150, 10), ms(event.Own, "a.Request", 150, 0), ms(event.Own,
		"a.Request", 250, 10)
	long.TID, instant.TID = 7, 7
	early, late, other, elsewhere := ms(event.Own, "a.Request", 99, 10), ms(event.Own, "a.Request", 300, 10), ms(event.Own,
		"b.Request", 150, 10), long
	elsewhere.PID = 2
	type found struct {
		trial      int
		in, chosen bool
	}
	for text, want := range map[string][]found{
		"jfr:a.Request": {{0, true, true}, {0, true, true}, {1, true, true}, {0, false, true}, {0, false, true}, {},
			{0, false, true}},
		"!jfr:a.Request": {{0, false, true}, {0, false, true}, {0, false, true}, {0, false, true}, {0, false, true}, {},
			{0, false, true}},
		"gc": make([]found, 7),
		"":   make([]found, 7),
	} {
		w, err := ParseEventChoice(text)
		require.NoError(t, err)
		c := w.Chosen(measured)
		var got []found
		for _, e := range []event.Event{long, instant, unknown, early, late, other, elsewhere} {
			trial, in, chosen := c.Find(&e)
			got = append(got, found{trial, in, chosen})
		}
		assert.Equal(t, want, got, text)
	}
}
