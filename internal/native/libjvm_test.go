package native

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// TestLibjvm compares the functions of each JDK's libjvm.so with nm's list, for the whole file and for a stripped one.
func TestLibjvm(t *testing.T) {
	for _, jdk := range jdks(t) {
		t.Run(jdk.Name(), func(t *testing.T) {
			start := time.Now()
			img := load(t, jdk.LibJVM())
			t.Logf("%d pieces in %v", len(img.pieces), time.Since(start))
			compareWithNM(t, img, nm(t, jdk.LibJVM()), true)

			stripped := filepath.Join(t.TempDir(), "libjvm.so")
			run(t, "strip", "-s", "-o", stripped, jdk.LibJVM())
			r := NewResolver()
			r.folder = t.TempDir()
			img, failure := r.load(&Mapping{PID: os.Getpid(), Path: stripped})
			require.Empty(t, failure)
			assert.False(t, img.complete)
			compareWithNM(t, img, nm(t, jdk.LibJVM(), "-D"), false)
		})
	}
}

// compareWithNM compares the names of random addresses, and of addresses at the ends of functions, with nm's symbols.
// The argument unsized says whether functions without a size have names.
func compareWithNM(t *testing.T, img *image, symbols []nmSymbol, unsized bool) {
	t.Helper()
	symbols = slices.DeleteFunc(symbols, func(s nmSymbol) bool {
		return !s.function() || startup[s.name] && s.size == 0
	})
	var sized, sizeless []nmSymbol
	largest := uint64(0)
	for _, s := range symbols {
		if s.size == 0 {
			sizeless = append(sizeless, s)
		} else {
			sized, largest = append(sized, s), max(largest, s.size)
		}
	}
	for _, list := range [][]nmSymbol{sized, sizeless} {
		slices.SortFunc(list, func(a, b nmSymbol) int { return cmp.Compare(a.lo, b.lo) })
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var addrs []uint64
	for range 400 {
		s := symbols[rng.IntN(len(symbols))]
		addrs = append(addrs, s.lo, s.lo-1, s.lo+s.size, s.lo+max(s.size, 1)-1)
	}
	text := img.segments[0]
	for range 1500 {
		addrs = append(addrs, text.addr+rng.Uint64N(text.size))
	}
	named, wrong := 0, 0
	for _, addr := range addrs {
		slot, lo, hi := img.find(addr)
		got := img.name(slot)
		names, bare := namesAt(sized, addr, largest), namesAt(sizeless, addr, 0)
		ok := names[got]
		switch {
		case len(names) == 0 && got == "":
			ok = true
		case len(names) == 0:
			ok = unsized && bare[got]
		}
		if got != "" {
			named++
		}
		if !ok || addr < lo || addr >= hi || len(names) > 0 && lo > addr {
			if wrong++; wrong < 10 {
				t.Errorf("%#x: got %q, want one of %v (or %v)", addr, got, names, bare)
			}
		}
	}
	t.Logf("%d of %d have names", named, len(addrs))
	assert.Zero(t, wrong, "of %d addresses", len(addrs))
	// The first and the last byte of 400 functions have names, unless the symbol table lacks the function's size. With
	// JDK 11 to 28, 819 to 2297 addresses had names.
	assert.Greater(t, named, 750)
}

// namesAt returns the names of the function that contains an address. If several do, it is the one that starts last.
// The argument largest is the size of the largest function; if it is 0, sizes are ignored, and the result is the
// nearest function below.
func namesAt(sorted []nmSymbol, addr, largest uint64) map[string]bool {
	names, start := map[string]bool{}, uint64(0)
	after := sort.Search(len(sorted), func(i int) bool { return sorted[i].lo > addr })
	for i := after - 1; i >= 0; i-- {
		s := &sorted[i]
		if len(names) > 0 && s.lo < start || largest > 0 && addr-s.lo >= largest {
			break
		}
		if largest == 0 || addr-s.lo < s.size {
			start = s.lo
			names[Demangle(s.name)] = true
		}
	}
	return names
}

// TestAssembler: HotSpot's copy loops are hot, and their symbols have no size.
func TestAssembler(t *testing.T) {
	found := 0
	for _, jdk := range jdks(t) {
		img := load(t, jdk.LibJVM())
		for _, s := range nm(t, jdk.LibJVM()) {
			if s.name == "_Copy_conjoint_jlongs_atomic" {
				found++
				for _, at := range []uint64{0, 16} {
					slot, lo, hi := img.find(s.lo + at)
					assert.Equal(t, "_Copy_conjoint_jlongs_atomic", img.name(slot))
					assert.Equal(t, s.lo, lo)
					assert.LessOrEqual(t, hi-lo, uint64(longestUnsized))
				}
				slot, _, _ := img.find(s.lo - 1)
				assert.NotEqual(t, "_Copy_conjoint_jlongs_atomic", img.name(slot))
			}
		}
	}
	assert.Positive(t, found, "JDKs with this function")
}

// TestInstalledDebugFile compares the C library's functions with those of its debug file.
func TestInstalledDebugFile(t *testing.T) {
	paths, err := filepath.Glob("/usr/lib/*-linux-gnu/libc.so.6")
	require.NoError(t, err)
	for _, path := range paths {
		f, size, err := regular.Open(path)
		require.NoError(t, err)
		defer f.Close()
		o, err := newObject(newReading(t), f, size)
		require.NoError(t, err)
		id := hex.EncodeToString(o.buildID())
		debug := filepath.Join(debugFolder, ".build-id", id[:2], id[2:]+".debug")
		if _, err := os.Stat(debug); err == nil && o.SectionByType(elf.SHT_SYMTAB) == nil {
			compareWithNM(t, load(t, path), nm(t, debug), true)
			return
		}
	}
	t.Skip("no debug file of the C library: apt install libc6-dbg")
}
