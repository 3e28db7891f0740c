package sampler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// readPerf reads the text and returns copies of its records.
func readPerf(t testing.TB, text string) []any {
	t.Helper()
	var records []any
	r := NewPerfReader(strings.NewReader(text), "in")
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *Sample:
			records = append(records, *rec)
		case *Lost:
			records = append(records, *rec)
		case *SyntaxError:
			records = append(records, *rec)
		default:
			t.Fatalf("a record is a %T", rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

func TestPerfSample(t *testing.T) {
	check := func(line string, want Sample) {
		t.Helper()
		got := readPerf(t, line)
		if len(got) != 1 || got[0] != any(want) {
			t.Errorf("%q:\n got %+v\nwant %+v", line, got, want)
		}
	}
	const ms = 1_000_000

	check("24997/24997  1884.749632617: cpu-clock:      7fae1ee6fd10 _dl_new_object (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)",
		Sample{MonoNanos: 1884749632617, PID: 24997, TID: 24997, PC: 0x7fae1ee6fd10, Event: "cpu-clock",
			Symbol: "_dl_new_object", Module: "ld-linux-x86-64.so.2"})
	check(" 3291/3300    393.403: cycles:  ffffffff821d95d6 __rb_insert ([kernel.kallsyms])",
		Sample{MonoNanos: 393403 * ms, PID: 3291, TID: 3300, PC: 0xffffffff821d95d6, Event: "cycles", Symbol: "__rb_insert",
			Module: "kernel"})
	check("    0/0    393.403963: cycles:  ffffffff821d95d6 intel_idle ([kernel.kallsyms])",
		Sample{MonoNanos: 393403963_000, PC: 0xffffffff821d95d6, Event: "cycles", Symbol: "intel_idle", Module: "kernel"})
	check("   -1/-1    0.000001: cycles: 0 [unknown] ([unknown])",
		Sample{MonoNanos: 1000, PID: -1, TID: -1, Event: "cycles"})
	check("7/8   \t2.5: cycles: 10 f+0x1f (/b/libc.so.6)\r",
		Sample{MonoNanos: 2500 * ms, PID: 7, TID: 8, PC: 0x10, Event: "cycles", Symbol: "f", Module: "libc.so.6"})
	check("java 24997/24998  1884.749632617: cpu-clock:      10 f (/b/libc.so.6)",
		Sample{MonoNanos: 1884749632617, Thread: "java", PID: 24997, TID: 24998, PC: 0x10, Event: "cpu-clock", Symbol: "f",
			Module: "libc.so.6"})
	check("  C2 CompilerThre 24997/25003     1.500000000: cpu_core/cycles/P:      10 f (/b/libc.so.6)",
		Sample{MonoNanos: 1500 * ms, Thread: "C2 CompilerThre", PID: 24997, TID: 25003, PC: 0x10, Event: "cycles",
			Symbol: "f", Module: "libc.so.6"})
	check("a 1/2 b: 3/4  -1/-1     1.5: cycles:      10 f (/b/libc.so.6)",
		Sample{MonoNanos: 1500 * ms, Thread: "a 1/2 b: 3/4", PID: -1, TID: -1, PC: 0x10, Event: "cycles", Symbol: "f",
			Module: "libc.so.6"})
	check("            java   17155/17159    7094.068883658: cpu-clock:      10 f (/b/libc.so.6)", // perf 6.12
		Sample{MonoNanos: 7094068883658, Thread: "java", PID: 17155, TID: 17159, PC: 0x10, Event: "cpu-clock", Symbol: "f",
			Module: "libc.so.6"})
	// JMH's text has no pid, others have no time. Without the field sym there is no symbol.
	check("  1884.749632617:  cpu-clock:u:      7fae1ee6fd10 [unknown] (/tmp/perf-24997.map)",
		Sample{MonoNanos: 1884749632617, PID: NoPID, TID: NoPID, PC: 0x7fae1ee6fd10, Event: "cpu-clock"})
	check("19937/19938 cpu-clock:u:      7f14ad699005 (/usr/bin/dash)",
		Sample{MonoNanos: -1, PID: 19937, TID: 19938, PC: 0x7f14ad699005, Event: "cpu-clock", Module: "dash"})
	check("cpu_core/cycles/Pu:      7f14ad699005 main (/usr/bin/dash)",
		Sample{MonoNanos: -1, PID: NoPID, TID: NoPID, PC: 0x7f14ad699005, Event: "cycles", Symbol: "main", Module: "dash"})
	check("1/1 9000000000.000000000: cycles: 1 f (/x)",
		Sample{MonoNanos: 9000000000_000000000, PID: 1, TID: 1, PC: 1, Event: "cycles", Symbol: "f", Module: "x"})
}

// TestPerfDefaultFields: what perf script prints when nobody asks for fields.
func TestPerfDefaultFields(t *testing.T) {
	want := Sample{MonoNanos: 1214651532000, Thread: "C2 CompilerThre", PID: NoPID, TID: 5363, PC: 0x7f877c93872f,
		Event: "cpu-clock"}
	for _, line := range []string{
		"C2 CompilerThre  5363  1214.651532:    2004008 cpu-clock:      7f877c93872f [unknown] (/tmp/perf-5360.map)",
		"C2 CompilerThre  5363 [001]  1214.651532:    2004008 cpu-clock:      7f877c93872f [unknown] (/tmp/perf-5360.map)",
		"C2 CompilerThre  5363 [001]  1214.651532:    2004008 cpu-clock: \n\t    7f877c93872f [unknown] (/tmp/perf-5360.map)\n\t 10 f (/lib/a.so)\n\n",
	} {
		assert.Equal(t, []any{want}, readPerf(t, line), line)
	}
}

// TestPerfStacks: a sample is where its stack begins.
func TestPerfStacks(t *testing.T) {
	const text = `java 7/8 1.5:     999 cycles:P: 
	ffffffff821f2fa7 exc_page_fault+0xd7 ([kernel.kallsyms])
	            e2bc f: g(int) (/lib/a.so)
	        80000102 [unknown] ([unknown])

java 7/9 2.5: cycles: 
	            e2bc f(int)+0x1f (/lib/a.so)
java 7/8 3.5: PERF_RECORD_LOST lost 2
java 7/8 4.5: cycles: 
	nonsense

java 7/8 5.5: cycles: 
java 7/8 6.5: cycles: 10 h (/lib/b.so)
	7/8 7.5: cycles: 11 h (/lib/b.so)
java 7/8 8.5: cycles: 
	12 h (/lib/b.so)`
	const half = 500_000_000
	sample := func(seconds int64, tid int, pc uint64, symbol, module string) Sample {
		return Sample{MonoNanos: seconds*2*half + half, Thread: "java", PID: 7, TID: tid, PC: pc, Event: "cycles",
			Symbol: symbol, Module: module}
	}
	unnamed := sample(7, 8, 0x11, "h", "b.so")
	unnamed.Thread = ""
	want := []any{
		sample(1, 8, 0xffffffff821f2fa7, "exc_page_fault", "kernel"),
		sample(2, 9, 0xe2bc, "f(int)", "a.so"),
		Lost{2},
		sample(4, 8, 0, "", ""), // it is a sample, whatever its stack is
		SyntaxError{File: "in", Line: 12, Msg: "no event"},
		sample(6, 8, 0x10, "h", "b.so"),
		unnamed, // a line that is not in a stack may be indented
		sample(8, 8, 0x12, "h", "b.so"),
	}
	assert.Equal(t, want, readPerf(t, text))
}

// TestPerfLongStacks: stacks are not cut where the reader cuts the text into chunks.
func TestPerfLongStacks(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	var text strings.Builder
	const stacks = 3000
	for i := range stacks {
		fmt.Fprintf(&text, "java 7/8 %d.5: cycles: \n\t%x f (/lib/a.so)\n", i, i)
		for range i % 300 {
			text.WriteString("\t7f00 an_outer_function(with, a, name, of, usual, length) (/usr/lib/x86_64-linux-gnu/a.so)\n")
		}
	}
	require.Greater(t, text.Len(), 20*chunkSize)
	for i, r := range readPerf(t, text.String()) {
		s, ok := r.(Sample)
		require.True(t, ok, "%+v", r)
		require.EqualValues(t, i, s.PC)
		require.Less(t, i, stacks)
	}
	// A stack that is longer than any line may be is read to there.
	var endless strings.Builder
	endless.WriteString("java 7/8 1.5: cycles: \n\t10 f (/lib/a.so)\n")
	for endless.Len() < 3*maxLine {
		endless.WriteString("\t7f00 g (/lib/a.so)\n")
	}
	endless.WriteString("\njava 7/8 2.5: cycles: \n\t11 f (/lib/a.so)\n")
	var pcs []uint64
	for _, r := range readPerf(t, endless.String()) {
		if s, ok := r.(Sample); ok {
			pcs = append(pcs, s.PC)
		}
	}
	assert.Equal(t, []uint64{0x10, 0x11}, pcs)
}

func TestPerfNames(t *testing.T) {
	check := func(text, symbol, module string) {
		t.Helper()
		got := readPerf(t, "1/1 1.5: cycles: 7f00 "+text)
		want := Sample{MonoNanos: 1_500_000_000, PID: 1, TID: 1, PC: 0x7f00, Event: "cycles", Symbol: symbol, Module: module}
		if len(got) != 1 || got[0] != any(want) {
			t.Errorf("%q:\n got %+v\nwant %+v", text, got, want)
		}
	}
	check("std::function<int (int)>::operator()(int) const (/lib/a.so)", "std::function<int (int)>::operator()(int) const",
		"a.so")
	check("f(void (*)(int), int (&) [3]) (/lib/a.so)", "f(void (*)(int), int (&) [3])", "a.so")
	check("(anonymous namespace)::f<main::{lambda(int)#1}> (/tmp/cc (x) [1])",
		"(anonymous namespace)::f<main::{lambda(int)#1}>", "cc (x) [1]")
	check("operator/(W, W) (/tmp/a (deleted))", "operator/(W, W)", "a")
	check("f(int) (/tmp/my dir/a (x) (deleted))", "f(int)", "a (x)")
	check("f (/tmp/a) b)", "f", "a) b")
	check("f(int) (/tmp/a( b)", "f(int)", "a( b")
	check("f (/tmp/a (b)", "f", "a (b")
	check("f(int (*)(int)) (a.so)", "f(int (*)(int))", "a.so")
	check("std::operator+<char> (/lib/a.so)", "std::operator+<char>", "a.so")
	check("a+0xfx (/lib/a.so)", "a+0xfx", "a.so")
	check("a+0x (/lib/a.so)", "a+0x", "a.so")
	check("Lmain;::run (/tmp/perf-77.map)", "Lmain;::run", "")
	check("[unknown] (/tmp/perf-77x.map)", "", "perf-77x.map")
	check("LHot;::sum (/tmp/.debug/jit/jitted-77-12.so)", "LHot;::sum", "")
	check("[unknown] (//anon)", "", "")
	check("[unknown] ([unknown])", "", "")
	check("[unknown] (/memfd:x (deleted))", "", "")
	check("[unknown] (/anon_hugepage (deleted))", "", "")
	check("[unknown] (/SYSV00000000 (deleted))", "", "")
	check("[unknown] (/dev/zero (deleted))", "", "")
	check("[unknown] ([heap])", "", "")
	check("[unknown] ([stack:77])", "", "")
	check("[unknown] ([anon:libc_malloc])", "", "")
	check("__vdso_clock_gettime ([vdso])", "__vdso_clock_gettime", "[vdso]")
	check("nft_do_chain ([nf_tables])", "nft_do_chain", "kernel")
	check("f ([guest.kernel.kallsyms.77])", "f", "kernel")
	check("f ([kernel.kallsyms]_text)", "f", "kernel")
	check("f ([kernel.vmlinux])", "f", "kernel")

	at := func(pc uint64, module, want string) {
		t.Helper()
		if got := parseModule(module).at(pc); got != want {
			t.Errorf("%#x in %s: got %q, want %q", pc, module, got, want)
		}
	}
	at(0xffff_7fff_ffff_ffff, "[unknown]", "")
	at(0xffff_8000_0000_0000, "[unknown]", "kernel")
	at(0xffff_ffff_c020_1000, "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko", "kernel")
	at(0xffff_ffff_c020_1000, "bpf_prog_6deef7357e7b4530_x", "kernel")
	at(0xffff_ffff_ff60_0000, "[vsyscall]", "[vsyscall]")
}

func TestPerfSyntaxErrors(t *testing.T) {
	check := func(line, msg string) {
		t.Helper()
		got := readPerf(t, "# a comment\n\n"+line)
		want := SyntaxError{File: "in", Line: 3, Msg: msg}
		if len(got) != 1 || got[0] != any(want) {
			t.Errorf("%q:\n got %+v\nwant %+v", line, got, want)
		}
	}
	const noEvent, noAddress, noModule = "no event", "no address after the event", "no module in parentheses at the end"
	// The last line is cut.
	check("24997/24997", noEvent)
	check("24997/24997  1884.74", noEvent)
	check("24997/24997  1884.749632617:", noEvent)
	check("24997/24997  1884.749632617: cpu-clo", noEvent)
	check("24997/24997  1884.749632617: cpu-clock:", noEvent)
	check("24997/24997  1884.749632617: cpu-clock:      7fae1", noAddress)
	check("24997/24997  1884.749632617: cpu-clock:      7fae1ee6fd10 _dl_new", noModule)
	check("24997/24997  1884.749632617: cpu-clock:      7fae1ee6fd10 _dl_new_object (/usr/lib", noModule)
	check("24997/24997  1884.749632617: cpu-clock:      7fae1ee6fd10 f(int)", noModule)
	check("1/1  1.5: PERF_RECORD_LOST lost", "no count of lost records")
	check("1/1  1.5: PERF_RECORD_LOST lost 99999999999", "no count of lost records")
	// The line is not one of perf's samples, or a number is too large.
	check("Warning:", noEvent)
	check("Warning: lost 3 chunks", noAddress)
	check("Processed 45460 samples and lost 46.50%!", noEvent)
	check("1/1 1.5: cycles: 10000000000000000 f (/x)", noAddress)
	check("1/1 1.5: cycles: 7f00 f ()", noModule)
	check("1/1 1.5: : 7f00 f (/x)", noEvent)

	err := error(&SyntaxError{File: "samples.txt", Line: 7, Msg: noEvent})
	if got, want := err.Error(), "samples.txt:7: no event"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPerfLost reads texts of newer perfs, which report one loss twice, in either order.
func TestPerfLost(t *testing.T) {
	check := func(text string, want ...any) {
		t.Helper()
		if got := readPerf(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
	const records, samples = "1/1  1.5: PERF_RECORD_LOST lost ", "1/1  1.5: PERF_RECORD_LOST_SAMPLES lost "
	check(records+"43", Lost{43})
	check("   1.5: PERF_RECORD_LOST lost 43", Lost{43})
	check("PERF_RECORD_LOST: lost 43\r\n", Lost{43})
	check(records+"43\n"+records+"2\n", Lost{43}, Lost{2})
	check(samples+"7\n", Lost{7})
	check(records+"43\n"+records+"2\n"+samples+"40\n"+samples+"5", Lost{43}, Lost{2}, Lost{0}, Lost{0})
	check(samples+"50\n"+records+"43\n"+records+"9\n", Lost{50}, Lost{0}, Lost{2})
}

func TestPerfUserOnly(t *testing.T) {
	const userLine, kernelLine = "1/1 1.5: cycles:u: 7f00 f (/x)\n", "1/1 1.5: instructions: 7f00 f (/x)\n"
	check := func(text string, want bool) {
		t.Helper()
		r := NewPerfReader(strings.NewReader(text), "in")
		for r.Scan() {
		}
		if got := r.UserOnly(); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
	check("", false)
	check("nonsense", false)
	check(userLine, true)
	check(userLine+userLine, true)
	check(userLine+kernelLine+userLine, false)
}

func TestPerfLongLine(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	got := readPerf(t, "1/1 1.5: cycles: 7f00 "+long+" (/a)\n1/1 1.5: cycles: 7f01 f (/a)\n")
	if len(got) != 2 || got[0].(Sample).Symbol != long || got[1].(Sample).PC != 0x7f01 {
		t.Errorf("got %d records of a 200 kB line and the one after it", len(got))
	}
}

func TestPerfReadError(t *testing.T) {
	bad := errors.New("disk on fire")
	in := io.MultiReader(strings.NewReader("1/1 1.5: cycles: 7f00 f (/a)\n"), iotest.ErrReader(bad))
	r := NewPerfReader(in, "samples.txt")
	for r.Scan() {
	}
	if err := r.Err(); !errors.Is(err, bad) || err.Error() != "samples.txt:2: disk on fire" {
		t.Errorf("got %v", err)
	}
	if r.Scan() || r.Record() != nil {
		t.Error("goes on after an error")
	}
}

// TestPerfCaptures compares with what grep and awk count in the same files.
func TestPerfCaptures(t *testing.T) {
	type counts struct {
		samples, kernel, anonymous int
		lost                       int64
		userOnly                   bool
	}
	check := func(name string, want counts) {
		t.Helper()
		f, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got counts
		r := NewPerfReader(f, name)
		for r.Scan() {
			switch rec := r.Record().(type) {
			case *Sample:
				got.samples++
				if rec.Kernel() {
					got.kernel++
				}
				if rec.Module == "" {
					got.anonymous++
				}
			case *Lost:
				got.lost += rec.Count
			case *SyntaxError:
				t.Error(rec)
			}
		}
		got.userOnly = r.UserOnly()
		if r.Err() != nil || got != want {
			t.Errorf("%s: got %+v, want %+v, error %v", name, got, want, r.Err())
		}
	}
	check("jdk17.txt", counts{samples: 2570, kernel: 181, anonymous: 1753})
	check("lost.txt", counts{samples: 17, kernel: 7, lost: 21141})
	check("jmh-fields.txt", counts{samples: 145, userOnly: true})
	check("names.txt", counts{samples: 12, anonymous: 6})
	check("stacks.txt", counts{samples: 14, kernel: 1, anonymous: 10})
	check("stacks-hidden.txt", counts{samples: 14, kernel: 1, anonymous: 10})
	check("perf6.12.txt", counts{samples: 20, kernel: 2, anonymous: 2, lost: 203})
	check("perf7.2.txt", counts{samples: 22, kernel: 3, anonymous: 2, lost: 3313})
}

// TestPerfSameStacks: the samples of a text with stacks are those that perf script prints without them. Addresses in
// files differ: in a stack, they are those in the file.
func TestPerfSameStacks(t *testing.T) {
	read := func(name string) []any {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		records := readPerf(t, string(text))
		for i, r := range records {
			if s := r.(Sample); s.Module != "" && s.Module != KernelModule {
				assert.NotZero(t, s.PC)
				s.PC = 0
				records[i] = s
			}
		}
		return records
	}
	assert.Equal(t, read("stacks-hidden.txt"), read("stacks.txt"))
}

func TestPerfReaderAllocates(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	text := capture(t)
	checkAllocations(t, len(text), func(times int) { countSamples(t, bytes.Repeat(text, times)) })
}

func capture(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/jdk17.txt")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func countSamples(tb testing.TB, text []byte) int {
	n := 0
	r := NewPerfReader(bytes.NewReader(text), "capture")
	for r.Scan() {
		if _, ok := r.Record().(*Sample); !ok {
			tb.Fatalf("%+v", r.Record())
		}
		n++
	}
	if r.Err() != nil {
		tb.Fatal(r.Err())
	}
	return n
}

func BenchmarkPerfReader(b *testing.B) {
	text := bytes.Repeat(capture(b), 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n += countSamples(b, text)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}

func FuzzPerfReader(f *testing.F) {
	for _, name := range []string{"lost.txt", "jmh-fields.txt", "names.txt", "stacks.txt", "perf6.12.txt", "perf7.2.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("1/1 1.5: cycles:Pu: 7f00 f(void (*)(int)) (/tmp/a (deleted))\r\n# x\n\n-1/-1 0.1: cpu_core/cycles/u: ffffffffff600000 [unknown] ([vsyscall])"))
	f.Add([]byte("1/1 1.5: cycles:Pu: 7f00 f (/tmp/a (x) #3) #17\n1/1 1.5: cycles:Pu: 7f00 f (/tmp/a (x) #3)\n1/1 1.5: cycles:Pu: 7f00 f (/a) #1"))
	f.Add([]byte("PERF_RECORD_LOST lost 1\nPERF_RECORD_LOST_SAMPLES lost 2\nWarning:\nProcessed 1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		want, ofStacks := 0, 0 // lines that are records, and those of them that are not if they are in a stack
		for line := range bytes.Lines(in) {
			inStack := line[0] == stackLine
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				want++
				if inStack {
					ofStacks++
				}
			}
		}
		got, line := 0, 0
		r := NewPerfReader(bytes.NewReader(in), "fuzz")
		for r.Scan() {
			got++
			switch rec := r.Record().(type) {
			case *Sample:
				checkSample(t, rec)
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
		if r.Err() != nil || got > want || got < want-ofStacks {
			t.Errorf("got %d records of %d lines, of which %d may be in stacks, error %v", got, want, ofStacks, r.Err())
		}
	})
}

func checkSample(t *testing.T, s *Sample) {
	t.Helper()
	switch {
	case s.Event == "", s.MonoNanos < -1, s.Symbol == "[unknown]", strings.Contains(s.Module, "/"),
		s.Module == "[unknown]", s.Kernel() && s.PC == 0 && s.Symbol == "" && s.Module == "",
		s.PC >= KernelStart && !s.Kernel() && !strings.HasPrefix(s.Module, "[") && s.Module != "":
		t.Errorf("%+v", *s)
	}
}
