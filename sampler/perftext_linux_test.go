package sampler

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The lines are those of perf script: these are perf 6.1's own, but for the tests of what
// perf does not do.
func TestPerfText(t *testing.T) {
	text := newPerfText([]string{"cpu-clock"})
	check := func(want string, s Sample, path string) {
		t.Helper()
		text.lines = text.lines[:0]
		text.sample(&s, 0, path)
		assert.Equal(t, want+"\n", string(text.lines))
	}
	check("              ls  8339/8339  12687.253111445: cpu-clock:      7f991f20d52e _nl_load_locale (/usr/lib/x86_64-linux-gnu/libc.so.6)",
		Sample{Thread: "ls", PID: 8339, TID: 8339, MonoNanos: 12687253111445, PC: 0x7f991f20d52e, Symbol: "_nl_load_locale"}, "/usr/lib/x86_64-linux-gnu/libc.so.6")
	check("              ls  8339/8339  12687.542484274: cpu-clock:  ffffffff813a2413 finish_task_switch.isra.0 ([kernel.kallsyms])",
		Sample{Thread: "ls", PID: 8339, TID: 8339, MonoNanos: 12687542484274, PC: 0xffffffff813a2413, Symbol: "finish_task_switch.isra.0"}, kernelItself)
	check("              ls  8340/8340  12688.559869698: cpu-clock:      56426392dd2a [unknown] (/usr/bin/ls)",
		Sample{Thread: "ls", PID: 8340, TID: 8340, MonoNanos: 12688559869698, PC: 0x56426392dd2a}, "/usr/bin/ls")
	check(" C2 CompilerThre 24997/25003  1884.000000007: cpu-clock:              1234 [unknown] ([unknown])",
		Sample{Thread: "C2 CompilerThre", PID: 24997, TID: 25003, MonoNanos: 1884000000007, PC: 0x1234}, "")
	check("                    -1/-1        0.000000001: cpu-clock:                 0 [unknown] (//anon)",
		Sample{PID: -1, TID: -1, MonoNanos: 1}, "//anon")
	check("             a?b 1234567/1234567 12687.253111445: cpu-clock:                 1 f\x1b() (/tmp/a?b)", // no name ends a line
		Sample{Thread: "a\nb", PID: 1234567, TID: 1234567, MonoNanos: 12687253111445, PC: 1, Symbol: "f\x1b()"}, "/tmp/a\nb")

	two := newPerfText([]string{"cpu-clock:u", "page-faults"})
	two.sample(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 0, "")
	two.sample(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 1, "")
	two.lost(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 43, false)
	two.lost(&Sample{Thread: "x", PID: 1, TID: 2, MonoNanos: 3}, 44, true)
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

// Every sample is read as it was written, whatever the names.
func FuzzPerfText(f *testing.F) {
	f.Add("C2 CompilerThre", 24997, 25003, int64(1884742374599), uint64(0x7fae1e0f127a), "f(void (*)(int)) const", "/tmp/a (deleted)/libjvm.so")
	f.Add("a 1/2 3.4: b", 1, 2, int64(0), uint64(0), "", "")
	f.Add(" ", -1, -1, int64(1), ^uint64(0), "[unknown]", "[vdso]")
	f.Fuzz(func(t *testing.T, thread string, pid, tid int, nanos int64, pc uint64, symbol, path string) {
		s := Sample{Thread: thread, PID: int(int32(pid)), TID: int(int32(tid)), MonoNanos: nanos & (1<<62 - 1), PC: pc, Symbol: symbol}
		text := newPerfText([]string{"cpu-clock"})
		text.sample(&s, 0, path)
		if n := strings.Count(string(text.lines), "\n"); n != 1 {
			t.Fatalf("%d lines: %q", n, text.lines)
		}
		records := readPerf(t, string(text.lines))
		if len(records) != 1 || strings.ContainsAny(thread+symbol+path, "()/0123456789") || s.PID == -1<<31 || s.TID == -1<<31 {
			return // a name that looks like something else is read as that, as with perf
		}
		got, ok := records[0].(Sample)
		if !ok || got.PID != s.PID || got.TID != s.TID || got.MonoNanos != s.MonoNanos || got.PC != pc || got.Event != "cpu-clock" {
			t.Fatalf("%+v of %q", records[0], text.lines)
		}
	})
}

func TestKallsyms(t *testing.T) {
	parse := func(text string) *kernelSymbols { return newKernelSymbols(strings.NewReader(text)) }
	k := parse("ffffffff81000000 T _stext\n" +
		"ffffffff81000000 T start\n" +
		"ffffffff81000000 T __start\n" +
		"ffffffff81001000 D some_data\n" +
		"ffffffff81002000 t f.isra.0\n" +
		"ffffffffc0300000 t later\t[ext4]\n" +
		"ffffffffc0200000 t nft_do_chain\t[nf_tables]\n" +
		"0000000000000000 T hidden\n" +
		"nonsense\n" +
		"ffffffffc0400000 W last\t[bpf]")
	check := func(pc uint64, symbol, module string) {
		t.Helper()
		for range 2 {
			assert.Equal(t, kernelName{symbol, module}, k.at(pc), "%#x", pc)
		}
	}
	check(0xffffffff80ffffff, "", kernelItself)
	check(0xffffffff81000000, "start", kernelItself)
	check(0xffffffff81001fff, "start", kernelItself)
	check(0xffffffff81002000, "f.isra.0", kernelItself)
	check(0xffffffffc0200000, "nft_do_chain", "[nf_tables]")
	check(0xffffffffc0300001, "later", "[ext4]")
	check(^uint64(0), "last", "[bpf]")
	for _, text := range []string{"", "0000000000000000 T hidden\n", "ffffffff81000000", "\n\n"} {
		k := parse(text)
		assert.Equal(t, kernelName{"", kernelItself}, k.at(1<<63))
		assert.Empty(t, k.symbols)
	}
}

// No more is read than what is needed, and the names are those that the whole text gives.
func TestKallsymsInPart(t *testing.T) {
	text, err := os.ReadFile("/proc/kallsyms")
	require.NoError(t, err)
	whole := newKernelSymbols(bytes.NewReader(text))
	whole.at(^uint64(0))
	if len(whole.symbols) == 0 {
		t.Skip("the kernel shows no addresses to this user: run as root")
	}
	text = append(text, "ffffffffff400000 t b\t[made]\nffffffffff300000 t a\t[made]\n"...)
	whole = newKernelSymbols(bytes.NewReader(text))
	whole.at(^uint64(0))
	require.Nil(t, whole.unread)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		part := newKernelSymbols(bytes.NewReader(text))
		most := uint64(0)
		for range 5 {
			s := whole.symbols[random.IntN(len(whole.symbols)*9/10)] // the first of them
			most = max(most, s.start)
			for _, pc := range []uint64{s.start - 1, s.start, s.start + 1} {
				assert.Equal(t, whole.at(pc), part.at(pc), "%#x", pc)
			}
		}
		require.NotNil(t, part.unread)
		last := part.symbols[len(part.symbols)-1].start
		below := part.symbols[len(part.symbols)-2].start
		assert.True(t, below <= most+1 && most+1 < last, "read until %#x for %#x", last, most)
	}
	assert.Equal(t, kernelName{"a", "[made]"}, newKernelSymbols(bytes.NewReader(text)).at(0xffffffffff300000))
}

