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

// A total is what the events of a kind add up to.
type total struct {
	count int
	nanos float64
}

// slowly adds up the events of a log by regular expressions.
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
			n, _ := strconv.ParseFloat(m[1], 64) // "" of what has no time
			sum := totals[rule.kind]
			totals[rule.kind] = total{sum.count + 1, sum.nanos + n*rule.scale}
		}
	}
	safepoints := totals[event.Safepoint]
	safepoints.nanos += beforeTimers(text)
	totals[event.Safepoint] = safepoints
	return totals
}

// beforeTimers adds up what JDK 11's safepoints lasted before HotSpot began to measure them: each begins with the line Application
// time, but for the first one, which has none.
func beforeTimers(text string) (nanos float64) {
	for _, m := range regexp.MustCompile(`\[(\d+)ns\].* Application time: (?s:.*?)\[(\d+)ns\][^\n]* threads were stopped: ([0-9.]+)`).FindAllStringSubmatch(text, -1) {
		begin, _ := strconv.ParseFloat(m[1], 64)
		end, _ := strconv.ParseFloat(m[2], 64)
		measured, _ := strconv.ParseFloat(m[3], 64)
		nanos += end - begin - measured*1e9
	}
	return nanos
}

// Of each JDK and collector, events are as many and as long as their lines say, and none is
// a bad line. A pause is inside a safepoint, but for ZGC's, whose phases have no starts.
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

// inSafepoint tells whether a pause is in a safepoint, behind the time until it is reached.
// HotSpot reads its clock some µs apart for both, and writes a pause's time in µs.
func inSafepoint(pause *event.Event, events []event.Event) bool {
	const slack = 20_000
	for i := range events {
		e := &events[i]
		if e.Kind == event.Safepoint && e.MonoNanos+e.WaitNanos <= pause.MonoNanos && pause.EndMonoNanos() <= e.EndMonoNanos()+slack {
			return true
		}
	}
	return false
}

// BenchmarkReader reads a log of G1's in which half of the lines are events.
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
