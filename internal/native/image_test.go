package native

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzImage reads damaged ELF files, with sections that refer to debug files.
func FuzzImage(f *testing.F) {
	lib := compile(f, "-shared", "-fPIC", "-nostdlib", "-s", "-g0", "-Wl,-z,noseparate-code")
	linked := lib + ".linked"
	run(f, "objcopy", "--add-gnu-debuglink="+lib, lib, linked)
	for _, path := range []string{linked, compile(f, "-shared", "-fPIC", "-nostdlib", "-g0",
		"-Wl,-z,noseparate-code")} {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data, uint64(0x1000))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		path := write(t, dir+"/fuzz.so", data)
		r := NewResolver()
		r.folder, r.limits = dir, newLimits(maxMemory, maxTime)
		img, failure := r.load(&Mapping{PID: os.Getpid(), Path: path})
		if img == nil {
			if failure == "" {
				t.Fatal("neither image nor failure")
			}
			return
		}
		for i, p := range img.pieces {
			if p.lo >= p.hi || len(img.texts.at(p.name)) == 0 || i > 0 && img.pieces[i-1].hi > p.lo {
				t.Fatalf("piece %d: %+v", i, p)
			}
		}
		mapLibrary(t, r, path, 1, base)
		for _, at := range []uint64{addr, 0, uint64(len(data)) - 1} {
			x, ok := r.Resolve(1, base+at, "claim")
			if ok && (x.Lo > base+at || base+at >= x.Hi || x.Lo < base) {
				t.Fatalf("%+v at %#x", x, base+at)
			}
		}
		table := r.Table()
		for _, x := range table.ranges {
			_, ok := table.Resolve(1, x.Lo)
			assert.True(t, ok)
		}
	})
}

// BenchmarkResolve resolves random PCs in libjvm.so, all of which have been resolved before.
func BenchmarkResolve(b *testing.B) {
	lib := jdks(b)[0].LibJVM()
	r := NewResolver()
	for i := range uint64(40) { // as many mappings as a JVM has
		r.Add(Mapping{PID: 1, Lo: base - (i+1)<<30, Hi: base - i<<30, Path: "/nosuch"})
	}
	mapLibrary(b, r, lib, 1, base)
	img := load(b, lib)
	rng := rand.New(rand.NewPCG(5, 6))
	var pcs [1 << 12]uint64
	for i := range pcs {
		pcs[i] = base + img.pieces[rng.IntN(len(img.pieces))].lo
		r.Resolve(1, pcs[i], "")
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, ok := r.Resolve(1, pcs[n%len(pcs)], "JVM_Halt"); !ok {
			b.Fatal("not found")
		}
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}

// BenchmarkLoad reads all functions of libjvm.so.
func BenchmarkLoad(b *testing.B) {
	lib := jdks(b)[0].LibJVM()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n += len(load(b, lib).pieces)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "functions/s")
}
