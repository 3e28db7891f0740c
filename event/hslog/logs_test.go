package hslog

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// A total is the number and the duration of all events of a kind.
type total struct {
	count int
	nanos float64
}

// slowly adds up the events of a log with regular expressions.
func slowly(t *testing.T, text string) map[event.Kind]total {
	t.Helper()
	totals := map[event.Kind]total{}
	for _, rule := range []struct {
		kind  event.Kind
		line  string
		scale float64
	}{
		{event.GC, `\[gc(?:,phases)? *\] GC\(\d+\) (?:[yYO]: )?Pause .* ([0-9.]+)ms$`, 1e6},
		{event.Safepoint, `Safepoint ".*, Total: +(\d+) ns`, 1},
		{event.Safepoint, `threads were stopped: ([0-9.]+) seconds`, 1e9},
		{event.VMOperation, `end VM_Operation ()`, 0},
		{event.Compilation, `jit,compilation\] +\d+ [ %sb!n]{5} [0-4] .*::.* bytes\)()$`, 0},
		{event.Compilation, `jit,compilation\] +\d+ [ %sb!n]{5} [0-4] .*::.* \(native\)()`, 0},
	} {
		for _, m := range regexp.MustCompile("(?m)"+rule.line).FindAllStringSubmatch(text, -1) {
			n, _ := strconv.ParseFloat(m[1], 64) // 0 if the line has no time
			sum := totals[rule.kind]
			totals[rule.kind] = total{sum.count + 1, sum.nanos + n*rule.scale}
		}
	}
	safepoints := totals[event.Safepoint]
	safepoints.nanos += beforeTimers(text)
	totals[event.Safepoint] = safepoints
	return totals
}

// beforeTimers returns the time that JDK 11's safepoints had lasted before HotSpot began to measure them. Each begins
// with the line Application time, except the first one, which has no such line.
func beforeTimers(text string) (nanos float64) {
	for _, m := range regexp.MustCompile(`\[(\d+)ns\].* Application time: (?s:.*?)\[(\d+)ns\][^\n]* threads were stopped: ([0-9.]+)`).FindAllStringSubmatch(text, -1) {
		begin, _ := strconv.ParseFloat(m[1], 64)
		end, _ := strconv.ParseFloat(m[2], 64)
		measured, _ := strconv.ParseFloat(m[3], 64)
		nanos += end - begin - measured*1e9
	}
	return nanos
}

// TestRealLogs reads the logs of each JDK and collector. The number and the durations of the events must be those in
// the log's lines, and no line may be bad. Each pause must be inside a safepoint, except those of ZGC, because the
// log does not have the starts of ZGC's phases.
func TestRealLogs(t *testing.T) {
	for _, path := range testLogs(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".log")
		in, err := os.ReadFile(path)
		require.NoError(t, err)
		totals := map[event.Kind]total{}
		var events []event.Event
		r := NewReader(strings.NewReader(string(in)), name, 7)
		for r.Scan() {
			e, ok := r.Record().(*event.Event)
			require.True(t, ok, "%v", r.Record())
			sum := totals[e.Kind]
			totals[e.Kind] = total{sum.count + 1, sum.nanos + float64(e.Nanos)}
			events = append(events, *e)
		}
		require.NoError(t, r.Err())
		want := slowly(t, string(in))
		for _, kind := range []event.Kind{event.GC, event.Safepoint, event.VMOperation, event.Compilation} {
			assert.Equal(t, want[kind].count, totals[kind].count, "%s: %s", name, kind)
			assert.Positive(t, totals[kind].count, "%s: %s", name, kind)
			if kind == event.GC || kind == event.Safepoint {
				assert.InDelta(t, want[kind].nanos, totals[kind].nanos, 1, "%s: %s", name, kind)
			}
		}
		if strings.Contains(name, "Z") {
			assert.Positive(t, totals[event.Concurrent].count, "%s: concurrent work", name)
		}
		for i := range events {
			if e := &events[i]; e.Kind == event.GC && !strings.Contains(name, "Z") {
				assert.True(t, inSafepoint(e, events), "%s: %+v", name, e)
			}
		}
	}
}

// inSafepoint reports whether a pause is inside a safepoint, after the time to safepoint. HotSpot reads its clock for
// the two at moments some µs apart, and prints the duration of a pause in µs.
func inSafepoint(pause *event.Event, events []event.Event) bool {
	const slack = 20_000
	for i := range events {
		e := &events[i]
		if e.Kind == event.Safepoint && e.MonoNanos+e.WaitNanos <= pause.MonoNanos &&
			pause.EndMonoNanos() <= e.EndMonoNanos()+slack {
			return true
		}
	}
	return false
}

// BenchmarkReader reads a log of G1 in which every second line is an event.
func BenchmarkReader(b *testing.B) {
	in, err := os.ReadFile("testdata/jdk25-G1.log")
	require.NoError(b, err)
	text := strings.Repeat(string(in), 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		r := NewReader(strings.NewReader(text), "log", 7)
		for r.Scan() {
			events++
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
