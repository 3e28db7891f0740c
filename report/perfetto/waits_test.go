package perfetto

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/tracetest"
	"github.com/gasm-profiler/gasm/wall"
)

// serverTrace returns the trace of a capture without samples, whose threads did what a reporttest.Server describes, and
// the capture.
func serverTrace(t *testing.T, workers int, cut int64) (*tracetest.Trace, *capture.Capture) {
	t.Helper()
	trace, c, notes := noisyTrace(t, workers, cut, "")
	assert.Empty(t, notes)
	return trace, c
}

// noisyTrace does the same for a file that has more text at its end. It also returns the notes.
func noisyTrace(t *testing.T, workers int, cut int64, more string) (*tracetest.Trace, *capture.Capture, []string) {
	t.Helper()
	dir := gasmtest.UnpackFolder(t, "stacks")
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	w := d.Trials[0].Windows[0]
	var text bytes.Buffer
	require.NoError(t, reporttest.Server{PID: w.PID, From: w.FromMonoNanos, To: w.ToMonoNanos,
		Workers: workers}.Write(&text))
	text.Truncate(text.Len() - int(cut))
	text.WriteString(more)
	require.NoError(t, os.WriteFile(filepath.Join(dir, capture.WallText(w.PID)), text.Bytes(), 0o600))
	c, err := capture.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	var b bytes.Buffer
	notes, err := Write(&b, &Trace{Capture: &c.Description, Waits: c.WallFiles(), SourceFile: profile.SourceFileOf(c)})
	require.NoError(t, err)
	return decode(t, b.Bytes()), c, notes
}

// TestDamagedStates checks that there is a note about lines that can't be read.
func TestDamagedStates(t *testing.T) {
	_, _, notes := noisyTrace(t, 20, 0, "nonsense\nmore\n")
	require.Len(t, notes, 1)
	assert.Regexp(t, `^2 lines about the threads of JVM \d+ could not be read, the first: `, notes[0])
}

// TestStates checks that each thread has one lane, whose slices cover its life without gaps or overlaps, and that their
// times are those of the file.
func TestStates(t *testing.T) {
	trace, c := serverTrace(t, 20, 0)
	r, closer, err := c.WallFiles()[0].Open()
	require.NoError(t, err)
	defer closer.Close()
	names, want := map[int]string{}, map[string]map[string]int64{}
	for r.Scan() {
		switch record := r.Record().(type) {
		case *wall.Thread:
			names[record.Number] = record.Name
			want[record.Name] = map[string]int64{}
		case *wall.Spell:
			want[names[record.Thread]][record.State.String()] += record.ToMonoNanos - record.FromMonoNanos
		}
	}
	got, lanes := map[string]map[string]int64{}, map[string]bool{}
	byThread := map[tracetest.Thread][]tracetest.Slice{}
	for _, s := range trace.Slices {
		require.Equal(t, string(waitKind), s.Category)
		name := trace.Threads[s.Thread]
		assert.Equal(t, name+" by the wall clock", s.Track)
		lanes[s.Track] = true
		if got[name] == nil {
			got[name] = map[string]int64{}
		}
		got[name][s.Name] += s.Nanos
		byThread[s.Thread] = append(byThread[s.Thread], s)
	}
	assert.Equal(t, want, got)
	assert.Len(t, lanes, len(names))
	assert.Equal(t, len(names), trace.Tracks)
	for _, list := range byThread {
		slices.SortFunc(list, func(a, b tracetest.Slice) int { return int(a.MonoNanos - b.MonoNanos) })
		for i, s := range list[1:] {
			assert.Equal(t, list[i].MonoNanos+list[i].Nanos, s.MonoNanos)
		}
	}
	i := slices.IndexFunc(trace.Slices, func(s tracetest.Slice) bool {
		return s.Name == "monitor" &&
			s.Args["for"] == "acme.Pool@7f0010"
	})
	require.GreaterOrEqual(t, i, 0)
	s := trace.Slices[i]
	assert.Equal(t, "http-nio-8080-exec-1", s.Args["held by"])
	assert.Equal(t, "acme.Pool::take", s.Stack[0].Function)
	assert.EqualValues(t, 12, s.Stack[0].Line)
}

// TestStatesCutOff checks that a file that was cut off can be converted to a trace.
func TestStatesCutOff(t *testing.T) {
	trace, _ := serverTrace(t, 5, 300)
	assert.NotEmpty(t, trace.Slices)
}
