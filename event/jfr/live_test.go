package jfr

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// withRecorder reports whether a JDK has JFR and can run testdata/Recorded.java.
func withRecorder(j gasmtest.JDK) bool {
	_, err := os.Stat(filepath.Join(j.Home, "lib", "jfr", "default.jfc"))
	return j.Feature >= 11 && err == nil
}

// recordedClasses compiles testdata/Recorded.java.
func recordedClasses(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	gasmtest.CompileJava(tb, dir, 11, "testdata/Recorded.java")
	return dir
}

// record runs Recorded and records it from its start to its end.
func record(tb testing.TB, j gasmtest.JDK, classes, settings string, args ...string) (path string) {
	tb.Helper()
	return recordWith(tb, j, classes, settings, nil, args...)
}

func recordWith(tb testing.TB, j gasmtest.JDK, classes, settings string, flags []string, args ...string) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "run.jfr")
	all := []string{"-XX:StartFlightRecording=dumponexit=true,filename=" + path + ",settings=" + settings, "-cp",
		classes, "Recorded"}
	cmd := exec.Command(j.Java(), slices.Concat(flags, all, args)...)
	cmd.Dir = filepath.Dir(path)
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, string(out))
	return path
}

// clocks is the same moment on both clocks.
type clocks struct{ WallNanos, MonoNanos int64 }

// readClocks reads the wall clock between two readings of CLOCK_MONOTONIC. Package capture has the same function, but
// it imports this package.
func readClocks(tb testing.TB) (best clocks) {
	tb.Helper()
	width := int64(math.MaxInt64)
	for range 5 {
		before := monotonic.Nanos()
		wall := time.Now().UnixNano()
		if after := monotonic.Nanos(); after-before < width {
			width = after - before
			best = clocks{wall, before + width/2}
		}
	}
	return best
}

// open opens a recording and closes it at the end of the test.
func open(tb testing.TB, path string) *Reader {
	tb.Helper()
	f, err := os.Open(path)
	require.NoError(tb, err)
	tb.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	require.NoError(tb, err)
	return NewReader(f, info.Size(), path)
}

// everythingSettings converts settings of a JDK to settings that record all events, with no threshold. Settings are
// elements in a file: <setting name="enabled">false</setting>.
func everythingSettings(t *testing.T, j gasmtest.JDK) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(j.Home, "lib", "jfr", "profile.jfc"))
	require.NoError(t, err)
	for _, r := range []struct{ from, to string }{
		{`(<setting name="enabled"[^>]*>)[^<]*`, "${1}true"},
		{`(<setting name="stackTrace"[^>]*>)[^<]*`, "${1}true"},
		{`(<setting name="threshold"[^>]*>)[^<]*`, "${1}0 ns"},
		{`(<setting name="period"[^>]*>)[^<]*`, "${1}endChunk"},
		{` control="[^"]*"`, ""}, // a control would set the value again
	} {
		text = regexp.MustCompile(r.from).ReplaceAll(text, []byte(r.to))
	}
	path := filepath.Join(t.TempDir(), "everything.jfc")
	require.NoError(t, os.WriteFile(path, text, 0o644))
	return path
}

// listed reports whether recordings of a JDK are compared in every run. Newer JDKs have the format of 25. With -long
// all JDKs are compared.
func listed(j gasmtest.JDK) bool {
	return withRecorder(j) && (gasmtest.Long() || slices.Contains([]int{11, 17, 21, 25}, j.Feature))
}

// TestPrint compares all events of live recordings, field by field, with the output of the jfr tool. The recordings
// are made with the settings default and profile, which come with the JDK, and with all events enabled. They are
// concatenated to one file, as JFR itself concatenates chunks.
func TestPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	newest := printer(t)
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, listed) {
		t.Run(j.Name(), func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "run")
			out, err := exec.Command(j.Java(), "-cp", classes, "Recorded", "recordings", "180", prefix,
				everythingSettings(t, j)).CombinedOutput()
			require.NoError(t, err, string(out))
			var all []byte
			own := 0
			for i := range 3 {
				part, err := os.ReadFile(fmt.Sprint(prefix, i))
				require.NoError(t, err)
				all = append(all, part...)
			}
			path := prefix + ".jfr"
			require.NoError(t, os.WriteFile(path, all, 0o644))
			n := comparePrint(t, newest, path)
			r := open(t, path)
			chunks := map[int64]bool{}
			for r.Scan() {
				chunks[r.Event().Chunk().Offset] = true
				if r.Event().Type().Name == "test.Everything" {
					own++
				}
			}
			t.Logf("%d events, %d of the program's own, in %d chunks", n, own, len(chunks))
			assert.Equal(t, 3*180, own)
			assert.GreaterOrEqual(t, len(chunks), 3)
			// The tools of JDK 11 and 17 print unlimited time spans wrongly.
			if gasmtest.Long() && j.Feature > 17 && hasTool(j) && tool(j) != newest {
				comparePrint(t, tool(j), path)
			}
		})
	}
}

