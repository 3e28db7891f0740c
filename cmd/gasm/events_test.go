package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/report/tracetest"
)

// withLog reports whether a JDK can log events.
func withLog(j gasmtest.JDK) bool { return j.Feature > 8 }

// programs8 compiles programs of testdata so that every JDK can run them. It returns the folder of their classes.
func programs8(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		gasmtest.CompileJava(t, dir, 8, gasmtest.Testdata("programs", name+".java"))
	}
	return dir
}

// eventsOfKind returns the number of events of a kind, and the sum of their durations.
func eventsOfKind(p *schema.Profile, kind string) (count int, millis float64) {
	for _, e := range p.Events {
		if e.Kind == kind {
			count += e.Count
			millis += e.TotalMS
		}
	}
	return count, millis
}

// TestPausesAndBeans checks that the number and the duration of the collector's pauses are those that the JVM's own
// GarbageCollectorMXBeans return. Each pause must lie within a safepoint.
func TestPausesAndBeans(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs8(t, "Pauses")
	beans := regexp.MustCompile(`collections (\d+) millis (\d+)`)
	for _, j := range gasmtest.NeedJDKs(t, withLog) {
		for _, collector := range []string{"Serial", "Parallel", "G1"} {
			t.Run(j.Name()+"/"+collector, func(t *testing.T) {
				t.Parallel() // both sets of numbers come from the JVM itself
				dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
				waited := watchWaiting()
				r := runGasm(t, []string{"profile", "-o", dir, "--format", "json", "--report", file, "--",
					// The beans don't count the pauses of a concurrent cycle, or count them differently. So the
					// options prevent such cycles.
					j.Java(), "-XX:+Use" + collector +
						"GC", "-XX:InitiatingHeapOccupancyPercent=100", "-Xms64m", "-Xmx64m", "-cp", classPath, "Pauses", "60"})
				require.Equal(t, 0, r.code, r.stderr)
				said := beans.FindStringSubmatch(r.stdout)
				require.NotNil(t, said, r.stdout)
				collections, err := strconv.Atoi(said[1])
				require.NoError(t, err)
				millis, err := strconv.ParseFloat(said[2], 64)
				require.NoError(t, err)
				p := &readReport(t, readFile(t, file)).Profiles[0]
				count, total := eventsOfKind(p, "gc")
				assert.Equal(t, collections, count)
				waiting := waited().Seconds() * 1000
				t.Logf("beans %g ms, events %g ms; meanwhile, threads waited for %g ms", millis, total, waiting)
				// Each of the two beans adds up ticks and returns whole ms, so their sum is up to 2 ms too small. An
				// event begins before the time that the bean measures, and ends after it. If the thread has to wait
				// in between, the event is longer.
				assert.GreaterOrEqual(t, total, 0.9*millis-2)
				assert.LessOrEqual(t, total, 1.1*millis+2+waiting)
				safepoints, stopped := eventsOfKind(p, "safepoint")
				assert.GreaterOrEqual(t, safepoints, count/2, "a young and a full collection may share one")
				assert.Greater(t, stopped, 0.95*total, "pauses are inside of safepoints")
				if collector == "Serial" {
					checkStopped(t, dir)
				}
			})
		}
	}
}

// checkStopped checks that the samples in pauses belong to threads that can run then: the VM thread, which does the
// work of the Serial collector, and the compilers. The program's threads do not run, except for the moments in which
// they stop or start.
func checkStopped(t *testing.T, dir string) {
	t.Helper()
	r := runGasm(t, []string{"report", "--format", "json", "--window-event", "gc", dir})
	require.Equal(t, 0, r.code, r.stderr)
	p := &readReport(t, []byte(r.stdout)).Profiles[0]
	counts := map[string]int64{}
	for _, k := range p.Threads {
		counts[k.Kind] = k.Counts.Values[0]
	}
	t.Logf("samples in pauses: %v", counts)
	assert.Greater(t, counts["other JVM threads"], int64(20), "the VM thread")
	// The kernel takes a sample some µs after its timer fires, and a pause begins some µs before it is logged. So for
	// 60 pauses, there may be one or two such samples.
	assert.LessOrEqual(t, counts["application"], 2+counts["other JVM threads"]/20)
}

