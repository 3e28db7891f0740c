package usdt

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// needBPF skips a test if the kernel does not let this process record probes.
func needBPF(t testing.TB) {
	t.Helper()
	if _, err := Allowed(t.Context(), ""); err != nil {
		t.Skipf("USDT probes can't be recorded here: %v", err)
	}
}

// A probedJVM is a run of testdata/programs/Probed.java.
type probedJVM struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startProbed(t testing.TB, java, classes string, allocations int, options ...string) *probedJVM {
	t.Helper()
	j := &probedJVM{cmd: exec.Command(java, append(options, "-cp", classes, "Probed", strconv.Itoa(allocations))...)}
	var err error
	j.in, err = j.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := j.cmd.StdoutPipe()
	require.NoError(t, err)
	j.cmd.Stderr = os.Stderr
	require.NoError(t, j.cmd.Start())
	j.lines = bufio.NewScanner(out)
	t.Cleanup(func() { j.cmd.Process.Kill() }) // if the test fails
	j.await(t, "READY")
	return j
}

func (j *probedJVM) await(t testing.TB, line string) {
	t.Helper()
	for j.lines.Scan() {
		if j.lines.Text() == line {
			return
		}
	}
	t.Fatalf("the program did not print %s", line)
}

// goOn sends the program a line, so that it continues.
func (j *probedJVM) goOn(t testing.TB) {
	t.Helper()
	_, err := io.WriteString(j.in, "\n")
	require.NoError(t, err)
}

// recordUntil calls goOn, and records what the program does until it prints the given line.
func (j *probedJVM) recordUntil(t testing.TB, line string, patterns ...string) (text []byte, r Result) {
	t.Helper()
	var out bytes.Buffer
	recorder, err := Start(t.Context(), j.cmd.Process.Pid, Options{Patterns: patterns, Text: &out})
	require.NoError(t, err)
	j.goOn(t)
	j.await(t, line)
	r = recorder.Stop()
	require.NoError(t, r.Err)
	assert.Positive(t, r.Events)
	return out.Bytes(), r
}

// end makes the program end.
func (j *probedJVM) end(t testing.TB) {
	t.Helper()
	j.goOn(t)
	require.NoError(t, j.cmd.Wait())
}

func eventsIn(t testing.TB, text []byte) (events []event.Event, lost int64) {
	t.Helper()
	r := usdt.NewReader(bytes.NewReader(text), "usdt.log", 7)
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *event.Event:
			events = append(events, *rec)
		case *usdt.Lost:
			lost += rec.Events
		default:
			t.Fatalf("%#v\n%s", rec, bytes.Split(text, []byte("\n"))[r.Lines()-1])
		}
	}
	require.NoError(t, r.Err())
	event.Sort(events)
	return events, lost
}

func ofKind(events []event.Event, kind event.Kind) []event.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return e.Kind != kind })
}

// TestProbesAgainstLogAndRecording checks that in one run the probes report the same safepoints as
// HotSpot's log, and the same waiting for locks and the same compilations as Flight Recorder, at the
// same times; and as many sleeps, parks, collections, allocations and threads as the program makes.
func TestProbesAgainstLogAndRecording(t *testing.T) {
	gasmtest.NeedTime(t)
	needBPF(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Probed.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, compared) {
		t.Run(jdk.Name(), func(t *testing.T) {
			dir := t.TempDir()
			log, recording, settings := filepath.Join(dir, "ev.log"), filepath.Join(dir, "ev.jfr"), filepath.Join(dir,
				"gasm.jfc")
			options := []string{"-XX:+DTraceAllocProbes", "-XX:+DTraceMonitorProbes", "-XX:+UseSerialGC", "-Xmx64m", "-Xmn2m",
				hslog.Flag([]event.Kind{event.Safepoint}, log)}
			if hasRecorder(jdk) {
				text, err := jfr.Settings(jdk.Feature, []event.Kind{event.Lock, event.Compilation, event.Safepoint})
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(settings, []byte(text), 0o644))
				options = append(options, "-XX:StartFlightRecording=settings="+settings+",filename="+recording)
			}
			clock := capture.ReadClock()
			j := startProbed(t, jdk.Java(), classes, 200, options...)
			time.Sleep(300 * time.Millisecond) // Flight Recorder of JDK 11 still starts for some ms while main runs
			text, result := j.recordUntil(t, "DONE",
				Patterns([]event.Kind{event.GC, event.Safepoint, event.Compilation, event.Lock, event.Park, event.Sleep,
					event.Thread})...)
			events, lost := eventsIn(t, text)
			assert.Zero(t, lost)
			t.Logf("%d events of probes, %d bytes of text", result.Events, len(text))
			checkCounts(t, events)
			safepoints, locks, compilations := ofKind(events, event.Safepoint), ofKind(events,
				event.Lock), ended(ofKind(events, event.Compilation))
			text, result = j.recordUntil(t, "ALLOCATED", Patterns([]event.Kind{event.Alloc})...)
			events, lost = eventsIn(t, text)
			assert.Equal(t, result.Lost, lost)
			checkAllocations(t, jdk.Feature, events, lost)
			j.end(t)

			compare(t, "safepoints of the log", readLog(t, log), safepoints, loggedWithin(jdk.Feature))
			if hasRecorder(jdk) {
				recorded := readRecording(t, recording, clock.WallNanos, clock.MonoNanos, readLog(t, log))
				require.NotEmpty(t, locks)
				late := compare(t, "locks of the recording", ofKind(recorded, event.Lock), locks, recordedWithin(jdk.Feature))
				earliest := compare(t, "compilations of the recording", earlier(ofKind(recorded, event.Compilation), late.clock),
					compilations, compilerReady).least
				assert.Positive(t, earliest, "HotSpot reaches the probe before what its compiler works with is ready")
			}
		})
	}
}

