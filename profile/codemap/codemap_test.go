package codemap

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
)

const (
	java  = printassembly.NMethod
	stubs = printassembly.Stub
)

func blob(kind printassembly.Kind, ms int64, lo, hi uint64) printassembly.Blob {
	return printassembly.Blob{Kind: kind, Lo: lo, Hi: hi, UptimeMillis: ms}
}

func TestFind(t *testing.T) {
	m := New([]printassembly.Blob{
		0:  blob(stubs, 0, 0x100, 0x400),    // over several pages of 128 bytes
		1:  blob(stubs, 0, 0x180, 0x190),    // inside 0
		2:  blob(java, 100, 0x1000, 0x100f), // odd size
		3:  blob(java, 100, 0x1010, 0x1080), // up to a page's end
		4:  blob(java, 100, 0x1080, 0x1081), // one byte
		5:  blob(java, 200, 0x1070, 0x1090), // ends 3 and 4
		6:  blob(java, 300, 0x1078, 0x1088), // ends 5
		7:  blob(java, 100, 0x2000, 0x2000), // empty
		8:  blob(java, 100, 0x2010, 0x2000), // backwards
		9:  blob(java, 500, 0x3000, 0x3100),
		10: blob(java, 600, 0x3000, 0x3100), // the same address again
		11: blob(java, 100, math.MaxUint64-15, math.MaxUint64),
		12: blob(java, 0, 0, 1),
		13: blob(java, 0, 0x4000, 0x4010), // and two of the same time
		14: blob(java, 0, 0x4000, 0x4010),
	})
	const never = -1
	for _, c := range []struct {
		what string
		pc   uint64
		ms   int64
		want int
	}{
		{"the byte before", 0xfff, 1000, never},
		{"first byte", 0x1000, 1000, 2},
		{"last byte", 0x100e, 1000, 2},
		{"the byte after", 0x100f, 1000, never},
		{"the next blob's first byte", 0x1010, 150, 3},
		{"last byte of a page", 0x107f, 150, 3},
		{"first byte of a page", 0x1080, 150, 4},
		{"after a blob of one byte", 0x1081, 150, 5},
		{"before installation: the first to come", 0x1000, 99, 2},
		{"long before installation", 0x1000, -5, 2},
		{"at installation", 0x1000, 100, 2},
		{"before installation: the first of several to come", 0x107f, 0, 3},
		{"the last moment of 3", 0x107f, 199, 3},
		{"5 takes its place", 0x107f, 200, 5},
		{"3 is gone where 5 is not", 0x1010, 199, 3},
		{"and nothing is there", 0x1010, 200, never},
		{"6 ends 5", 0x1078, 300, 6},
		{"5 is gone where 6 is not", 0x1070, 300, never},
		{"before 5 is gone", 0x1070, 299, 5},
		{"a stub", 0x17f, 1000, 0},
		{"a stub inside a stub", 0x180, 1000, 1},
		{"its last byte", 0x18f, 1000, 1},
		{"after it", 0x190, 1000, 0},
		{"a stub's last page", 0x3ff, 1000, 0},
		{"after a stub", 0x400, 1000, never},
		{"an empty blob", 0x2000, 1000, never},
		{"a backward blob", 0x2008, 1000, never},
		{"reuse of the whole range: before", 0x3000, 599, 9},
		{"reuse of the whole range: after", 0x3000, 600, 10},
		{"reuse: before both", 0x30ff, 0, 9},
		{"the last addresses", math.MaxUint64 - 1, 100, 11},
		{"the very last", math.MaxUint64, 100, never},
		{"address 0", 0, 0, 12},
		{"the later of two of one time", 0x4000, 0, 14},
	} {
		got, ok := m.Find(c.pc, c.ms)
		assert.Equal(t, c.want >= 0, ok, c.what)
		if ok {
			assert.Equal(t, c.want, got, c.what)
		}
	}
	for i, want := range []bool{false, false, false, true, true, true, true, false, false, true, true, false, false, true,
		true} {
		assert.Equal(t, want, m.Reused(i), "blob %d", i)
	}
}

func TestEmpty(t *testing.T) {
	_, ok := New(nil).Find(0x1000, 0)
	assert.False(t, ok)
}

