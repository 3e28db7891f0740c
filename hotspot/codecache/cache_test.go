package codecache

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// fakeReleases are the JDK releases that the tests imitate. Each has another layout of the code cache.
var fakeReleases = []int{8, 17, 25}

func names(blobs []*Blob) (names []string) {
	for _, b := range blobs {
		names = append(names, fmt.Sprintf("%d %s", b.Kind, b.Name))
	}
	return names
}

// poll polls, and returns the names of the blobs that were added and of those that are gone.
func poll(t *testing.T, c *Cache, now int64) (added, gone []string) {
	t.Helper()
	changes, err := c.Poll(now)
	require.NoError(t, err)
	c.check(t)
	return names(changes.Added), names(changes.Gone)
}

// check checks that what the Cache knows is consistent.
func (c *Cache) check(t *testing.T) {
	t.Helper()
	end := uint64(0)
	for _, b := range c.Blobs() {
		require.Less(t, b.Lo, b.Hi, "%+v", b)
		require.LessOrEqual(t, end, b.Lo, "blobs overlap: %+v", b)
		require.False(t, b.Gone())
		end = b.Hi
	}
}

// TestMayPoint checks that addresses of the heap and of libraries are accepted as pointers on both architectures.
func TestMayPoint(t *testing.T) {
	for _, at := range []uint64{0x7f4027ac7008, 0x55d0c0de1230, 0xffff90b30008, 0xaaaac0de1230, 1 << 16} {
		assert.True(t, mayPoint(at), "%#x", at)
	}
	for _, word := range []uint64{0, 8, 1<<16 - 8, 0xffff90b30004, 0x5affff90b30008, 0xfffffffffffffff8} {
		assert.False(t, mayPoint(word), "%#x", word)
	}
}

func TestPieces(t *testing.T) {
	for _, release := range fakeReleases {
		c := newFakeJVM(release).cache(t)
		added, gone := poll(t, c, 10)
		assert.Equal(t, []string{"6 slow signature handler", "6 return entry points", "2 StubRoutines::call_stub",
			"2 StubRoutines::catch_exception",
			"2 StubRoutines (1)", "5 vtbl[3]"}, added, "JDK %d", release)
		assert.Empty(t, gone)
		first := c.Blobs()[0]
		assert.Equal(t, [2]uint64{0, 32}, [2]uint64{first.Lo % fakeAlign, first.Hi - first.Lo},
			"the code follows the codelet's header")
		added, gone = poll(t, c, 20)
		assert.Empty(t, added)
		assert.Empty(t, gone)
	}
}

// Blobs from an AOT cache have other names in their headers. They are listed under the usual name of their kind.
func TestNamesInAOTCache(t *testing.T) {
	j := newFakeJVM(28)
	c := j.cache(t)
	poll(t, c, 10)
	poll(t, c, 20)
	for _, b := range []struct {
		name string
		kind byte
	}{{"LIJ", 3}, {"", 3}, {"I2C/C2I adapters", 3}, {"deopt_blob (shared runtime)", 8}, {"initial_blob (stub gen)",
		2}, {"wrong_method_blob (shared runtime)", 7}} {
		j.addBlob(b.name, b.kind, 16)
	}
	added, _ := poll(t, c, 30)
	assert.Equal(t, []string{"4 I2C/C2I adapters", "4 I2C/C2I adapters", "4 I2C/C2I adapters", "3 DeoptimizationBlob",
		"2 StubRoutines::initial_blob (stub gen)", "3 wrong_method_blob (shared runtime)"}, added)
}

// JDK 8 has no state that says that an nmethod is not complete yet.
func TestUnfinishedMethod(t *testing.T) {
	j := newFakeJVM(8)
	c := j.cache(t)
	poll(t, c, 10)
	at := j.addMethod(j.next, 11, "A::one", 0)
	end := j.Data[at+fakeEndOffset-vmtest.Base:][:4]
	whole := slices.Clone(end)
	copy(end, "\x00\x00\x00\x00")
	for now := range int64(3) {
		added, _ := poll(t, c, 20+now)
		assert.Empty(t, added)
	}
	copy(end, whole)
	added, _ := poll(t, c, 30)
	assert.Equal(t, []string{"0 A::one"}, added)
}

