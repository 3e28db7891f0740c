package sampler

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/callstack"
)

// TestPerfText checks that the lines are the same as those of perf script. The expected lines are from perf 6.1,
// except for cases that perf does not print.
func TestPerfText(t *testing.T) {
	text := NewPerfText([]string{"cpu-clock"})
	check := func(want string, s Sample, path string) {
		t.Helper()
		text.lines = text.lines[:0]
		text.Sample(&s, 0, path)
		assert.Equal(t, want+"\n", string(text.lines))
	}
	check("              ls  8339/8339  12687.253111445: cpu-clock:      7f991f20d52e _nl_load_locale (/usr/lib/x86_64-linux-gnu/libc.so.6)",
		Sample{Thread: "ls", PID: 8339, TID: 8339, MonoNanos: 12687253111445, PC: 0x7f991f20d52e, Symbol: "_nl_load_locale"},
		"/usr/lib/x86_64-linux-gnu/libc.so.6")
	check("              ls  8339/8339  12687.542484274: cpu-clock:  ffffffff813a2413 finish_task_switch.isra.0 ([kernel.kallsyms])",
		Sample{Thread: "ls", PID: 8339, TID: 8339, MonoNanos: 12687542484274, PC: 0xffffffff813a2413,
			Symbol: "finish_task_switch.isra.0"}, "[kernel.kallsyms]")
	check("              ls  8340/8340  12688.559869698: cpu-clock:      56426392dd2a [unknown] (/usr/bin/ls)",
		Sample{Thread: "ls", PID: 8340, TID: 8340, MonoNanos: 12688559869698, PC: 0x56426392dd2a}, "/usr/bin/ls")
	check(" C2 CompilerThre 24997/25003  1884.000000007: cpu-clock:              1234 [unknown] ([unknown])",
		Sample{Thread: "C2 CompilerThre", PID: 24997, TID: 25003, MonoNanos: 1884000000007, PC: 0x1234}, "")
	check("                    -1/-1        0.000000001: cpu-clock:                 0 [unknown] (//anon)",
		Sample{PID: -1, TID: -1, MonoNanos: 1}, "//anon")
	// a name can't end a line
	check("             a?b 1234567/1234567 12687.253111445: cpu-clock:                 1 f\x1b() (/tmp/a?b)",
		Sample{Thread: "a\nb", PID: 1234567, TID: 1234567, MonoNanos: 12687253111445, PC: 1, Symbol: "f\x1b()"}, "/tmp/a\nb")

	// perf prints no stack ID
	check("              ls  8340/8340  12688.559869698: cpu-clock:      56426392dd2a [unknown] (/usr/bin/ls) #17",
		Sample{Thread: "ls", PID: 8340, TID: 8340, MonoNanos: 12688559869698, PC: 0x56426392dd2a, Stack: 17}, "/usr/bin/ls")

	two := NewPerfText([]string{"cpu-clock:u", "page-faults"})
	two.Sample(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 0, "")
	two.Sample(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 1, "")
	two.Lost(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 43, false)
	two.Lost(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 44, true)
	const head = "               x     1/2         0.000000003: "
	assert.Equal(t, head+"cpu-clock:u:                 0 [unknown] ([unknown])\n"+head+"page-faults:                 0 [unknown] ([unknown])\n"+
		head+"PERF_RECORD_LOST lost 43\n"+head+"PERF_RECORD_LOST_SAMPLES lost 44\n", string(two.lines))
	var lost int64
	for _, record := range readPerf(t, string(two.lines)) {
		if l, ok := record.(Lost); ok {
			lost += l.Count
		}
	}
	assert.EqualValues(t, 44, lost, "the second account has the first in it")
}