// slowFind is the rule of Map.Find without an index. It returns the youngest blob at the address, unless a later blob
// has overwritten a byte of it by then. In that case it returns the next blob at the address. The blobs are in the
// order of their times.
func slowFind(blobs []printassembly.Blob, pc uint64, ms int64) int {
	youngest, next := -1, -1
	for i, b := range blobs {
		switch covers := b.Lo <= pc && pc < b.Hi; {
		case covers && b.UptimeMillis <= ms:
			youngest = i
		case covers && next < 0:
			next = i
		}
	}
	if youngest < 0 {
		return next
	}
	y := blobs[youngest]
	for _, b := range blobs[youngest+1:] {
		if y.Kind.Java() && b.UptimeMillis <= ms && overlap(b, y) {
			return next
		}
	}
	return youngest
}

func slowReused(blobs []printassembly.Blob, i int) bool {
	for k, b := range blobs {
		if k != i && overlap(b, blobs[i]) && (b.Kind.Java() || blobs[i].Kind.Java()) {
			return true
		}
	}
	return false
}

func overlap(a, b printassembly.Blob) bool { return max(a.Lo, b.Lo) < min(a.Hi, b.Hi) }

// TestModel compares the map with the rule on random blobs.
func TestModel(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var blobs []printassembly.Blob
		ms := int64(0)
		for range rnd.IntN(30) {
			kind := []printassembly.Kind{java, java, java, printassembly.Native, stubs, printassembly.Interpreter}[rnd.IntN(6)]
			lo := uint64(0x1000 + rnd.IntN(900))
			ms += int64(rnd.IntN(4))
			blobs = append(blobs, blob(kind, ms, lo, lo+uint64(rnd.IntN(1+rnd.IntN(400)))))
		}
		// If several threads write at the same time, the order of their blobs in the log may differ from the order of
		// the blobs' times. The ids say which blob is which. Blobs of the same time stay in their order.
		for i := range blobs {
			blobs[i].ID = i
		}
		log := slices.Clone(blobs)
		for k := range log[:max(0, len(log)-1)] {
			if a, b := &log[k], &log[k+1]; rnd.IntN(4) == 0 && a.UptimeMillis < b.UptimeMillis {
				*a, *b = *b, *a
			}
		}
		m := New(log)
		for range 1000 {
			pc, at := uint64(0x0ff0+rnd.IntN(1400)), int64(rnd.IntN(int(ms)+4)-2)
			got, ok := m.Find(pc, at)
			if ok {
				got = log[got].ID
			} else {
				got = -1
			}
			if want := slowFind(blobs, pc, at); got != want {
				t.Fatalf("seed %d: %#x at %d ms: got %d, want %d in %+v", seed, pc, at, got, want, blobs)
			}
		}
		for i, b := range log {
			require.Equal(t, slowReused(blobs, b.ID), m.Reused(i), "seed %d: blob %d", seed, i)
		}
	}
}

// TestHostile makes the map of ten thousand blobs of 64 MB each, which begin 16 bytes apart. A log of half a megabyte
// can claim to have them. They must not take more memory and time than other blobs.
func TestHostile(t *testing.T) {
	const n = 10_000
	var blobs []printassembly.Blob
	for i := range uint64(n) {
		kind := []printassembly.Kind{java, stubs}[i%2]
		blobs = append(blobs, blob(kind, int64(i), 0x7f0000000000+16*i, 0x7f0000000000+16*i+64<<20))
	}
	var m *Map
	before := allocated()
	m = New(blobs)
	// In the map, a blob takes 28 bytes of its own and two bounds, and it is entered at up to 2 * 14 nodes of the tree.
	// Some of that is allocated twice.
	assert.Less(t, allocated()-before, uint64(n*600), "bytes")
	for i := range blobs {
		got, ok := m.Find(blobs[i].Lo, int64(i))
		require.True(t, ok)
		require.Equal(t, i, got)
		require.True(t, m.Reused(i))
	}
}

// allocated returns how many bytes were allocated so far.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// TestBitSet compares a bitSet with a slice of bools.
func TestBitSet(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		size := 1 + rnd.IntN(10_000)
		set, model := newBitSet(size), make([]bool, size)
		for range 500 {
			n := rnd.IntN(size)
			if model[n] = rnd.IntN(3) > 0; model[n] {
				set.add(n)
			} else {
				set.remove(n)
			}
			from, before := rnd.IntN(size), rnd.IntN(size)
			wantFrom := slices.Index(model[from:], true)
			if wantFrom >= 0 {
				wantFrom += from
			}
			wantBefore := before - 1
			for wantBefore >= 0 && !model[wantBefore] {
				wantBefore--
			}
			require.Equal(t, wantFrom, set.from(from), "seed %d, size %d: from %d", seed, size, from)
			require.Equal(t, wantBefore, set.before(before), "seed %d, size %d: before %d", seed, size, before)
		}
	}
}
