package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// pauseLine returns the line of a pause of 1 ms that ended at the given time, in ms.
func pauseLine(at int) string {
	return fmt.Sprintf("[%dns][9][gc] GC(%d) Pause Full (a) 1.000ms\n", at*1_000_000, at)
}

// Events are read from all files of a log, and those of all JVMs are in the order of their start.
func TestReadEvents(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ev-1.log":   "[8000000ns][9][gc] GC(7) Pause Young (b) 1M->1M(2M) 2.000ms\n",
		"ev-1.log.0": pauseLine(5) + "[6000000ns][9][gc,start] GC(7) Pause Young (b)\n",
		"ev-1.log.4": pauseLine(3),
		"ev-2.log":   pauseLine(4) + "nonsense\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c := &Capture{dir: dir, Description: Description{JVMs: []JVM{{PID: 1, EventLog: "ev-1.log"},
		{PID: 2, EventLog: "ev-2.log"}, {PID: 3},
		{PID: 4, EventLog: "ev-4.log"}, {PID: 5, EventLog: "ev-1.log"}}}}
	events, notes := c.ReadEvents()
	var got []string
	for i := range events {
		got = append(got, fmt.Sprintf("%d %s %d-%d", events[i].PID, events[i].Name, events[i].MonoNanos/1e6,
			events[i].EndMonoNanos()/1e6))
	}
	assert.Equal(t, []string{"1 Pause Full 2-3", "2 Pause Full 3-4", "1 Pause Full 4-5", "1 Pause Young 6-8"}, got)
	require.Len(t, notes, 2)
	assert.Contains(t, notes[0], "a line of the events could not be read: ev-2.log:2: ")
	assert.Contains(t, notes[1], "the events of JVM 4 could not be read, and are not in the report: ")
}

// An event that is both in the log and in the recording is listed once. Compilations come from the recording, if it has
// them.
func TestMergeEvents(t *testing.T) {
	compiled := func(id string, nanos int64, more ...event.Arg) event.Event {
		return event.Event{Kind: event.Compilation, Nanos: nanos, Args: append([]event.Arg{{Name: "id", Value: id}}, more...)}
	}
	osr := event.Arg{Name: "osr", Value: "true"}
	size := event.Arg{Name: event.BytecodeSize, Value: "38"}
	logged := []event.Event{{Kind: event.GC, Name: "of the log"}, compiled("1", 0, size), compiled("2", 0, size),
		compiled("2", 0, osr), {Kind: event.Discard}}
	recorded := []event.Event{{Kind: event.GC, Name: "of the recording"}, {Kind: event.Deopt}, compiled("2", 7),
		compiled("3", 8)}
	assert.ElementsMatch(t, []event.Event{{Kind: event.GC, Name: "of the log"}, compiled("1", 0, size),
		compiled("2", 0, osr), {Kind: event.Discard},
		{Kind: event.Deopt}, compiled("2", 7, size), compiled("3", 8)}, mergeEvents(logged, recorded))
}

// A capture.json may name any file. Only files in the capture's folder are read.
func TestEventsOfOthers(t *testing.T) {
	parent := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(parent, "ev-1.log"), []byte(pauseLine(1)), 0o600))
	dir := filepath.Join(parent, "capture")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"../ev-1.log", "..", "/", filepath.Join(parent, "ev-1.log")} {
		c := &Capture{dir: dir, Description: Description{JVMs: []JVM{{PID: 1, EventLog: name}}}}
		events, notes := c.ReadEvents()
		assert.Empty(t, events, name)
		assert.Len(t, notes, 1, name)
	}
	assert.True(t, Reads(parent, filepath.Join(parent, "ev-1.log")))
}