func TestMethodsComeAndGo(t *testing.T) {
	for _, release := range fakeReleases {
		j := newFakeJVM(release)
		c := j.cache(t)
		poll(t, c, 10)
		poll(t, c, 20)
		segment := j.next
		j.addMethod(segment, 7, "A::one", 0)
		second := j.addMethod(segment+2, 8, "native.B::two", -1)
		added, _ := poll(t, c, 30)
		assert.Equal(t, []string{"0 A::one"}, added, "JDK %d; the other one is not installed yet", release)
		j.setState(second, 0)
		added, _ = poll(t, c, 40)
		assert.Equal(t, []string{"1 native.B::two"}, added)

		one := c.Find(j.code + segment<<fakeLog2 + fakeHeader + fakeNMethod)
		require.NotNil(t, one)
		assert.Equal(t, []int64{30, 20}, []int64{one.SinceMonoNanos, one.NotBeforeMonoNanos})
		want := printassembly.Installed{ID: 7, Compiler: "c1", Level: 3, Name: "A::one", BytecodeSize: 7,
			Address: one.Lo - fakeNMethod, Size: 200,
			Lo: one.Lo, Stub: one.Lo + 32, Hi: one.Lo + 48, ScopesPCs: one.Lo + 72, ScopesData: one.Lo + 56,
			Metadata: one.Lo + 48}
		if release == 25 {
			want.ScopesPCs, want.ScopesData, want.Metadata = 0x6000_0010, 0x6000_0040, 0x5000_0008
		}
		assert.Equal(t, want, *one.Method)
		assert.Equal(t, "c2n", c.Find(one.Lo+256).Method.Kind)

		// The memory of the first method is used again for another one.
		j.freeBlock(segment)
		j.addMethod(segment, 9, "C::three", 0)
		added, gone := poll(t, c, 50)
		assert.Equal(t, []string{"0 C::three"}, added)
		assert.Equal(t, []string{"0 A::one"}, gone)
		assert.Equal(t, []int64{40, 50}, []int64{one.LastMonoNanos, one.GoneMonoNanos})
		poll(t, c, 60)
		checkAt(t, c, one.Lo)

		// The method dies, and its block is freed before a later Poll.
		j.setState(j.code+segment<<fakeLog2+fakeHeader, c.layout.deadState)
		j.free++
		j.put64(j.heap+fakeNextSegment, j.next, j.free)
		_, gone = poll(t, c, 70)
		assert.Equal(t, []string{"0 C::three"}, gone)
		assert.Nil(t, c.Find(one.Lo))
	}
}

// checkAt asks which blob had an address. A::one had it until a moment between 40 and 50, and C::three after that.
func checkAt(t *testing.T, c *Cache, pc uint64) {
	t.Helper()
	cases := []struct {
		at        int64
		name      string
		ambiguous bool
	}{
		{15, "", false}, {20, "", false},
		{21, "A::one", false}, // the method may have been there
		{30, "A::one", false}, {40, "A::one", false},
		{41, "C::three", true}, {49, "C::three", true},
		{50, "C::three", false}, {1000, "C::three", false},
	}
	require.NotEmpty(t, cases)
	for _, k := range cases {
		b, ambiguous := c.At(pc, k.at)
		name := ""
		if b != nil {
			name = b.Name
		}
		assert.Equal(t, k.name, name, "at %d", k.at)
		assert.Equal(t, k.ambiguous, ambiguous, "at %d", k.at)
	}
}

// TestUnnamed: the names of some methods can't be read when the methods are found.
func TestUnnamed(t *testing.T) {
	j := newFakeJVM(17)
	c := j.cache(t)
	poll(t, c, 10)
	poll(t, c, 20)
	j.addMethod(j.next, 7, "::", 0)
	for range maxTries - 1 {
		added, _ := poll(t, c, 30)
		assert.Empty(t, added)
	}
	added, _ := poll(t, c, 40)
	assert.Equal(t, []string{"0 " + unknownMethod}, added)
}

// TestReplacedUnseen: a method is freed and another one gets its memory, while the list of free blocks stays the same.
// Only the compile id shows it.
func TestReplacedUnseen(t *testing.T) {
	j := newFakeJVM(17)
	segment := j.next
	j.addMethod(segment, 7, "A::one", 0)
	c := j.cache(t)
	poll(t, c, 10)
	poll(t, c, 20)
	before := j.free
	j.freeBlock(segment)
	j.addMethod(segment, 8, "B::two", 0)
	j.put64(j.heap+fakeNextSegment, j.next, before)
	added, _ := poll(t, c, 30)
	assert.Empty(t, added, "nothing shows it yet")
	j.put32(j.symbols[compileIDSymbols[0]], 2)
	now := 30 + 2*recheck.Nanoseconds()
	added, gone := poll(t, c, now)
	assert.Equal(t, []string{"0 B::two"}, added)
	assert.Equal(t, []string{"0 A::one"}, gone)
	assert.Equal(t, int64(20), c.Find(j.code+segment<<fakeLog2+fakeHeader+fakeNMethod).NotBeforeMonoNanos,
		"that was when all was looked at")
}

