package sampler

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// dtraceCapture is a committed capture by DTrace.
const dtraceCapture = "jdk17-lean-none-dtrace"

// readText reads a file.
func readText(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// A tally says what a DTrace text contains.
type tally struct {
	byPlace         map[tallyKey]int
	nanos           int64 // sum of the times without their whole seconds
	samples, kernel int
	lost            int64
	userOnly        bool
}

type tallyKey struct {
	pid    int
	module string
}

// tallyRecords counts what a DTraceReader reads.
func tallyRecords(t *testing.T, text []byte) tally {
	t.Helper()
	got := tally{byPlace: make(map[tallyKey]int)}
	r := NewDTraceReader(bytes.NewReader(text), "text")
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *Sample:
			got.samples++
			if rec.Kernel() {
				got.kernel++
			}
			got.byPlace[tallyKey{rec.PID, rec.Module}]++
			got.nanos += rec.MonoNanos % 1e9
			checkDTraceSample(t, rec)
		case *Lost:
			got.lost += rec.Count
		case *SyntaxError:
			t.Error(rec)
		}
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	got.userOnly = r.UserOnly()
	return got
}

// tallyWords counts the same in a simpler way: it splits each line into words.
func tallyWords(t *testing.T, text []byte) tally {
	t.Helper()
	want := tally{byPlace: make(map[tallyKey]int), userOnly: true}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 6 || !strings.HasPrefix(words[2], ":profile-") {
			if len(words) > 1 && words[0] == "dtrace:" && strings.Contains(line, " drop") {
				n, err := strconv.Atoi(words[1])
				if err != nil {
					t.Fatal(err)
				}
				want.lost += int64(n)
			}
			continue
		}
		pid, err := strconv.Atoi(words[3])
		if err != nil {
			t.Fatal(err)
		}
		nanos, err := strconv.ParseInt(words[5], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		module := ""
		if len(words) > 6 && strings.Contains(words[6], "`") {
			module = strings.Split(words[6], "`")[0]
		}
		if strings.HasPrefix(words[4], "0xffffffff") {
			module = KernelModule
			want.kernel++
			want.userOnly = false
		}
		want.samples++
		want.byPlace[tallyKey{pid, module}]++
		want.nanos += nanos % 1e9
	}
	return want
}

func TestDTraceCaptures(t *testing.T) {
	check := func(name string, text []byte, samples, kernel int, lost int64) {
		t.Helper()
		want := tallyWords(t, text)
		assert.Equal(t, want, tallyRecords(t, text), name)
		assert.Equal(t, []any{samples, kernel, lost}, []any{want.samples, want.kernel, want.lost}, name)
	}
	check(dtraceCapture, gasmtest.Capture(t, dtraceCapture, gasmtest.Samples), 6144, 0, 0)
	check("dtrace.txt", readText(t, "testdata/dtrace.txt"), 148, 77, 0)
	check("dtrace-macos.txt", readText(t, "testdata/dtrace-macos.txt"), 13, 0, 12)
}

func TestNewReader(t *testing.T) {
	texts := map[string][]byte{}
	for _, capture := range gasmtest.Captures {
		if capture != "jdk21-arm64-lean-none" { // it has no samples
			texts[capture] = gasmtest.Capture(t, capture, gasmtest.Samples)
		}
	}
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, path := range paths {
		texts[path] = readText(t, path)
	}
	require.Greater(t, len(texts), len(gasmtest.Captures), "captures and files of testdata")
	for name, text := range texts {
		r := NewReader(bytes.NewReader(text), name)
		if _, dtrace := r.(*DTraceReader); dtrace != strings.Contains(name, "dtrace") {
			t.Errorf("%s: got a %T", name, r)
		}
		n := 0
		for r.Scan() {
			switch rec := r.Record().(type) {
			case *Sample:
				n++
			case *SyntaxError:
				t.Error(rec)
			}
		}
		if r.Err() != nil || n == 0 {
			t.Errorf("%s: %d samples, error %v", name, n, r.Err())
		}
	}

	check := func(text string, dtrace bool) {
		t.Helper()
		r := NewReader(strings.NewReader(text), "in")
		if _, ok := r.(*DTraceReader); ok != dtrace {
			t.Errorf("%.60q: got a %T", text, r)
		}
	}
	check("", false)
	check("CPU     ID                    FUNCTION:NAME\n", true)
	check("  1   3977                    :profile-1001 1 0x7f 19\n", true)
	check(strings.Repeat("dtrace: 12 drops on CPU 1\n", 500), true)
	check("# perf's comment\n1/1 1.5: cycles: 7f00 dtrace_probe (/x)\n", false)
}