// compared reports whether the test runs with a JDK. It runs only with releases that have long-term support, because
// each takes some seconds.
func compared(j gasmtest.JDK) bool { return slices.Contains([]int{11, 17, 21, 25}, j.Feature) }

// hasRecorder reports whether a JDK is complete enough to have JFR.
func hasRecorder(j gasmtest.JDK) bool {
	out, _ := exec.Command(j.Java(), "--list-modules").Output()
	return bytes.Contains(out, []byte("jdk.jfr"))
}

// checkCounts compares the events with what the program does.
func checkCounts(t *testing.T, events []event.Event) {
	t.Helper()
	sleeps := slices.DeleteFunc(ofKind(events, event.Sleep), func(e event.Event) bool { return e.Nanos < 1_000_000 })
	assert.GreaterOrEqual(t, len(sleeps), 30)
	parks := slices.DeleteFunc(ofKind(events, event.Park),
		func(e event.Event) bool { return e.Name != "park" || e.Nanos < 100_000 })
	assert.GreaterOrEqual(t, len(parks), 30)
	assert.GreaterOrEqual(t, len(ofKind(events, event.GC)), 100)
	threads := named(ofKind(events, event.Thread), "other one")
	assert.Len(t, threads, 2, "its start and its end")
	t.Logf("%d sleeps, %d parks", len(sleeps), len(parks))
}

// checkAllocations compares the events with the 200 000 arrays that the program allocates.
func checkAllocations(t *testing.T, feature int, events []event.Event, lost int64) {
	t.Helper()
	var count, bytes, placed int64
	for _, e := range ofKind(events, event.Alloc) {
		if e.Name != "int[]" {
			continue
		}
		count += usdt.Count(&e)
		bytes += e.Bytes
		if e.PC != 0 {
			placed += usdt.Count(&e)
		}
	}
	assert.GreaterOrEqual(t, count+lost, int64(200_000),
		"what is lost is counted: the race detector slows the reader down")
	assert.Greater(t, placed, count*9/10)
	if feature > 17 { // C2's code of older releases does not pass the size
		assert.InDelta(t, 24*count, bytes, 100, "an int[2] has 24 bytes")
	} else {
		assert.Zero(t, bytes)
	}
	t.Logf("%d int[] allocated, %d of them by a known instruction", count, placed)
}

func named(events []event.Event, start string) []event.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return !strings.HasPrefix(e.Name, start) })
}

// ended leaves out events that had not ended when the recording ended.
func ended(events []event.Event) []event.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return e.Nanos == 0 })
}

// earlier returns copies of the events whose times are reduced by the given number of nanoseconds.
func earlier(events []event.Event, nanos int64) []event.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].MonoNanos -= nanos
	}
	return events
}

// A lateness says how much later the events of the other source are than those of the probes, in nanoseconds: the
// smallest difference of their begins, and by how much its clock is late. That is taken from the latest begins and the
// earliest ends: of a lock, Flight Recorder reads the clock before the probe of the begin, and after that of the end.
type lateness struct{ least, clock int64 }