// FuzzPerfText checks that every sample is read as it was written, whatever the names contain.
func FuzzPerfText(f *testing.F) {
	f.Add("C2 CompilerThre", 24997, 25003, int64(1884742374599), uint64(0x7fae1e0f127a), "f(void (*)(int)) const",
		"/tmp/a (deleted)/libjvm.so", uint32(17))
	f.Add("a 1/2 3.4: b", 1, 2, int64(0), uint64(0), "", "", uint32(0))
	f.Add(" ", -1, -1, int64(1), ^uint64(0), "[unknown]", "[vdso]", ^uint32(0))
	f.Add("java", 1, 2, int64(1), uint64(1), "f (/a) #2", "/tmp/a (x) #3", uint32(1))
	f.Add("java", 1, 2, int64(1), uint64(1), "f", "/tmp/a (x) #3", uint32(0))
	f.Fuzz(func(t *testing.T, thread string, pid, tid int, nanos int64, pc uint64, symbol, path string, stack uint32) {
		s := Sample{Thread: thread, PID: int(int32(pid)), TID: int(int32(tid)), MonoNanos: nanos & (1<<62 - 1), PC: pc,
			Symbol: symbol, Stack: callstack.ID(stack)}
		text := NewPerfText([]string{"cpu-clock"})
		text.Sample(&s, 0, path)
		if n := strings.Count(string(text.lines), "\n"); n != 1 {
			t.Fatalf("%d lines: %q", n, text.lines)
		}
		records := readPerf(t, string(text.lines))
		if len(records) == 1 {
			if got, ok := records[0].(Sample); ok && got.Stack != s.Stack {
				t.Fatalf("stack %d, not %d: %q", got.Stack, s.Stack, text.lines)
			}
		}
		without := NewPerfText([]string{"cpu-clock"})
		bare := s
		bare.Stack = 0
		without.Sample(&bare, 0, path)
		dropped := NewPerfText([]string{"cpu-clock"})
		dropped.lines = slices.Clone(text.lines)
		if dropped.DropStacks(); !bytes.Equal(without.lines, dropped.lines) {
			t.Fatalf("%q without its stack is %q", text.lines, dropped.lines)
		}
		if len(records) != 1 || strings.ContainsAny(thread+symbol+path, "()/0123456789") || s.PID == -1<<31 ||
			s.TID == -1<<31 {
			return // a name that looks like another field is read as that field, also with perf's own text
		}
		got, ok := records[0].(Sample)
		if !ok || got.PID != s.PID || got.TID != s.TID || got.MonoNanos != s.MonoNanos || got.PC != pc ||
			got.Event != "cpu-clock" {
			t.Fatalf("%+v of %q", records[0], text.lines)
		}
	})
}

// TestPerfStackID checks that the ID of a stack is read from the end of a line, and from nowhere else.
func TestPerfStackID(t *testing.T) {
	check := func(want callstack.ID, module, end string) {
		t.Helper()
		records := readPerf(t, "1/1 1.5: cycles:      10 f(int) "+end)
		s, ok := records[0].(Sample)
		if assert.True(t, ok && len(records) == 1, "%q: %+v", end, records) {
			assert.Equal(t, Sample{MonoNanos: 1500_000_000, PID: 1, TID: 1, PC: 0x10, Event: "cycles", Symbol: "f(int)",
				Module: module, Stack: want}, s)
		}
	}
	check(0, "libc.so.6", "(/b/libc.so.6)\n")
	check(17, "libc.so.6", "(/b/libc.so.6) #17\n")
	check(17, "libc.so.6", "(/b/libc.so.6) #17 \r\n")
	check(1<<32-1, "libc.so.6", "(/b/libc.so.6) #4294967295\n")
	check(0, "a (x) #3", "(/tmp/a (x) #3)\n")
	check(17, "a (x) #3", "(/tmp/a (x) #3) #17\n")
	check(0, "a) #3 (x", "(/tmp/a) #3 (x)\n")
	check(0, "libc.so.6", "(/b/libc.so.6) #1") // the line is cut off, because gasm was killed: a 7 is missing
	for _, end := range []string{"(/b/libc.so.6) #0\n", "(/b/libc.so.6) #4294967296\n", "(/b/libc.so.6)#1\n",
		"(/b/libc.so.6) #\n", "(/b/libc.so.6) 1\n", "#1\n", "(/b/libc.so.6) #1 #1\n"} {
		records := readPerf(t, "1/1 1.5: cycles:      10 f "+end)
		assert.Equal(t, []any{SyntaxError{File: "in", Line: 1, Msg: "no module in parentheses at the end"}}, records, end)
	}
}

func TestDropStacks(t *testing.T) {
	text := NewPerfText([]string{"cpu-clock"})
	want := NewPerfText([]string{"cpu-clock"})
	for i := range 100 {
		s := Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: int64(i), Stack: callstack.ID(i % 7 * i)}
		text.Sample(&s, 0, "/tmp/a (x) #3")
		text.Lost(&s, int64(i), false)
		s.Stack = 0
		want.Sample(&s, 0, "/tmp/a (x) #3")
		want.Lost(&s, int64(i), false)
	}
	text.DropStacks()
	assert.Equal(t, string(want.Bytes()), string(text.Bytes()))
	text.Reset()
	text.DropStacks()
	assert.Zero(t, text.Len())
}

// BenchmarkPerfText writes lines. Nothing is allocated for a line.
func BenchmarkPerfText(b *testing.B) {
	text := NewPerfText([]string{"cpu-clock"})
	s := Sample{Thread: "C2 CompilerThre", PID: 24997, TID: 25003, MonoNanos: 1884742374599, PC: 0x7fae1e0f127a,
		Symbol: "PhaseCFG::schedule_late"}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		text.lines = text.lines[:0]
		text.Sample(&s, 0, "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so")
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
