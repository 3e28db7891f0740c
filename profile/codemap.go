package profile

import (
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A CodeMap says which blob covered an address at a time.
//
// HotSpot uses the addresses of the code cache again: a method is there from its
// installation until later code takes any of its bytes. Stubs and codelets stay for the
// JVM's life, and some lie inside others. The map lists blobs by page of 128 bytes, in
// the order in which HotSpot printed them.
type CodeMap struct {
	blobs []printassembly.Blob
	pages map[uint64][]int32
	// ends has for each blob the time at which another one took its place, in
	// milliseconds of the JVM's life.
	ends   []int64
	gaps   gaps
	lo, hi uint64 // of all blobs
}

const pageBits = 7

// NewCodeMap makes the map of one JVM's blobs, which are in the order of the log. The map
// keeps the slice, which must not change.
func NewCodeMap(blobs []printassembly.Blob) *CodeMap {
	m := &CodeMap{blobs: blobs, pages: make(map[uint64][]int32), ends: make([]int64, len(blobs)), gaps: findGaps(blobs)}
	for i := range blobs {
		m.ends[i] = math.MaxInt64
		m.install(int32(i))
	}
	return m
}

// install adds a blob to its pages, and ends the methods that it overlaps.
func (m *CodeMap) install(i int32) {
	b := &m.blobs[i]
	if b.Lo >= b.Hi {
		return
	}
	if m.hi == 0 {
		m.lo = b.Lo
	}
	m.lo, m.hi = min(m.lo, b.Lo), max(m.hi, b.Hi)
	for page := b.Lo >> pageBits; page <= (b.Hi-1)>>pageBits; page++ {
		for _, j := range slices.Backward(m.pages[page]) {
			old := &m.blobs[j]
			if old.Kind.Java() && old.Lo < b.Hi && b.Lo < old.Hi {
				m.ends[j] = min(m.ends[j], b.UptimeMillis)
			}
			if old.Lo <= b.Lo && b.Hi <= old.Hi && old.UptimeMillis <= b.UptimeMillis {
				break // this one ended all that was there before it
			}
		}
		m.pages[page] = append(m.pages[page], i)
	}
}

// Find gives the index of the blob that covered pc at a time, in milliseconds since the
// JVM's start: the blob that was installed last before then. HotSpot prints a method a
// little after it has installed it. So an address that had no code yet belongs to the
// next blob that is installed there. Find returns false when there is no blob.
func (m *CodeMap) Find(pc uint64, uptimeMillis int64) (int, bool) {
	page := m.pages[pc>>pageBits]
	next := -1
	for k := len(page) - 1; k >= 0; k-- {
		i := page[k]
		b := &m.blobs[i]
		if pc < b.Lo || pc >= b.Hi {
			continue
		}
		if b.UptimeMillis > uptimeMillis {
			next = int(i)
			continue
		}
		if m.ends[i] <= uptimeMillis {
			break // this blob is gone by then, and so are all before it
		}
		return int(i), true
	}
	return next, next >= 0
}

// FindUnprinted is for a pc at which Find finds nothing and no file is mapped. It gives
// the index of the unprinted code that holds pc, which is a blob too; see gaps.
func (m *CodeMap) FindUnprinted(pc uint64) (int, bool) {
	i, ok := m.gaps.find(pc)
	return len(m.blobs) + i, ok
}

// Blob gives the blob with an index from Find or FindUnprinted.
func (m *CodeMap) Blob(i int) *printassembly.Blob {
	if i < len(m.blobs) {
		return &m.blobs[i]
	}
	return &m.gaps[i-len(m.blobs)]
}

// Beyond tells whether pc is surely outside the range of addresses that HotSpot reserved
// for code. That range is reserved bytes long and holds all blobs, but the log does not
// say where it begins.
func (m *CodeMap) Beyond(pc, reserved uint64) bool {
	if m.lo >= m.hi || reserved < m.hi-m.lo {
		return false
	}
	slack := reserved - (m.hi - m.lo)
	return pc < m.lo && m.lo-pc > slack || pc >= m.hi && pc-m.hi >= slack
}

// Reused tells whether other code covered any byte of the blob's range before or after
// it. Stubs that lie inside other stubs are there at the same time, and do not count.
func (m *CodeMap) Reused(i int) bool {
	b := m.Blob(i)
	if b.Lo >= b.Hi || b.Kind == printassembly.Unprinted {
		return false
	}
	for page := b.Lo >> pageBits; page <= (b.Hi-1)>>pageBits; page++ {
		for _, j := range m.pages[page] {
			other := &m.blobs[j]
			if int(j) != i && other.Lo < b.Hi && b.Lo < other.Hi && (b.Kind.Java() || other.Kind.Java()) {
				return true
			}
		}
	}
	return false
}
