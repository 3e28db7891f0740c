package collect

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// TestKallsymsInPart checks that no more is read than needed, and that the names are the same as with
// the whole text.
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
			s := whole.symbols[random.IntN(len(whole.symbols)*9/10)] // one of the first nine tenths
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

// TestKeptSymbols checks that recordings that follow one another share the symbols only as long as somebody keeps them.
func TestKeptSymbols(t *testing.T) {
	first := openKernelSymbols()
	before := first.at(^uint64(0))
	second := openKernelSymbols()
	assert.Same(t, first, second, "at the same time")
	first.release()
	second.release()
	assert.Nil(t, recent.symbols)

	keep := KeepKernelSymbols()
	first = openKernelSymbols()
	assert.NotSame(t, second, first)
	assert.Equal(t, before, first.at(^uint64(0)))
	assert.Less(t, cap(first.text)-len(first.text), 1<<16, "hardly more memory than the text needs")
	first.release()
	second = openKernelSymbols()
	assert.Same(t, first, second, "one after the other")
	keep()
	keep() // does nothing
	assert.Same(t, second, recent.symbols, "still used")
	recent.opened = time.Now().Add(-shareSymbols - time.Second)
	later := openKernelSymbols()
	assert.NotSame(t, second, later, "too old")
	second.release()
	later.release()
	assert.Nil(t, recent.symbols)
	assert.Zero(t, recent.keepers)
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
