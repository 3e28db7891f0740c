package main

import (
	"encoding/json"
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
)

// withRecorder reports whether a JDK is tested here and has Flight Recorder.
func withRecorder(j gasmtest.JDK) bool {
	_, err := os.Stat(filepath.Join(j.Home, "lib", "jfr", "default.jfc"))
	return err == nil && slices.Contains([]int{11, 17, 21, 25}, j.Feature)
}

// programs11 compiles programs that record events of their own, for JDK 11 and newer.
func programs11(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		gasmtest.CompileJava(t, dir, 11, gasmtest.Testdata("programs", name+".java"))
	}
	return dir
}

// lineOf returns the number of the line of a program that contains a text.
func lineOf(t *testing.T, program, text string) int {
	t.Helper()
	source, err := os.ReadFile(gasmtest.Testdata("programs", program+".java"))
	require.NoError(t, err)
	before, _, found := strings.Cut(string(source), text)
	require.True(t, found, text)
	return 1 + strings.Count(before, "\n")
}

// TestRecordedSites runs a program that allocates in one line, and waits for a lock in another one. The report must
// name both lines, with at least nine tenths of the time that was waited and of the bytes that were allocated.
func TestRecordedSites(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Contended")
	waits, allocates := lineOf(t, "Contended", "// the line that waits"), lineOf(t, "Contended",
		"// the line that allocates")
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel() // the program itself counts what is compared
			dir := filepath.Join(t.TempDir(), "capture")
			file := filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, []string{"profile", "--events", "default,lock,alloc,sleep,compile", "-o", dir, "--format", "json",
				"--report", file, "--",
				j.Java(), "-cp", classPath, "Contended", "1500"})
			require.Equal(t, 0, r.code, r.stderr)
			require.Regexp(t, `^READY\nbytes \d+ locks \d+\n$`, r.stdout, "nothing else is on the program's stdout")
			said, _, _ := strings.Cut(strings.TrimPrefix(r.stdout, "READY\nbytes "), " ")
			bytes, err := strconv.ParseFloat(said, 64)
			require.NoError(t, err)
			rep := readReport(t, readFile(t, file))
			p := &rep.Profiles[0]

			require.NotEmpty(t, p.Locks, rep.Capture.Notes)
			var waited, all float64
			for _, l := range p.Locks {
				all += l.TotalMS
				t.Logf("%d waits, %.1f ms, at %+v, of %s", l.Count, l.TotalMS, l.At, l.Class)
				if l.At != nil && l.At.Method == "Contended::locked" && l.At.Line == waits && l.Class == "java.lang.Object" {
					waited += l.TotalMS
					assert.Equal(t, "worker-", l.Owner)
				}
			}
			assert.GreaterOrEqual(t, waited, 0.9*all)
			assert.Greater(t, p.Locks[0].Count, 10)

			require.NotEmpty(t, p.Allocations)
			var here, total int64
			for _, a := range p.Allocations {
				total += a.Bytes
				if a.At != nil && a.At.Method == "Contended::allocate" && a.At.Line == allocates && a.Class == "byte[]" {
					here += a.Bytes
				}
			}
			assert.GreaterOrEqual(t, float64(here), 0.9*float64(total))
			t.Logf("%.0f bytes were allocated, %d of them are named; %d lock sites have %.1f ms of %.1f", bytes, here,
				len(p.Locks), waited, all)
			// The first sample of a thread stands for everything that the thread allocated before. What it allocated
			// after its last sample is missing.
			assert.InDelta(t, bytes, float64(here), 0.2*bytes)

			compiled, _ := eventsOfKind(p, "compile")
			slept, millis := eventsOfKind(p, "sleep")
			assert.Positive(t, compiled)
			assert.Greater(t, slept, 100, "a sleep of 1 ms after each 400 allocations")
			assert.GreaterOrEqual(t, millis, 0.95*float64(slept), "each sleep is 1 ms or more; the clocks may differ a little")
			checkRecordedFormats(t, dir)
		})
	}
}

