package sampler

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const dtraceCapture = "../testdata/captures/jdk17-lean-none-dtrace/samples.txt.gz"

// readText reads a text, which may be packed.
func readText(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, err = io.ReadAll(unpacked)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// The same counts as those of another way to read a text: words, one after the
// other.
func TestDTraceCaptures(t *testing.T) {
	check := func(path string, samples, kernel int, lost int64, userOnly bool) {
		t.Helper()
		text := readText(t, path)
		type key struct {
			pid    int
			module string
		}
		got, want := make(map[key]int), make(map[key]int)
		var gotTime, wantTime, gotLost int64
		n, k := 0, 0
		r := NewDTraceReader(bytes.NewReader(text), path)
		for r.Scan() {
			switch rec := r.Record().(type) {
			case *Sample:
				n++
				if rec.Kernel() {
					k++
				}
				got[key{rec.PID, rec.Module}]++
				gotTime += rec.MonoNanos % 1e9
				checkDTraceSample(t, rec)
			case *Lost:
				gotLost += rec.Count
			case *SyntaxError:
				t.Error(rec)
			}
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if len(words) < 6 || !strings.HasPrefix(words[2], ":profile-") {
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
			}
			want[key{pid, module}]++
			wantTime += nanos % 1e9
		}
		if !maps.Equal(got, want) || gotTime != wantTime {
			t.Errorf("%s: got %v\nwant %v\nand times of %d and %d", path, got, want, gotTime, wantTime)
		}
		if r.Err() != nil || n != samples || k != kernel || gotLost != lost || r.UserOnly() != userOnly {
			t.Errorf("%s: got %d samples, %d of the kernel, %d lost, user only %t, error %v", path, n, k, gotLost, r.UserOnly(), r.Err())
		}
	}
	check(dtraceCapture, 6144, 0, 0, true)
	check("testdata/dtrace.txt", 148, 77, 0, false)
	check("testdata/dtrace-macos.txt", 13, 0, 12, true)
}

func TestNewReader(t *testing.T) {
	paths, err := filepath.Glob("../testdata/captures/*/samples.txt.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) == 0 {
		t.Fatal(texts, err)
	}
	for _, path := range append(paths, texts...) {
		r := NewReader(bytes.NewReader(readText(t, path)), path)
		if _, dtrace := r.(*DTraceReader); dtrace != strings.Contains(path, "dtrace") {
			t.Errorf("%s: got a %T", path, r)
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
			t.Errorf("%s: %d samples, error %v", path, n, r.Err())
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
	for _, path := range []string{dtraceCapture, "testdata/dtrace.txt", "testdata/dtrace-macos.txt"} {
		text := readText(t, path)
		checkAllocations(t, len(text), func(times int) { countDTrace(t, bytes.Repeat(text, times)) })
	}
}

// checkAllocations fails where a text costs more allocations the longer it is,
// behind the point where all of a reader's chunks are at work.
func checkAllocations(t *testing.T, size int, read func(times int)) {
	t.Helper()
	times := 20*chunkSize/size + 1
	some := testing.AllocsPerRun(3, func() { read(times) })
	more := testing.AllocsPerRun(3, func() { read(5 * times) })
	// A chunk's lists grow where a later text is longer.
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
	text := bytes.Repeat(readText(b, dtraceCapture), 10)
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
		// A line of the probe is a record, whatever is wrong with it.
		if r.Err() != nil || records > lines || records < profiles || samples > profiles {
			t.Errorf("got %d records and %d samples of %d lines with %d of the probe, error %v", records, samples, lines, profiles, r.Err())
		}
	})
}

func checkDTraceSample(t *testing.T, s *Sample) {
	t.Helper()
	if !strings.HasPrefix(s.Event, "profile-") || s.MonoNanos < 0 || s.TID != NoPID || s.PID < -1<<31 ||
		s.PC >= kernelStart && !s.Kernel() || strings.Contains(s.Module, "`") && !s.Kernel() {
		t.Errorf("%+v", *s)
	}
}
