package jfr

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestMonoNanos compares when events began with System.nanoTime, which is CLOCK_MONOTONIC. It is a field of the
// event, and read immediately before.
func TestMonoNanos(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(j.Name(), func(t *testing.T) {
			now := capture.ReadClock()
			path := record(t, j, classes, "default", "slow", "500")
			later := capture.ReadClock()
			require.Less(t, now.StepTo(later).Abs().Microseconds(), int64(2), "the wall clock was set meanwhile")
			r := open(t, path)
			var errors []int64
			coarse := false
			for r.Scan() {
				e := r.Event()
				if e.Type().Name != "test.Small" {
					continue
				}
				c := e.Chunk().Clock
				coarse = c.Coarse()
				at, _ := e.MonoNanos(c.WallAnchor(now.WallNanos, now.MonoNanos))
				errors = append(errors, at-e.Field("nanoTime").Int())
			}
			require.NoError(t, r.Err())
			require.Len(t, errors, 500)
			slices.Sort(errors)
			median := errors[len(errors)/2]
			t.Logf("median %d ns, 10th %d, 490th %d", median, errors[10], errors[490])
			assert.Equal(t, j.Feature < 17, coarse)
			if coarse {
				assert.InDelta(t, 0, median, 1e6, "the header's wall clock has whole milliseconds")
			} else {
				assert.InDelta(t, 0, median, 2000, "HotSpot reads the two clocks of the header one after the other")
			}
		})
	}
}

// TestLogAnchor anchors recordings by the safepoints of HotSpot's log, as those of JDK 11 must be.
func TestLogAnchor(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(j.Name(), func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "gc.log")
			t.Setenv("JAVA_TOOL_OPTIONS", "-Xmn4m -XX:+UseSerialGC -Xlog:gc,gc+start:file="+log+":tn,tg:filecount=0")
			path := record(t, j, classes, "default", "collect", "500")
			text, err := os.ReadFile(log)
			require.NoError(t, err)
			var logged []int64 // when each collection began, by its number
			for _, m := range regexp.MustCompile(`(?m)^\[(\d+)ns\]\[gc,start *\] GC\((\d+)\) Pause`).FindAllStringSubmatch(string(text), -1) {
				at, err := strconv.ParseInt(m[1], 10, 64)
				require.NoError(t, err)
				require.Equal(t, strconv.Itoa(len(logged)), m[2])
				logged = append(logged, at)
			}
			moments, nanoTimes := collections(t, path, logged)
			require.Greater(t, len(moments), 5)
			clock := moments[0].clock
			anchors := make([]Anchor, len(moments))
			for i, m := range moments {
				anchors[i] = m.Anchor
			}
			anchor, ok := clock.MedianAnchor(anchors)
			require.True(t, ok)
			var errors []int64
			for _, m := range nanoTimes {
				errors = append(errors, clock.MonoNanos(m.Ticks, anchor)-m.MonoNanos)
			}
			slices.Sort(errors)
			median := errors[len(errors)/2]
			t.Logf("median %d ns of %d events, by %d collections", median, len(errors), len(moments))
			assert.InDelta(t, 0, median, 10_000, "the log's line is written some microseconds before or after the event begins")
		})
	}
}

type moment struct {
	Anchor
	clock Clock
}

// collections gives when collections began, by the recording and by the log; and the events with System.nanoTime.
func collections(t *testing.T, path string, logged []int64) (moments, nanoTimes []moment) {
	t.Helper()
	r := open(t, path)
	for r.Scan() {
		e := r.Event()
		c := e.Chunk().Clock
		switch e.Type().Name {
		case "jdk.GarbageCollection":
			id := e.Field("gcId").Int()
			require.Less(t, id, int64(len(logged)))
			moments = append(moments, moment{Anchor{e.StartTicks(), logged[id]}, c})
		case "test.Small":
			nanoTimes = append(nanoTimes, moment{Anchor{e.StartTicks(), e.Field("nanoTime").Int()}, c})
		}
	}
	require.NoError(t, r.Err())
	return moments, nanoTimes
}

// TestKilled reads the chunk that a JVM leaves that is killed.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(j.Name(), func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(j.Java(), "-XX:StartFlightRecording=settings=default", "-XX:FlightRecorderOptions=repository="+dir,
				"-cp", classes, "Recorded", "wait", "2500")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "READY" {
			}
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait() // which says that it was killed
			chunks, err := filepath.Glob(filepath.Join(dir, "*", "*.jfr"))
			require.NoError(t, err)
			require.Len(t, chunks, 1)
			r := open(t, chunks[0])
			var numbers []int64
			for r.Scan() {
				e := r.Event()
				assert.True(t, e.Chunk().Unfinished)
				if e.Type().Name == "test.Small" {
					numbers = append(numbers, e.Field("number").Int())
				}
			}
			damage := r.Damage()
			t.Logf("%d events, %v, %+v", len(numbers), r.Err(), damage)
			if j.Feature < 14 {
				assert.Empty(t, numbers)
				if damage.Any() {
					assert.Contains(t, damage.First[0], "before it wrote the chunk's types")
				} else {
					require.ErrorContains(t, r.Err(), "is empty")
				}
				return
			}
			require.NoError(t, r.Err())
			assert.Equal(t, Damage{}, damage)
			assert.Greater(t, len(numbers), 1000, "there was a flush a second, and an event a millisecond")
			slices.Sort(numbers)
			for i, n := range numbers {
				require.Equal(t, int64(i), n, "none is missing")
			}
		})
	}
}