// TestTimeToSafepoint runs a loop without a safepoint poll, which keeps the other threads waiting for a safepoint.
// The method of the loop, and an instruction of the loop, must come first in the report.
func TestTimeToSafepoint(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs8(t, "Delay")
	for _, j := range gasmtest.NeedJDKs(t, withLog) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, []string{"profile", "-o", dir, "--format", "json", "--report", file, "--",
				j.Java(), "-XX:+UseSerialGC", "-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0",
				"-XX:CompileCommand=quiet",
				"-XX:CompileCommand=dontinline,Delay::spin", "-XX:CompileCommand=dontinline,Delay::brief", "-cp", classPath,
				"Delay", "2000"})
			require.Equal(t, 0, r.code, r.stderr)
			p := &readReport(t, readFile(t, file)).Profiles[0]
			require.NotEmpty(t, p.Delays)
			first := p.Delays[0]
			assert.Equal(t, "Delay::spin", first.Name)
			require.NotEmpty(t, first.Lines)
			assert.Regexp(t, `imul|add|shl|sub|mov|lea|inc|cmp|j`, first.Lines[0].Text)
			require.NotEmpty(t, first.Lines[0].Frames)
			assert.Equal(t, "Delay::spin", first.Lines[0].Frames[0].Method)
			var all int64
			names := map[string]int64{}
			for _, d := range p.Delays {
				all += d.Counts.Values[0]
				names[d.Name] += d.Counts.Values[0]
			}
			// On a busy machine, C2 compiles the loop after the first safepoint: then, the loop has several rows.
			assert.Greater(t, float64(names[first.Name]), 0.9*float64(all), "%v", names)
			text := runGasm(t, []string{"report", "--skip-asm", dir})
			assert.Regexp(t, `\.\.\.\.\[Time to Safepoint\]\.+\nThreads waited [0-9.]+ ms for others to reach \d+ safepoints \(longest [0-9.]+ ms\)`, text.stdout)
			checkWindowEvents(t, dir)
			checkEventLists(t, dir)
		})
	}
}

// checkWindowEvents checks that the samples within safepoints and those outside of them together are all samples.
func checkWindowEvents(t *testing.T, dir string) {
	t.Helper()
	profiled := func(args ...string) (n int64, seconds float64) {
		r := runGasm(t, slices.Concat([]string{"report", "--format", "json"}, args, []string{dir}))
		require.Equal(t, 0, r.code, r.stderr)
		p := &readReport(t, []byte(r.stdout)).Profiles[0]
		return p.Account.Values[0].Profiled, p.WindowSeconds
	}
	all, whole := profiled()
	in, inside := profiled("--window-event", "safepoint")
	out, outside := profiled("--window-event", "!safepoint")
	assert.Equal(t, all, in+out)
	assert.InDelta(t, whole, inside+outside, 1e-6)
	assert.Positive(t, in)
	r := runGasm(t, []string{"report", "--window-event", "gc", dir})
	assert.NotEqual(t, 2, r.code)
	assert.Equal(t, 2, runGasm(t, []string{"report", "--window-event", "nonsense", dir}).code)
}

// checkEventLists checks that all formats of gasm events have the same events.
func checkEventLists(t *testing.T, dir string) {
	t.Helper()
	text := runGasm(t, []string{"events", dir})
	require.Equal(t, 0, text.code, text.stderr)
	lines := strings.Split(strings.TrimSpace(text.stdout), "\n")
	jsonl := runGasm(t, []string{"events", "--format", "jsonl", dir})
	require.Equal(t, 0, jsonl.code, jsonl.stderr)
	objects := strings.Split(strings.TrimSpace(jsonl.stdout), "\n")
	assert.Len(t, lines, len(objects)+1, "a heading")
	last := int64(0)
	for _, o := range objects {
		var e struct {
			MonoNanos int64 `json:"mono_nanos"`
			Kind      string
		}
		require.NoError(t, json.Unmarshal([]byte(o), &e))
		assert.GreaterOrEqual(t, e.MonoNanos, last)
		assert.Contains(t, []string{"gc", "gc-concurrent", "safepoint"}, e.Kind)
		last = e.MonoNanos
	}
	file := filepath.Join(t.TempDir(), "events")
	written := runGasm(t, []string{"events", "--report", file, dir})
	require.Equal(t, 0, written.code, written.stderr)
	assert.Empty(t, written.stdout)
	inFile, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, text.stdout, string(inFile))
	checkTrace(t, dir)
	assert.Equal(t, 2, runGasm(t, []string{"events"}).code)
	assert.Equal(t, 2, runGasm(t, []string{"events", "--format", "xml", dir}).code)
}

