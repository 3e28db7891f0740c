package profile

import (
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A CodeMap says which blob covered an address at a time.
//
// HotSpot reuses the addresses of the code cache: a method is there from its
// install time until later code takes any of its bytes. Stubs and codelets
// stay for the JVM's life, and some lie inside others. Blobs are kept per
// page of 128 bytes, in the order in which they were printed.
type CodeMap struct {
	blobs []printassembly.Blob
	pages map[uint64][]int32
	// ends has for each blob when another one took its place, in milliseconds
	// of uptime.
	ends   []int64
	gaps   gaps
	lo, hi uint64 // of all blobs
}

const pageBits = 7

// NewCodeMap makes the map of one JVM's blobs, which stay the caller's and
// must not change. They are in the order of the log.
func NewCodeMap(blobs []printassembly.Blob) *CodeMap {
	m := &CodeMap{blobs: blobs, pages: make(map[uint64][]int32), ends: make([]int64, len(blobs)), gaps: findGaps(blobs)}
	for i := range blobs {
		m.ends[i] = math.MaxInt64
		m.install(int32(i))
	}
	return m
}

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
				break // it ended what was there before it
			}
		}
		m.pages[page] = append(m.pages[page], i)
	}
}

// Find gives the index of the blob that covered pc at a time in milliseconds
// since the JVM's start: the youngest one installed by then. A method is
// printed a little after it was installed, so an address that had no code yet
// belongs to the first blob to come. A miss is false.
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
			break // it is gone, and so are all before it
		}
		return int(i), true
	}
	return next, next >= 0
}

// FindUnprinted is for a pc that Find misses and no file is mapped at. It gives
// the index of the unprinted code that holds pc, a blob of its own, or false.
func (m *CodeMap) FindUnprinted(pc uint64) (int, bool) {
	i, ok := m.gaps.find(pc)
	return len(m.blobs) + i, ok
}

// Blob gives the blob with an index that Find or FindUnprinted gave.
func (m *CodeMap) Blob(i int) *printassembly.Blob {
	if i < len(m.blobs) {
		return &m.blobs[i]
	}
	return &m.gaps[i-len(m.blobs)]
}

// Beyond tells whether pc is outside the range that HotSpot reserved for code,
// whatever blob there may be that the log does not have. That range has the
// size reserved, in bytes, and holds all blobs.
func (m *CodeMap) Beyond(pc, reserved uint64) bool {
	if m.lo >= m.hi || reserved < m.hi-m.lo {
		return false
	}
	slack := reserved - (m.hi - m.lo)
	return pc < m.lo && m.lo-pc > slack || pc >= m.hi && pc-m.hi >= slack
}

// Reused tells whether other code covered a byte of the blob's range before or
// after it. Stubs inside stubs are there together.
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