// compare compares the times of the same events from two sources. Two events are the same if they belong to the same
// thread and begin or end at nearly the same time. A probe fires within an instruction of what it reports, and the
// other sources read the clock near that instruction, but a thread may lose its processor between the two.
func compare(t *testing.T, what string, others, probes []event.Event, near shares) lateness {
	t.Helper()
	require.NotEmpty(t, probes, what)
	within, sameTime := cmp.Or(near.within, nearby), cmp.Or(near.same, sameTime)
	var begins, ends []int64
	var alone []event.Event
	left := slices.Clone(others)
	first, last := probes[0].MonoNanos, int64(0)
	for _, p := range probes {
		last = max(last, p.EndMonoNanos())
		nearest := -1
		for i, o := range left {
			if o.TID == p.TID && (nearest < 0 || apart(&o, &p) < apart(&left[nearest], &p)) {
				nearest = i
			}
		}
		if nearest < 0 || apart(&left[nearest], &p) > sameTime {
			alone = append(alone, p)
			continue
		}
		begins = append(begins, left[nearest].MonoNanos-p.MonoNanos)
		ends = append(ends, left[nearest].EndMonoNanos()-p.EndMonoNanos())
		left = slices.Delete(left, nearest, nearest+1)
	}
	// Events that were not over when the recording began or ended may lack their other half.
	left = slices.DeleteFunc(left, func(e event.Event) bool {
		return e.MonoNanos < first+sameTime ||
			e.EndMonoNanos() > last-sameTime
	})
	assert.Empty(t, alone, "%s: they have none of these", what)
	assert.Empty(t, left, "%s: the probes have none of these", what)
	require.NotEmpty(t, begins, what)
	slices.Sort(begins)
	slices.Sort(ends)
	middle := len(begins) / 2
	t.Logf("%s: %d, medians of the differences: begin %d ns, end %d ns; from %d to %d", what, len(begins), begins[middle],
		ends[middle], begins[0], begins[len(begins)-1])
	if near.twentieth {
		for _, all := range [][]int64{begins, ends} {
			far := slices.DeleteFunc(slices.Clone(all), func(d int64) bool { return -within <= d && d <= within })
			assert.LessOrEqual(t, len(far), len(all)*19/20, "%s: not within %d ns", what, within)
		}
	} else {
		share := func(all []int64, of float64) int64 { return all[int(of*float64(len(all)))] }
		assert.InDelta(t, 0, share(begins, near.begins), float64(within), what)
		assert.InDelta(t, 0, share(ends, near.ends), float64(cmp.Or(near.endsWithin, within)), what)
	}
	return lateness{least: begins[0], clock: (begins[len(begins)*19/20] + ends[len(ends)/20]) / 2}
}

// nearby is how far apart the times of two sources may be, in nanoseconds.
const nearby = 10_000

// shares say which of the differences between the times of two sources must be near, that is, at most nearby: 0.5
// means the smaller half.
type shares struct {
	begins, ends float64
	within, same int64 // used instead of nearby and sameTime, in nanoseconds, unless 0
	endsWithin   int64 // used instead of within for the ends
	twentieth    bool  // only a twentieth of the differences must be near, on either side of 0
}

// If HotSpot does something between the probe and the other source's reading of the clock, only the nearest tenth
// must be near, because on a busy machine threads also lose their processor in between.
var (
	medians = shares{begins: 0.5, ends: 0.5}
	// compilerReady is for the compilations in a recording. There, a compilation begins when HotSpot has made the
	// ciEnv with which the compiler works. On an idle machine that is 5 to 8 µs after the probe, and later on a
	// slower one. An error of the recording's clock does not matter here: the times of compilations are first reduced
	// by the lateness of the recording's locks, and the locks themselves must be near. In a recording of JDK 11,
	// whose clock is known from the lines of the log, locks are 5 µs late.
	compilerReady = shares{begins: 0.1, ends: 0.5, within: 2 * nearby}
	// written is for the log of JDK 13 and newer. The time in a line is right, but the line is written before the
	// probe of the end is reached. Writing takes 4 µs on an idle machine, and 10 to 30 µs on one that writes slowly.
	// The begins must be near to show that both sources use the same clock.
	written = shares{begins: 0.5, ends: 0.9, endsWithin: 5 * nearby}
	// old is for JDK 11 and 12, where the time in a line of the log is the time of writing: 2 to 9 µs after the
	// probe, depending on the machine. The clock of a recording is known from these lines.
	old = shares{begins: 0.5, ends: 0.5, within: 3 * nearby}
)