func FuzzKallsyms(f *testing.F) {
	f.Add([]byte("ffffffff81000000 T _stext\nffffffffc0200000 t nft_do_chain\t[nf_tables]\n"), uint64(0xffffffffc0200001))
	f.Fuzz(func(t *testing.T, text []byte, pc uint64) {
		k := newKernelSymbols(bytes.NewReader(text))
		first := k.at(pc)
		for _, s := range slices.Clone(k.symbols) {
			if k.at(s.start).module == "" {
				t.Errorf("no module at %#x", s.start)
			}
		}
		if ordered := k.ordered; k.at(pc) != first && ordered {
			t.Errorf("%#x has other names: %v, %v", pc, first, k.at(pc))
		}
	})
}

// BenchmarkKallsyms reads this machine's table, as the first kernel sample makes gasm do.
func BenchmarkKallsyms(b *testing.B) {
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		b.Skip(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		newKernelSymbols(bytes.NewReader(text)).at(^uint64(0))
	}
}

// BenchmarkPerfText writes lines; nothing is allocated for a line.
func BenchmarkPerfText(b *testing.B) {
	text := newPerfText([]string{"cpu-clock"})
	s := Sample{Thread: "C2 CompilerThre", PID: 24997, TID: 25003, MonoNanos: 1884742374599, PC: 0x7fae1e0f127a, Symbol: "PhaseCFG::schedule_late"}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		text.lines = text.lines[:0]
		text.sample(&s, 0, "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so")
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