func TestDTraceReaderAllocates(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	check := func(text []byte) {
		t.Helper()
		checkAllocations(t, len(text), func(times int) { countDTrace(t, bytes.Repeat(text, times)) })
	}
	check(gasmtest.Capture(t, dtraceCapture, gasmtest.Samples))
	check(readText(t, "testdata/dtrace.txt"))
	check(readText(t, "testdata/dtrace-macos.txt"))
}

// checkAllocations fails if reading a longer text needs more allocations than a shorter one. Even the shorter text is
// long enough to use all of a reader's chunks.
func checkAllocations(t *testing.T, size int, read func(times int)) {
	t.Helper()
	times := 20*chunkSize/size + 1
	some := testing.AllocsPerRun(1, func() { read(times) })
	more := testing.AllocsPerRun(1, func() { read(5 * times) })
	// A reader has 9 chunks with two lists each. When a later chunk has more records, its lists may grow two or three
	// times. If there were an allocation for each sample, there would be thousands.
	if limit := some + 50; more > limit {
		t.Errorf("%g allocations for %d times a text, %g for five times that", some, times, more)
	}
}

func countDTrace(tb testing.TB, text []byte) int {
	n := 0
	r := NewDTraceReader(bytes.NewReader(text), "capture")
	for r.Scan() {
		switch r.Record().(type) {
		case *Sample:
			n++
		case *SyntaxError:
			tb.Fatalf("%+v", r.Record())
		}
	}
	if r.Err() != nil {
		tb.Fatal(r.Err())
	}
	return n
}

func BenchmarkDTraceReader(b *testing.B) {
	text := bytes.Repeat(gasmtest.Capture(b, dtraceCapture, gasmtest.Samples), 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n += countDTrace(b, text)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}

func FuzzDTraceReader(f *testing.F) {
	for _, path := range []string{"testdata/dtrace.txt", "testdata/dtrace-macos.txt"} {
		f.Add(readText(f, path))
	}
	f.Add([]byte(":profile-1 1 0xffffffffffffffff 1 a`b`c+0x1\r\n\ndtrace: [DTRACEDROP_PRINCIPAL] 3 drops\n:profile- 1 0x1 9 _Z1fv"))
	f.Add([]byte("x:profile-1 -1 0x1 1 libjvm.so`_ZN11SymbolTable6lookupEPKci\ndtrace: 12 drops on CPU 1\n:BEGIN\n[DTRACEDROP_X] 1 drop"))
	f.Fuzz(func(t *testing.T, in []byte) {
		lines, profiles := 0, 0
		for line := range bytes.Lines(in) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				lines++
			}
			if bytes.Contains(line, []byte(":profile-")) {
				profiles++
			}
		}
		records, samples, line := 0, 0, 0
		r := NewDTraceReader(bytes.NewReader(in), "fuzz")
		for r.Scan() {
			records++
			switch rec := r.Record().(type) {
			case *Sample:
				samples++
				checkDTraceSample(t, rec)
			case *Lost:
				if rec.Count < 0 {
					t.Errorf("%+v", rec)
				}
			case *SyntaxError:
				if rec.Line <= line || rec.Msg == "" || rec.File != "fuzz" {
					t.Errorf("%+v after line %d", rec, line)
				}
				line = rec.Line
			}
		}
		// Each line of the probe must be a record, whatever is wrong with the line.
		if r.Err() != nil || records > lines || records < profiles || samples > profiles {
			t.Errorf("got %d records and %d samples of %d lines with %d of the probe, error %v", records, samples, lines,
				profiles, r.Err())
		}
	})
}

func checkDTraceSample(t *testing.T, s *Sample) {
	t.Helper()
	if !strings.HasPrefix(s.Event, "profile-") || s.MonoNanos < 0 || s.TID != NoPID || s.PID < -1<<31 ||
		s.PC >= KernelStart && !s.Kernel() || strings.Contains(s.Module, "`") && !s.Kernel() {
		t.Errorf("%+v", *s)
	}
}