// recordedWithin returns the shares for the locks of a recording. Between the probe and Flight Recorder's reading of
// the clock, the JVM works for 2 to 50 µs, depending on the machine, and threads lose their processor. Since the
// recording's begins are early and its ends are late, a clock that is wrong in either direction moves the begins or the
// ends away, and hardly any of those would be near.
func recordedWithin(feature int) shares {
	near := shares{twentieth: true}
	if feature < 13 {
		near.within = old.within
	}
	return near
}

func loggedWithin(feature int) shares {
	if feature >= 13 {
		return written
	}
	return old
}

// sameTime is how far apart the starts or ends of an event from two sources may be, in nanoseconds.
const sameTime = 200_000

func apart(a, b *event.Event) int64 {
	begin, end := a.MonoNanos-b.MonoNanos, a.EndMonoNanos()-b.EndMonoNanos()
	return min(max(begin, -begin), max(end, -end))
}

func readLog(t *testing.T, path string) (events []event.Event) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := hslog.NewReader(f, path, 7)
	for r.Scan() {
		if e, ok := r.Record().(*event.Event); ok && e.Kind == event.Safepoint {
			events = append(events, *e)
		}
	}
	require.NoError(t, r.Err())
	event.Sort(events)
	return events
}

// readRecording reads a recording. It needs the log's safepoints for the times of JDK 11.
func readRecording(t *testing.T, path string, wall, mono int64, safepoints []event.Event) (events []event.Event) {
	t.Helper()
	var ends []int64
	for i := range safepoints {
		ends = append(ends, safepoints[i].EndMonoNanos())
	}
	slices.Sort(ends)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	open := func() *jfr.Reader { return jfr.NewReader(bytes.NewReader(data), int64(len(data)), path) }
	anchor, exact, ok := jfr.FindAnchor(open(), wall, mono, func() []int64 { return ends })
	require.True(t, ok && exact)
	r := open()
	all := jfr.NewEvents(r, 7, func(*jfr.Chunk) jfr.Anchor { return anchor })
	for all.Scan() {
		events = append(events, *all.Event())
	}
	require.NoError(t, r.Err())
	event.Sort(events)
	return events
}

// TestNothingIsLeft checks that a recording leaves nothing in the kernel: tracefs shows nothing of it while it lasts,
// and its BPF program is gone after gasm was killed.
func TestNothingIsLeft(t *testing.T) {
	gasmtest.NeedTime(t)
	needBPF(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Probed.java"))
	if pid := os.Getenv("GASM_RECORD_PID"); pid != "" { // this test in a process of its own
		n, err := strconv.Atoi(pid)
		require.NoError(t, err)
		_, err = Start(t.Context(), n, Options{Patterns: []string{"hotspot:*"}, Text: io.Discard})
		require.NoError(t, err)
		fmt.Println("RECORDING")
		time.Sleep(time.Minute)
		return
	}
	j := startProbed(t, gasmtest.NeedJava(t), classes, 1)
	before := probesInTracefs(t)
	programs := programsInKernel(t)
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestNothingIsLeft$")
	cmd.Env = append(os.Environ(), "GASM_RECORD_PID="+strconv.Itoa(j.cmd.Process.Pid))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "RECORDING" {
	}
	require.Equal(t, "RECORDING", lines.Text())
	assert.Equal(t, before, probesInTracefs(t))
	assert.Greater(t, programsInKernel(t), programs)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // the error says that it was killed
	assert.Equal(t, before, probesInTracefs(t))
	assert.Eventually(t, func() bool { return programsInKernel(t) <= programs }, time.Minute, 20*time.Millisecond)
	j.goOn(t)
	j.await(t, "DONE")
	j.goOn(t)
	j.await(t, "ALLOCATED")
	j.end(t)
}

// probesInTracefs returns the kernel's list of uprobes; "" if there is no such list.
func probesInTracefs(t *testing.T) string {
	t.Helper()
	text, _ := os.ReadFile("/sys/kernel/tracing/uprobe_events") // tracefs may not be mounted
	return string(text)
}

// TestStartRefused: Start returns an error for JVMs that have ended, and for those that gasm may not record.
func TestStartRefused(t *testing.T) {
	_, err := Start(t.Context(), os.Getpid(), Options{Patterns: []string{"hotspot:*"}, Text: io.Discard})
	assert.ErrorContains(t, err, "has no libjvm.so mapped")
	_, err = Start(t.Context(), 1<<30, Options{Patterns: []string{"hotspot:*"}, Text: io.Discard})
	assert.ErrorIs(t, err, os.ErrNotExist)
}