// TestPrintChunks is TestPrint for recordings that JFR has split into several chunks. It needs -long.
func TestPrintChunks(t *testing.T) {
	if !gasmtest.Long() {
		return // TestPrint covers several chunks, too
	}
	newest := printer(t)
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(j.Name(), func(t *testing.T) {
			path := recordWith(t, j, classes, "default", []string{"-XX:FlightRecorderOptions=maxchunksize=1M"},
				"chunks", "5000")
			comparePrint(t, newest, path)
			chunks := map[int64]bool{}
			r := open(t, path)
			for r.Scan() {
				chunks[r.Event().Chunk().Offset] = true
			}
			t.Logf("%d chunks", len(chunks))
			assert.Greater(t, len(chunks), 1)
		})
	}
}

// TestPrint8 is TestPrint for JDK 8, which has had JFR since 8u262.
func TestPrint8(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	newest := printer(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, "testdata/Plain.java")
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool {
		_, err := os.Stat(filepath.Join(j.LibJVM(), "../../../jfr.jar")) // relative to lib/amd64/server/libjvm.so
		return j.Feature == 8 && err == nil
	}) {
		path := filepath.Join(t.TempDir(), "run.jfr")
		out, err := exec.Command(j.Java(), "-XX:StartFlightRecording=settings=profile,filename="+path, "-cp", classes,
			"Plain").CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Greater(t, comparePrint(t, newest, path), 500, "flags and properties alone are so many")
	}
}

// comparePrint compares a recording with the output of a jfr tool. The tool sorts the events of each chunk by their
// end.
func comparePrint(t *testing.T, tool, path string) (n int) {
	t.Helper()
	next, differences := sortedEvents(t, path), 0
	types := map[string]int{}
	clocks := map[Clock]bool{}
	printJSON(t, tool, path, func(want printed) {
		n++
		types[want.Type]++
		e := next()
		d := ""
		switch {
		case e == nil:
			d = "is missing"
		case e.Type().Name != want.Type:
			d = "is a " + e.Type().Name
		default:
			clocks[e.chunk.Clock] = true
			d = differEvent(e, want)
			for clock := range clocks {
				// For chunks with the same types, the tool keeps the clock of the first one.
				if again := *e; d != "" {
					chunk := *e.chunk
					again.chunk, chunk.Clock = &chunk, clock
					if differEvent(&again, want) == "" {
						d = ""
					}
				}
			}
		}
		if d != "" && differences < 10 {
			differences++
			t.Errorf("event %d, %s: %s", n, want.Type, d)
		}
	})
	assert.Nil(t, next(), "all events are printed")
	assert.Greater(t, len(types), 20, "kinds of events")
	return n
}

func differEvent(e *Event, want printed) string {
	n := 0
	for f, v := range e.Fields() {
		p, ok := want.Values[f.Name]
		if !ok {
			return f.Name + " is not printed"
		}
		if d := differ(v, p); d != "" {
			return f.Name + ": " + d
		}
		if again := differ(e.Field(f.Name), p); again != "" {
			return f.Name + " by its name: " + again
		}
		n++
	}
	if n != len(want.Values) {
		return fmt.Sprintf("%d of %d fields", n, len(want.Values))
	}
	return ""
}

// sortedEvents returns the events of a recording one by one. The events of each chunk are sorted as the jfr tool
// sorts them.
func sortedEvents(t *testing.T, path string) (next func() *Event) {
	t.Helper()
	r := open(t, path)
	var events []*Event
	var chunk *Chunk
	from := 0
	finish := func() {
		slices.SortStableFunc(events[from:], func(a, b *Event) int {
			return int(a.start + a.duration - b.start -
				b.duration)
		})
		from = len(events)
	}
	for r.Scan() {
		e := *r.Event()
		if e.chunk != chunk {
			finish()
			chunk = e.chunk
		}
		e.data, e.offsets = slices.Clone(e.data), slices.Clone(e.offsets)
		events = append(events, &e)
	}
	finish()
	require.NoError(t, r.Err())
	require.Equal(t, Damage{}, r.Damage())
	return func() *Event {
		if len(events) == 0 {
			return nil
		}
		e := events[0]
		events = events[1:]
		return e
	}
}
