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

	"github.com/gasm-profiler/gasm/event"
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
			now := readClocks(t)
			path := record(t, j, classes, "default", "slow", "500")
			later := readClocks(t)
			require.InDelta(t, now.WallNanos-now.MonoNanos, later.WallNanos-later.MonoNanos, 2000, "the wall clock was set meanwhile")
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
				assert.InDelta(t, -500_000, median, 600_000, "the header's wall clock has whole milliseconds")
			} else {
				assert.InDelta(t, 0, median, 2000, "HotSpot reads the two clocks of the header one after the other")
			}
		})
	}
}

// TestAlignLog anchors a recording of JDK 11 by the ends of safepoints in HotSpot's log.
func TestAlignLog(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 11 && withRecorder(j) }) {
		dir := t.TempDir()
		log, settings := filepath.Join(dir, "safepoints.log"), filepath.Join(dir, "safepoint.jfc")
		text, err := Settings(j.Feature, []event.Kind{event.Safepoint})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(settings, []byte(text), 0o644))
		t.Setenv("JAVA_TOOL_OPTIONS", "-Xmn4m -XX:+UseSerialGC -Xlog:safepoint:file="+log+":tn,tg:filecount=0")
		now := readClocks(t)
		path := record(t, j, classes, settings, "collect", "500")
		logged, err := os.ReadFile(log)
		require.NoError(t, err)
		var mono []int64
		for _, m := range regexp.MustCompile(`(?m)^\[(\d+)ns\]\[safepoint *\] Leaving safepoint`).FindAllStringSubmatch(string(logged), -1) {
			at, err := strconv.ParseInt(m[1], 10, 64)
			require.NoError(t, err)
			mono = append(mono, at)
		}
		var ticks []int64
		var own []Anchor // events with System.nanoTime
		var clock Clock
		r := open(t, path)
		for r.Scan() {
			e := r.Event()
			clock = e.Chunk().Clock
			switch e.Type().Name {
			case "jdk.SafepointEnd":
				ticks = append(ticks, e.StartTicks())
			case "test.Small":
				own = append(own, Anchor{e.StartTicks(), e.Field("nanoTime").Int()})
			}
		}
		require.NoError(t, r.Err())
		require.Len(t, own, 500)
		slices.Sort(ticks)
		anchor, ok := clock.Align(clock.WallAnchor(now.WallNanos, now.MonoNanos), ticks, mono)
		require.True(t, ok)
		var errors []int64
		for _, o := range own {
			errors = append(errors, clock.MonoNanos(o.Ticks, anchor)-o.MonoNanos)
		}
		slices.Sort(errors)
		t.Logf("median %d ns of %d events, by %d safepoints", errors[250], len(errors), len(ticks))
		assert.InDelta(t, 0, errors[250], 5000, "the log has 2 µs more; of the anchor's 17 safepoints each is off by some microseconds at most")
	}
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
