package native

import (
	"debug/elf"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLibjvm compares with what nm says, by going through all of it.
func TestLibjvm(t *testing.T) {
	for _, lib := range libjvms(t) {
		start := time.Now()
		img := load(t, lib)
		t.Logf("%s: %d pieces in %v", lib, len(img.pieces), time.Since(start))
		compareWithNM(t, img, nm(t, lib), true)

		stripped := filepath.Join(t.TempDir(), "libjvm.so")
		if out, err := exec.Command("strip", "-s", "-o", stripped, lib).CombinedOutput(); err != nil {
			t.Skipf("strip: %s", out)
		}
		r := NewResolver()
		r.folder = t.TempDir()
		img, failure := r.load(&Mapping{Path: stripped})
		require.Empty(t, failure)
		assert.False(t, img.complete)
		compareWithNM(t, img, nm(t, lib, "-D"), false)
	}
}

// compareWithNM takes addresses at random and at the ends of functions.
func compareWithNM(t *testing.T, img *image, symbols []nmSymbol, unsized bool) {
	t.Helper()
	symbols = slices.DeleteFunc(symbols, func(s nmSymbol) bool { return !s.function() || startup[s.name] && s.size == 0 })
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
		var start, below uint64 // of the innermost function, and of the nearest without a size
		names := map[string]bool{}
		bare := map[string]bool{}
		for _, s := range symbols {
			if s.lo > addr {
				continue
			}
			if s.size == 0 {
				if s.lo > below {
					below = s.lo
					clear(bare)
				}
				if s.lo == below {
					bare[Demangle(s.name)] = true
				}
			} else if addr < s.lo+s.size && s.lo >= start {
				if s.lo > start {
					clear(names)
				}
				start = s.lo
				names[Demangle(s.name)] = true
			}
		}
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
	assert.Zero(t, wrong, "of %d addresses", len(addrs))
	assert.Greater(t, named, 500)
}

// TestAssembler: HotSpot's copy loops are hot, and their symbols have no size.
func TestAssembler(t *testing.T) {
	for _, lib := range libjvms(t) {
		img := load(t, lib)
		for _, s := range nm(t, lib) {
			if s.name == "_Copy_conjoint_jlongs_atomic" {
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
}

// TestInstalledDebugFile takes the C library, when its debug file is there.
func TestInstalledDebugFile(t *testing.T) {
	paths, err := filepath.Glob("/usr/lib/*-linux-gnu/libc.so.6")
	require.NoError(t, err)
	for _, path := range paths {
		f, size, err := openFile(path)
		require.NoError(t, err)
		defer f.Close()
		o, err := newObject(f, size)
		require.NoError(t, err)
		id := hex.EncodeToString(buildID(o.File, size))
		debug := filepath.Join(debugFolder, ".build-id", id[:2], id[2:]+".debug")
		if _, err := os.Stat(debug); err == nil && o.SectionByType(elf.SHT_SYMTAB) == nil {
			compareWithNM(t, load(t, path), nm(t, debug), true)
			return
		}
	}
	t.Skip("no debug file of the C library")
}
