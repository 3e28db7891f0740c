package capture

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// begunWall is the time at which the recordings of begunRecording began, on the wall clock, in ns. The recordings' own
// clock had 1000 ticks then.
const begunWall = 1_700_000_000_000_123_457

func begunRecording(t *testing.T, events ...[]byte) []byte {
	t.Helper()
	text, err := os.ReadFile("../event/jfr/testdata/open.jfr")
	require.NoError(t, err)
	for _, e := range events {
		text = append(text, e...)
	}
	return text
}

// recorded returns a test.Event of thread 4711, the given number of µs after the start of the recording. It lasts 50
// ns.
func recorded(micros byte) []byte {
	body := []byte{21, byte(100+int(micros)*1000)&0x7f | 0x80, byte((100 + int(micros)*1000) >> 7), 50, 8, 9, 3, 1, 5}
	body = append(body, make([]byte, 8)...)
	return append([]byte{byte(len(body)+4) | 0x80, 0x80, 0x80, 0}, body...)
}

// writeCapture writes files into a folder, and returns a capture of JVMs in it that has clocks.
func writeCapture(t *testing.T, files map[string][]byte, jvms ...JVM) *Capture {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return &Capture{dir: dir, Description: Description{JVMs: jvms,
		Clocks: []Clock{{MonoNanos: 5_000_000_000, WallNanos: begunWall}}}}
}

// The times of a recording's events are on the samples' clock, and threads have the same ids as in samples. An event
// that is also in the log is returned once.
func TestReadRecording(t *testing.T) {
	log := "[5000002000ns][9][gc] GC(7) Pause Young (b) 1M->1M(2M) 0.001ms\n"
	c := writeCapture(t, map[string][]byte{"ev-1.log": []byte(log),
		"ev-1.jfr": begunRecording(t, recorded(3), recorded(1))},
		JVM{PID: 1, EventLog: "ev-1.log", Recordings: []string{"ev-1.jfr"}, Threads: map[int]int{4711: 71}})
	events, notes := c.ReadEvents()
	assert.Empty(t, notes)
	require.Len(t, events, 3)
	assert.Equal(t, event.GC, events[0].Kind)
	for i, at := range []int64{5_000_001_000, 5_000_003_000} {
		e := &events[i+1]
		assert.Equal(t, at, e.MonoNanos)
		assert.Equal(t, int64(50), e.Nanos)
		assert.Equal(t, []any{1, 71, event.Own, "test.Event"}, []any{e.PID, e.TID, e.Kind, e.Name})
		assert.Equal(t, "G1New", e.Arg("gc"))
		require.Len(t, e.Frames, 2)
	}
}

// A note says if a recording is truncated, missing or another kind of file, or if the capture has no clocks.
func TestDamagedRecordings(t *testing.T) {
	good := begunRecording(t, recorded(1), recorded(2))
	for name, c := range map[string]struct {
		file []byte
		want string
		n    int
	}{
		"cut in an event": {good[:len(good)-3], "", 1},
		"cut in the types": {good[:300],
			"the recording of JVM 1 could not be read, and its events are not in the report: ev-1.jfr: the JVM ended while it wrote a chunk", 0},
		"foreign": {[]byte("PK\x03\x04 something else"),
			"is not a recording of Java Flight Recorder: it begins with \"PK", 0},
		"empty": {nil, "ev-1.jfr is empty: the JVM writes a recording when it ends", 0},
	} {
		of := writeCapture(t, map[string][]byte{"ev-1.jfr": c.file}, JVM{PID: 1, Recordings: []string{"ev-1.jfr"}})
		events, notes := of.ReadEvents()
		assert.Len(t, events, c.n, name)
		if c.want == "" {
			assert.Empty(t, notes, name)
			continue
		}
		require.Len(t, notes, 1, name)
		assert.Contains(t, notes[0], c.want, name)
	}
	of := writeCapture(t, nil, JVM{PID: 1, Recordings: []string{"../ev-1.jfr"}})
	_, notes := of.ReadEvents()
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], "no such file")
	of.Clocks = nil
	_, notes = of.ReadEvents()
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], "the capture has no capture.json with clocks, so the time of the recording is unknown")
}

