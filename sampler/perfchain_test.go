package sampler

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// readChains reads a text with chains. It returns the samples and their chains as lines, and the faults of other lines.
func readChains(t testing.TB, text string) (samples, faults []string) {
	t.Helper()
	r := NewChainReader(strings.NewReader(text), "in")
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *Sample:
			samples = append(samples, fmt.Sprintf("%x %s %s", rec.PC, rec.Symbol, rec.Module)+chainText(rec.Chain))
		case *SyntaxError:
			faults = append(faults, rec.Error())
		}
	}
	require.NoError(t, r.Err())
	return samples, faults
}

func chainText(c *Chain) string {
	if c == nil {
		return ""
	}
	text := ""
	for _, f := range c.Calls {
		text += fmt.Sprintf("; %x %s %s", f.PC, f.Symbol, f.Module)
		if f.Inlined {
			text += " inlined"
		}
	}
	if c.Cut {
		text += "; cut"
	}
	return text
}

func TestChains(t *testing.T) {
	const head = "java 7/8 1.5: cycles: \n"
	for _, c := range []struct{ what, text, want, fault string }{
		{"kernel and user", head + "\tffffffff821f2fa7 exc_page_fault+0xd7 ([kernel.kallsyms])\n\t e2bc f: g(int) (/lib/a.so)\n\t80000102 [unknown] ([unknown])\n\n",
			"ffffffff821f2fa7 exc_page_fault kernel; e2bc f: g(int) a.so; 80000102  ", ""},
		{"without an empty line", head + "\t1 f (/a)\n\t2 g (/a)\n" + head + "\t3 h (/a)\n", "1 f a; 2 g a", ""},
		{"offsets", head + "\t1 f+0x12 (/a)\n\t2 g(int)+0x0 (/a)\n", "1 f a; 2 g(int) a", ""},
		{"addresses alone", head + "\t    7f877c93872f\n\t    10 \n\tffffffff821f2fa7\n",
			"7f877c93872f  ; 10  ; ffffffff821f2fa7  kernel", ""},
		{"without modules", head + "\t1 f+0x1\n\t2 operator new(unsigned long)\n\t3 [unknown]\n",
			"1 f ; 2 operator new(unsigned long) ; 3  ", ""},
		{"inlined callers", head + "\t1 f (/a)\n\t2 std::max<int> (inlined)\n\t2 g(int) const (inlined)\n\t2 h+0x1 (/b (c))\n",
			"1 f a; 2 std::max<int> b (c) inlined; 2 g(int) const b (c) inlined; 2 h b (c)", ""},
		{"inlined at the sample", head + "\t1 std::max<int> (inlined)\n\t1 f+0x1 (/a)\n\t2 g (/a)\n", "1 f a; 2 g a", ""},
		{"inlined alone", head + "\t1 f (/a)\n\t2 g (inlined)\n", "1 f a; 2 g  inlined", ""},
		{"no callers", head + "\t1 f (/a)\n\n", "1 f a", ""},
		{"Windows line ends", head + "\t1 f (/a)\r\n\t2 g (/a)\r\n\r\n", "1 f a; 2 g a", ""},
		{"damage", head + "\t1 f (/a)\n\t2 g (/a)\n\tWarning:\n\t3 h (/a)\n", "1 f a; 2 g a; cut",
			"in:4: no address in a stack"},
		{"damage at the sample", head + "\tnonsense\n\t3 h (/a)\n", "0  ; cut", "in:2: no address in a stack"},
		{"an address that is too long", head + "\t1 f (/a)\n\t12345678901234567 g (/a)\n", "1 f a; cut",
			"in:3: no address in a stack"},
		{"cut while perf wrote it", head + "\t1 f (/a)\n\t2 g (/a)\n\t3 h (/a.s", "1 f a; 2 g a; cut",
			"in:4: the line is cut"},
		{"a line without a stack", "java 7/8 1.5: cycles: 1 f (/a)\n", "1 f a", ""},
	} {
		samples, faults := readChains(t, c.text)
		require.NotEmpty(t, samples, c.what)
		assert.Equal(t, c.want, samples[0], c.what)
		assert.Equal(t, c.fault, strings.Join(faults, ", "), c.what)
		for _, r := range readPerf(t, c.text) {
			s, ok := r.(Sample)
			assert.True(t, ok && s.Chain == nil, "%s: %+v", c.what, r) // without chains, the lines of a stack say nothing
		}
	}
}

