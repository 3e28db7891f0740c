package cfi

import (
	"debug/elf"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/native"
)

// BenchmarkNew indexes the newest libjvm.so, whose pages are in memory.
func BenchmarkNew(b *testing.B) {
	file, f := newest(b)
	defer file.Close()
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		t, err := New(f)
		require.NoError(b, err)
		n = t.Len()
	}
	b.ReportMetric(float64(n), "functions")
}

// BenchmarkOpen opens the same file by means of the linker's index (.eh_frame_hdr).
func BenchmarkOpen(b *testing.B) {
	file, f := newest(b)
	defer file.Close()
	b.ReportAllocs()
	for b.Loop() {
		_, err := Open(f)
		require.NoError(b, err)
	}
}

func newest(tb testing.TB) (*os.File, *elf.File) {
	tb.Helper()
	paths := libjvm(tb)
	file, err := os.Open(paths[len(paths)-1])
	require.NoError(tb, err)
	f, err := native.NewELF(file)
	require.NoError(tb, err)
	return file, f
}

// BenchmarkUnwind takes a step from an address in the middle of each of 4096 functions: with rows that are computed,
// and with cached ones.
func BenchmarkUnwind(b *testing.B) {
	file, f := newest(b)
	defer file.Close()
	t, err := New(f)
	require.NoError(b, err)
	var addrs []uint64
	for i := 0; i < t.Len() && len(addrs) < 4096; i += t.Len() / 4096 {
		addrs = append(addrs, t.functions[i].lo+uint64(t.functions[i].size)/2)
	}
	stack := Memory{Base: 0x7000_0000_0000, Data: make([]byte, 64<<10)}
	all := Registers{PC: 1, Known: 0xffff}
	all.Set(6, stack.Base+0x1000) // rbp
	all.Set(7, stack.Base)        // rsp
	run := func(b *testing.B, cached bool) {
		b.ReportAllocs()
		i, steps := 0, 0
		for b.Loop() {
			r := all
			if !cached && i == 0 {
				clear(t.rows)
			}
			result, err := t.Unwind(addrs[i], true, &r, stack)
			if err != nil {
				b.Fatal(err)
			}
			if result == Caller {
				steps++
			}
			i = (i + 1) % len(addrs)
		}
		b.ReportMetric(float64(steps)/float64(b.N), "found/op")
	}
	b.Run("computed", func(b *testing.B) { run(b, false) })
	b.Run("cached", func(b *testing.B) { run(b, true) })
}