// A recording that was added belongs to the only JVM, or to the chosen one, and replaces the recordings of the capture.
func TestAddRecording(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.jfr")
	require.NoError(t, os.WriteFile(own, begunRecording(t, recorded(1), recorded(2)), 0o600))
	all := func(*JVM) bool { return true }
	c := writeCapture(t, map[string][]byte{"ev-1.jfr": begunRecording(t, recorded(9))},
		JVM{PID: 1, Recordings: []string{"ev-1.jfr"}}, JVM{PID: 2})
	assert.ErrorContains(t, c.AddRecording(own, all),
		"own.jfr does not say which of the capture's 2 JVMs it belongs to: choose one with --pid")
	require.NoError(t, c.AddRecording(own, func(j *JVM) bool { return j.PID == 1 }))
	events, notes := c.ReadEvents()
	assert.Empty(t, notes)
	assert.Len(t, events, 2)
	assert.ErrorContains(t, c.AddRecording("none.jfr", all), "opening the recording: ")
	foreign := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(foreign, []byte("text"), 0o600))
	assert.ErrorContains(t, c.AddRecording(foreign, all), "is not a recording of Java Flight Recorder")
	c.Clocks = nil
	assert.ErrorContains(t, c.AddRecording(own, all), "so the wall clock times of its samples are unknown")
}

// The first sample of a thread that ran before the recording has no bytes. That holds once for all parts of a
// recording, and a note says so. Starts of threads are events only if the user has asked for them.
func TestFirstSamples(t *testing.T) {
	whole, err := os.ReadFile("../event/jfr/testdata/samples.jfr")
	require.NoError(t, err)
	first := binary.BigEndian.Uint64(whole[8:]) // the size of the first chunk
	parts := map[string][]byte{"whole.jfr": whole, "a.jfr": whole[:first], "b.jfr": whole[first:]}
	const note = "the allocations of JVM 1 are without the 3000.0 MB of 2 samples: the first one of a thread that ran before the recording " +
		"stands for all that the thread has allocated since its start"
	read := func(c *Capture, notes ...string) (kinds map[event.Kind]int, bytes []int64) {
		t.Helper()
		events, said := c.ReadEvents()
		assert.Equal(t, notes, said)
		kinds = map[event.Kind]int{}
		for i := range events {
			if kinds[events[i].Kind]++; events[i].Kind == event.Alloc {
				bytes = append(bytes, events[i].Bytes)
			}
		}
		return kinds, bytes
	}
	for _, names := range [][]string{{"whole.jfr"}, {"a.jfr", "b.jfr"}} {
		kinds, bytes := read(writeCapture(t, parts, JVM{PID: 1, Recordings: names}), note)
		assert.Equal(t, map[event.Kind]int{event.Alloc: 7, event.Thread: 1}, kinds, names)
		assert.Equal(t, []int64{0, 500, 40, 70, 600, 80, 0}, bytes, names)
		kinds, bytes = read(writeCapture(t, parts, JVM{PID: 1, Recordings: names, StartsUnasked: true}), note)
		assert.Equal(t, map[event.Kind]int{event.Alloc: 7}, kinds, names)
		assert.Equal(t, []int64{0, 500, 40, 70, 600, 80, 0}, bytes, names)
	}
	// Each file that was added is a recording of its own. The second one has no event for the start of a thread, and
	// too few bytes for a note.
	c := writeCapture(t, parts, JVM{PID: 1, StartsUnasked: true})
	for _, name := range []string{"a.jfr", "b.jfr"} {
		require.NoError(t, c.AddRecording(filepath.Join(c.dir, name), func(*JVM) bool { return true }))
	}
	kinds, bytes := read(c, strings.Replace(note, "2 samples", "1 sample", 1))
	assert.Equal(t, map[event.Kind]int{event.Alloc: 7, event.Thread: 1}, kinds)
	assert.Equal(t, []int64{0, 500, 40, 70, 0, 0, 0}, bytes)
}