// checkRecordedFormats checks the text report, the lists of events and the HTML page of a capture with a recording.
func checkRecordedFormats(t *testing.T, dir string) {
	t.Helper()
	text := runGasm(t, []string{"report", "--skip-asm", dir})
	require.Equal(t, 0, text.code, text.stderr)
	heading :=
		regexp.MustCompile(`\[(?:Locks|Allocations)( \(without the first [0-9.]+ s\))?\]`).FindAllStringSubmatch(text.stdout,
			-1)
	require.Len(t, heading, 2)
	late :=
		regexp.MustCompile(`Flight Recorder began ([0-9.]+) s after the start of JVM`).FindStringSubmatch(strings.Join(strings.Fields(text.stdout), " "))
	for _, h := range heading {
		want := ""
		if late != nil {
			want = " (without the first " + late[1] + " s)"
		}
		assert.Equal(t, want, h[1])
	}
	assert.Regexp(t, `\[Locks[^\]]*\]\.+\n +waited +ms +longest +count *\n +[0-9.]+%.* Contended::locked:\d+ +java.lang.Object, held by worker-\n`, text.stdout)
	assert.Regexp(t, `\[Allocations[^\]]*\]\.+\n +bytes +MB +events *\n +[0-9.]+% .* Contended::allocate:\d+ +byte\[\]\n`,
		text.stdout)
	checkTrace(t, dir)
	jsonl := runGasm(t, []string{"events", "--format", "jsonl", dir})
	require.Equal(t, 0, jsonl.code, jsonl.stderr)
	framed := 0
	for line := range strings.Lines(jsonl.stdout) {
		var e struct {
			Kind   string
			TID    int
			Frames []struct{ Method string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Kind == "lock" && len(e.Frames) > 0 && e.Frames[0].Method == "Contended::locked" {
			assert.Positive(t, e.TID)
			framed++
		}
		assert.NotEqual(t, "thread", e.Kind, "starts are recorded for the samples of allocations, and nobody asked for them")
	}
	assert.Positive(t, framed)
	page := filepath.Join(t.TempDir(), "page.html")
	require.Equal(t, 0, runGasm(t, []string{"report", "--format", "html", "--report", page, dir}).code)
	html := string(readFile(t, page))
	for _, want := range []string{"<title>waiting for locks</title>", "<title>compilations</title>",
		"Contended::allocate:"} {
		assert.Contains(t, html, want)
	}
}

// ownEvents returns, for each acme.Request in a list, the difference between its time and the System.nanoTime that
// the program has stored in it.
func ownEvents(t *testing.T, jsonl string) (off []int64) {
	t.Helper()
	for line := range strings.Lines(jsonl) {
		var e struct {
			MonoNanos int64 `json:"mono_nanos"`
			Name      string
			Args      struct{ NanoTime string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Name == "acme.Request" {
			at, err := strconv.ParseInt(e.Args.NanoTime, 10, 64)
			require.NoError(t, err)
			off = append(off, e.MonoNanos-at)
		}
	}
	slices.Sort(off)
	return off
}

// TestWindowOfRequests checks windows that are the requests of a server. They must contain the handler's code, and
// nothing of the background thread. The events must be on the samples' clock.
func TestWindowOfRequests(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Requests")
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, []string{"profile", "--window-event", "jfr:acme.Request", "--frequency", "2001", "-o", dir,
				"--format", "json", "--report", file, "--",
				j.Java(), "-cp", classPath, "Requests", "2500"})
			require.Equal(t, 0, r.code, r.stderr)
			assert.Equal(t, "READY\nDONE 2500\n", r.stdout)
			rep := readReport(t, readFile(t, file))
			checkRequests(t, &rep.Profiles[0], 2500)
			// The rest of the run must contain the background thread, and both parts together must be the whole run.
			whole := readReport(t, []byte(runGasm(t, []string{"report", "--format", "json", dir}).stdout))
			others := readReport(t, []byte(runGasm(t, []string{"report", "--window-event", "!jfr:acme.Request", "--format",
				"json", dir}).stdout))
			profiled := func(r *schema.Report) int64 { return r.Profiles[0].Account.Values[0].Profiled }
			assert.Equal(t, profiled(&whole), profiled(&others)+profiled(&rep))
			assert.Contains(t, threadNames(&others.Profiles[0]), "background")

			off := ownEvents(t, runGasm(t, []string{"events", "--format", "jsonl", dir}).stdout)
			require.Len(t, off, 2500)
			median := off[len(off)/2]
			t.Logf("median %d ns, 10%% %d, 90%% %d", median, off[len(off)/10], off[len(off)*9/10])
			assert.LessOrEqual(t, off[len(off)*9/10]-off[len(off)/10], int64(2000),
				"the JVM reads the clock for the event after the program")
			// All times in a chunk have the same error: the time between the two moments at which the JVM reads its
			// two clocks for the chunk's header. (With JDK 11, it is the time between a safepoint and the log's line
			// about it.) Usually that is 1 µs, but it was 33 µs when the JVM lost its CPU in between.
			assert.InDelta(t, 0, median, 100_000)
			wrong := runGasm(t, []string{"report", "--window-event", "jfr:acme.None", dir})
			assert.Equal(t, 1, wrong.code)
			assert.Contains(t, wrong.stderr,
				"--window-event jfr:acme.None: the capture has no event of this name; it has acme.Request")
		})
	}
}