// TestStarting polls a HotSpot that has not made its code cache yet.
func TestStarting(t *testing.T) {
	j := newFakeJVM(17)
	c := j.cache(t)
	at := c.layout.heaps.At
	list := slices.Clone(j.Data[at-vmtest.Base:][:8])
	j.put64(at, 0)
	added, _ := poll(t, c, 10)
	assert.Empty(t, added)
	j.put64(at, binary.LittleEndian.Uint64(list))
	added, _ = poll(t, c, 20)
	assert.NotEmpty(t, added)
}

// TestLost polls a JVM whose heap has invalid addresses, as in a JVM that is ending.
func TestLost(t *testing.T) {
	j := newFakeJVM(17)
	j.addMethod(j.next, 7, "A::one", 0)
	c := j.cache(t)
	poll(t, c, 10)
	before := len(c.Blobs())
	j.put64(j.heap+16, 1<<40, 1<<40+fakeSegments)
	for now := range int64(maxFailures) {
		changes, err := c.Poll(20 + now)
		require.NoError(t, err)
		require.False(t, changes.Any())
	}
	_, err := c.Poll(100)
	require.ErrorContains(t, err, "reading the code cache: the map of its segments: reading")
	assert.Len(t, c.Blobs(), before)
	j.put64(j.heap+16, j.segmap, j.segmap+fakeSegments)
	added, gone := poll(t, c, 110)
	assert.Empty(t, added)
	assert.Empty(t, gone)
}

func TestHistoryIsBounded(t *testing.T) {
	h := newHistory()
	for i := range uint64(maxHistory + 10) {
		h.add(&Blob{Lo: 1<<20 + i*64, Hi: 1<<20 + i*64 + 64})
	}
	assert.LessOrEqual(t, len(h.order), maxHistory)
	oldest, newest := uint64(1<<20), uint64(1<<20+(maxHistory+9)*64)
	assert.NotContains(t, h.pages, oldest/historyPage)
	assert.True(t, slices.ContainsFunc(h.pages[newest/historyPage], func(b *Blob) bool { return b.contains(newest) }))
}

// TestHistoryForgets has a JVM replace a method each second for a day.
func TestHistoryForgets(t *testing.T) {
	h := newHistory()
	const second, day = int64(time.Second), int64(24 * time.Hour)
	for now := int64(0); now < day; now += second {
		h.add(&Blob{Lo: 1<<20 + uint64(now), Hi: 1<<20 + uint64(now) + 64, GoneMonoNanos: now})
	}
	oldest := h.order[0].GoneMonoNanos
	assert.LessOrEqual(t, oldest, day-second-keepHistory)
	// A quarter is forgotten when the youngest of it is too old.
	assert.Greater(t, oldest, day-2*keepHistory-leastForgotten*second)
	for _, blobs := range h.pages {
		for _, b := range blobs {
			require.GreaterOrEqual(t, b.GoneMonoNanos, oldest)
		}
	}
}

// FuzzWalk polls a code cache, changes bytes of the JVM's memory, and polls again. A change is given by three bytes:
// two are an address, and the third is the new byte.
func FuzzWalk(f *testing.F) {
	jvms := map[int]*fakeJVM{}
	whole := map[int][]byte{}
	for _, release := range fakeReleases {
		j := newFakeJVM(release)
		j.addMethod(j.next, 7, "A::one", 0)
		j.addMethod(j.next, 8, "native.B::two", 0)
		jvms[release], whole[release] = j, slices.Clone(j.Data)
		for at := j.heap; at < j.heap+fakeHeapSize; at++ {
			offset := at - vmtest.Base
			f.Add(release, []byte{byte(offset), byte(offset >> 8), 0xff})
		}
		for segment := range j.next {
			offset := j.code + segment<<fakeLog2 - vmtest.Base
			f.Add(release, []byte{byte(offset), byte(offset >> 8), 0x7f, byte(offset + 24),
				byte((offset + 24) >> 8), 0xff})
			offset = j.segmap + segment - vmtest.Base
			f.Add(release, []byte{byte(offset), byte(offset >> 8), 0})
		}
	}
	f.Fuzz(func(t *testing.T, release int, patches []byte) {
		j := jvms[release]
		if j == nil {
			return
		}
		j.Data = append(j.Data[:0], whole[release]...)
		c := j.cache(t)
		_, err := c.Poll(1)
		require.NoError(t, err)
		for ; len(patches) >= 3; patches = patches[3:] {
			if at := int(patches[0]) | int(patches[1])<<8; at < len(j.Data) {
				j.Data[at] = patches[2]
			}
		}
		for now := range int64(3) {
			if _, err := c.Poll(2 + now*recheck.Nanoseconds()*3); err != nil {
				continue
			}
			c.check(t)
			for _, b := range c.Blobs() {
				require.NotEmpty(t, b.AppendTo(nil, 1, 2))
				found, _ := c.At(b.Lo, 1<<60)
				require.Equal(t, b, found)
			}
		}
	})
}