// checkTrace compares the trace for Perfetto with the events in the format jsonl and with the samples in the report.
// The capture must be of a single program.
func checkTrace(t *testing.T, dir string) {
	t.Helper()
	r := runGasm(t, []string{"events", "--format", "perfetto", dir})
	require.Equal(t, 0, r.code, r.stderr)
	trace, err := tracetest.Decode([]byte(r.stdout))
	require.NoError(t, err)
	slice := func(pid int, kind, name string, at, nanos int64) string {
		return fmt.Sprint(pid, kind, name, at, nanos)
	}
	var want, got []string
	for line := range strings.Lines(runGasm(t, []string{"events", "--format", "jsonl", dir}).stdout) {
		var e struct {
			PID        int
			Kind, Name string
			MonoNanos  int64 `json:"mono_nanos"`
			Nanos      int64
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		want = append(want, slice(e.PID, e.Kind, e.Name, e.MonoNanos, e.Nanos))
	}
	for _, s := range trace.Slices {
		got = append(got, slice(s.PID, s.Category, s.Name, s.MonoNanos, s.Nanos))
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, len(want), len(got))
	assert.True(t, slices.Equal(want, got), "the events are not the same")
	account := jsonReport(t, dir).Profiles[0].Account.Values[0]
	assert.Len(t, trace.Samples, int(account.Profiled))
	assert.Equal(t, account.Lost, trace.Lost)
	assert.NotEmpty(t, trace.Samples)
}

// TestEventsBesideOwnLog checks that the user's own -Xlog options have the same effect as without gasm, and that
// --events none logs nothing.
func TestEventsBesideOwnLog(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	classPath := programs8(t, "Pauses")
	for _, j := range gasmtest.NeedJDKs(t, withLog) {
		t.Run(j.Name(), func(t *testing.T) {
			own := filepath.Join(t.TempDir(), "own.log")
			run := func(args ...string) (result, string) {
				dir := filepath.Join(t.TempDir(), "capture")
				r := runGasm(t, slices.Concat([]string{"profile", "-o", dir, "--report", filepath.Join(t.TempDir(), "r"), args[0],
					args[1], "--", j.Java()}, args[2:],
					[]string{"-Xmx32m", "-cp", classPath, "Pauses", "3"}))
				require.Equal(t, 0, r.code, r.stderr)
				return r, dir
			}
			logs := func(dir string) int {
				found, err := filepath.Glob(filepath.Join(dir, "ev-*.log"))
				require.NoError(t, err)
				return len(found)
			}
			r, dir := run("--events", "default", "-Xlog:gc:file="+own+":uptime,tags", "-Xlog:safepoint=off:stdout")
			assert.Equal(t, 1, logs(dir))
			assert.Regexp(t, `^collections \d+ millis \d+\n$`, r.stdout)
			text, err := os.ReadFile(own)
			require.NoError(t, err)
			assert.Regexp(t, `(?m)^\[\d+\.\d+s\]\[gc *\] GC\(0\) Pause Young`, string(text))
			r, dir = run("--events", "none", "-Dx=y")
			assert.Zero(t, logs(dir))
			assert.NotContains(t, r.stderr, "-Xlog")
			listed := runGasm(t, []string{"events", dir})
			assert.Contains(t, listed.said(), "no events were recorded in this capture")
			_, dir = run("--events", "default", "-Xlog:disable")
			reported := runGasm(t, []string{"report", "--skip-asm", dir})
			assert.Equal(t, 0, reported.code)
			for _, wrong := range [][]string{{"profile", "--events", "locks", "--", "true"},
				{"profile", "--events", "gc", "--window-event", "safepoint", "--", "true"},
				{"attach", "--events", "lock", "--events-from", "log", "1"}, {"attach", "--events-from", "perf", "1"}} {
				assert.Equal(t, 2, runGasm(t, wrong).code, wrong)
			}
		})
	}
}

// TestDamagedEvents reads logs that are cut off, have no decorations, or are missing. Each must lead to a note, and
// the report must be there without the missing events.
func TestDamagedEvents(t *testing.T) {
	t.Parallel()
	samples, _ := savedCapture(t, "jdk17-lean-none")
	dir := filepath.Dir(samples)
	require.NoError(t, os.Rename(filepath.Join(dir, "asm.log"), filepath.Join(dir, "asm-24997.log")))
	log := filepath.Join(dir, "ev-24997.log")
	for _, c := range []struct{ name, text, note string }{
		{"no decorations", "GC(0) Pause Young\nGC(1) Pause Young\n",
			"2 lines of the events could not be read, the first: ev-24997.log:1: HotSpot's decorations tn and tg"},
		{"cut", "[1000ns][9][gc,start] GC(0) Pause Young (a)\n[2000ns][9][gc] GC(0) Pau", ""},
	} {
		require.NoError(t, os.WriteFile(log, []byte(c.text), 0o644))
		r := runGasm(t, []string{"report", "--skip-asm", dir})
		require.Equal(t, 0, r.code, r.stderr)
		assert.Contains(t, oneLine(r.stdout), c.note, c.name)
		assert.NotContains(t, r.stdout, "[Events]")
	}
	require.NoError(t, os.Remove(log))
	require.NoError(t, os.Mkdir(log, 0o755))
	r := runGasm(t, []string{"report", "--skip-asm", dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, oneLine(r.stdout), "the events of JVM 24997 could not be read, and are not in the report")
}