func threadNames(p *schema.Profile) (names []string) {
	for _, k := range p.Threads {
		for _, thread := range k.Threads {
			names = append(names, thread.Name)
		}
	}
	return names
}

// checkRequests checks a profile of the requests only.
func checkRequests(t *testing.T, p *schema.Profile, requests int) {
	t.Helper()
	assert.Equal(t, []string{"handler"}, threadNames(p))
	var handling, compiled int64
	for _, r := range p.Regions {
		if !strings.HasPrefix(r.Source, "c") {
			continue
		}
		compiled += r.Counts.Values[0]
		if strings.HasPrefix(r.Method, "Requests::") || strings.HasPrefix(r.Method, "java.lang.Integer::") ||
			strings.HasPrefix(r.Method, "java.lang.String::") {
			handling += r.Counts.Values[0]
		}
		assert.NotContains(t, r.Method, "background")
	}
	all := p.Account.Values[0].Profiled
	t.Logf("%d of %d samples of compiled code are the handler's, of %d in all", handling, compiled, all)
	assert.Greater(t, all, int64(50))
	assert.GreaterOrEqual(t, float64(handling), 0.95*float64(compiled))
	for _, f := range p.Frames {
		assert.NotContains(t, []string{"Requests::background", "java.lang.Math::cbrt"}, f.Method)
	}
	counted := 0
	for _, e := range p.Events {
		if e.Name == "acme.Request" {
			counted = e.Count
			assert.Equal(t, all, e.Samples.Values[0], "all samples are in requests")
		}
	}
	assert.Equal(t, requests, counted)
}

// TestOwnRecording checks that the user can add a recording to a capture that has none, and that a JVM that accepts
// no commands leads to a note.
func TestOwnRecording(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := programs11(t, "Requests")
	jdk := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return withRecorder(j) && j.Feature == 17 })[0]
	dir, own := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "own.jfr")
	r := runGasm(t, []string{"profile", "--events", "default,lock", "--frequency", "2001", "--skip-asm", "-o", dir, "--",
		jdk.Java(), "-XX:StartFlightRecording=settings=profile,filename=" + own, "-XX:+DisableAttachMechanism", "-cp",
		classPath, "Requests", "2000"})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, oneLine(r.stdout),
		"it takes no commands: it was started with -XX:+DisableAttachMechanism: start it without this flag")
	without := runGasm(t, []string{"report", "--window-event", "jfr:acme.Request", dir})
	assert.Equal(t, 1, without.code)
	assert.Contains(t, without.stderr, "and --jfr FILE reads another recording")
	with := runGasm(t, []string{"report", "--window-event", "jfr:acme.Request", "--jfr", own, "--format", "json", dir})
	require.Equal(t, 0, with.code, with.stderr)
	rep := readReport(t, []byte(with.stdout))
	checkRequests(t, &rep.Profiles[0], 2000)
	listed := runGasm(t, []string{"events", "--format", "jsonl", "--jfr", own, dir})
	require.Equal(t, 0, listed.code, listed.stderr)
	off := ownEvents(t, listed.stdout)
	require.Len(t, off, 2000)
	assert.InDelta(t, 0, off[1000], 2000)
	pauses := map[string]int{}
	for line := range strings.Lines(listed.stdout) {
		var e struct{ Kind, Name string }
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		pauses[e.Kind]++
	}
	assert.Positive(t, pauses["gc"], "as the log has them, and not twice")
	p := &readReport(t, []byte(runGasm(t, []string{"report", "--format", "json", dir}).stdout)).Profiles[0]
	count, _ := eventsOfKind(p, "gc")
	assert.Equal(t, count, pauses["gc"])
	for _, wrong := range []string{filepath.Join(dir, "samples.txt"), filepath.Join(dir, "none.jfr")} {
		r := runGasm(t, []string{"report", "--jfr", wrong, dir})
		assert.Equal(t, 1, r.code)
		assert.Regexp(t, `^gasm: --jfr: .*\n$`, r.stderr, "one line")
	}
}