// TestChainsAreBounded checks that a chain has at most MaxCalls.
func TestChainsAreBounded(t *testing.T) {
	for _, calls := range []int{MaxCalls - 1, MaxCalls, MaxCalls + 1, 40 * MaxCalls} {
		text := "java 7/8 1.5: cycles: \n\t1 f (/a)\n" +
			strings.Repeat("\t2 a_function_with_a_longer_name (/usr/lib/x86_64-linux-gnu/a.so)\n", calls)
		r := NewChainReader(strings.NewReader(text), "in")
		require.True(t, r.Scan())
		c := r.Record().(*Sample).Chain
		assert.Len(t, c.Calls, min(calls, MaxCalls))
		assert.Equal(t, calls > MaxCalls, c.Cut)
	}
}

// TestRecordedChains reads what perf has recorded of two JVMs.
func TestRecordedChains(t *testing.T) {
	for _, c := range []struct {
		name                                 string
		samples, calls, whole, wholeFromJava int
	}{
		{"chains-fp.txt", 20, 361, 18, 14},
		{"chains-nofp.txt", 30, 90, 4, 0},
		{"chains-default.txt", 5, 73, 5, 4},
		{"chains-symoff.txt", 6, 17, 1, 0},
	} {
		text, err := os.ReadFile("testdata/" + c.name)
		require.NoError(t, err)
		got := c
		got.samples, got.calls, got.whole, got.wholeFromJava = 0, 0, 0, 0
		r := NewChainReader(bytes.NewReader(text), c.name)
		for r.Scan() {
			s, ok := r.Record().(*Sample)
			require.True(t, ok, "%+v", r.Record())
			got.samples++
			got.calls += len(s.Chain.Calls)
			for _, call := range s.Chain.Calls {
				if call.Symbol == "start_thread" {
					got.whole++
					if s.Module == "" {
						got.wholeFromJava++
					}
				}
			}
		}
		require.NoError(t, r.Err())
		assert.Equal(t, c, got)
	}
}

func TestChainReaderAllocates(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	text, err := os.ReadFile("testdata/chains-fp.txt")
	require.NoError(t, err)
	checkAllocations(t, len(text), func(times int) {
		r := NewChainReader(bytes.NewReader(bytes.Repeat(text, times)), "in")
		for r.Scan() {
			if _, ok := r.Record().(*Sample); !ok {
				t.Fatalf("%+v", r.Record())
			}
		}
	})
}

func BenchmarkChainReader(b *testing.B) {
	text, err := os.ReadFile("testdata/chains-fp.txt")
	require.NoError(b, err)
	text = bytes.Repeat(text, 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	calls := 0
	for b.Loop() {
		r := NewChainReader(bytes.NewReader(text), "in")
		for r.Scan() {
			calls += len(r.Record().(*Sample).Chain.Calls)
		}
	}
	b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
}

func FuzzChainReader(f *testing.F) {
	for _, name := range []string{"chains-fp.txt", "chains-nofp.txt", "chains-default.txt", "stacks.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(text[:min(len(text), 4000)])
	}
	f.Add([]byte("a 1/1 1.5: e: \n\t1 f (inlined)\n\t1 g+0x1 (/a)\n\t2 h (inlined)\n\t\n\t3\n\tx\n\t4 i (/a)"))
	f.Fuzz(func(t *testing.T, in []byte) {
		plain, lines := NewReader(bytes.NewReader(in), "fuzz"), bytes.Count(in, []byte("\n"))+1
		calls := 0
		for r := NewChainReader(bytes.NewReader(in), "fuzz"); r.Scan(); {
			s, ok := r.Record().(*Sample)
			if !ok {
				continue
			}
			checkSample(t, s)
			if s.Chain != nil {
				calls += len(s.Chain.Calls)
				require.LessOrEqual(t, len(s.Chain.Calls), MaxCalls)
			}
			for same := false; !same; { // the samples are those of a reader without chains
				require.True(t, plain.Scan())
				var other *Sample
				if other, same = plain.Record().(*Sample); same {
					kept := *s
					kept.Chain = nil
					require.Equal(t, *other, kept)
				}
			}
		}
		require.Less(t, calls, lines)
	})
}
