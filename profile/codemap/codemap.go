// Package codemap finds out which code was at an address of a JVM's code cache at a given time.
//
// HotSpot reuses the addresses of the code cache. A method is at its addresses from its installation until later code
// takes any of its bytes. Stubs and codelets stay for the JVM's life, and some lie inside others. So an address alone
// does not say which code ran: a [Map] needs the time of the sample, too.
//
// HotSpot's log lacks some code, and does not say where the code cache begins. [Map.FindUnprinted] and [Map.Beyond] say
// what is known about an address at which [Map.Find] finds nothing.
package codemap

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A Map says which blob, which is a piece of code, covered an address at a given time.
//
// The size of the map and the time of a search depend only on the number of blobs, and not on their sizes or on how
// they overlap. This matters because a damaged log may claim any sizes and addresses.
//
// The index that Find uses takes as much memory as the blobs. The first Find creates it, and [Map.Release] frees it: a
// report of many captures reads their samples one after another, and needs only one index at a time.
type Map struct {
	blobs     []printassembly.Blob
	unprinted unprintedCode
	reused    []bool // reused[i] is the result of Reused for blob i
	lo, hi    uint64 // start of the first blob and end of the last one; 0 if there are no blobs

	making sync.Mutex
	made   atomic.Pointer[search] // nil until the first Find, and after Release
}

// A search finds blobs by address and time.
type search struct {
	blobs []printassembly.Blob
	// byTime has the indexes of the blobs that cover at least one address, in the order of their times. Blobs of the
	// same time are in the order of the log. A blob's index in byTime is its rank.
	byTime []int32
	// ends[r] is the time at which a later blob took the place of the method with rank r, in milliseconds since the
	// JVM's start. It is math.MaxInt64 if the method was never replaced, or if the blob is not a method.
	ends   []int64
	bounds []uint64 // the addresses at which blobs begin and end, ascending, without duplicates
	// cover is a segment tree. Its leaves are the pieces of memory between two neighbouring bounds. A blob is stored at
	// each node whose pieces it covers, unless it also covers all pieces of the node's parent.
	cover segmentTree
}

// An extent is where a blob lies.
type extent struct {
	lo, hi uint64
	rank   int32 // the blob's rank in search.byTime
	kind   printassembly.Kind
}

// New returns the map of one JVM's blobs. The blobs must be in the order of the log. The map keeps the slice, so the
// caller must not change it.
func New(blobs []printassembly.Blob) *Map {
	m := &Map{blobs: blobs}
	byTime := ranks(blobs)
	extents := sortedExtents(blobs, byTime)
	m.unprinted = findUnprinted(extents)
	m.findReused(extents, byTime)
	for i, e := range extents {
		if i == 0 {
			m.lo = e.lo
		}
		m.hi = max(m.hi, e.hi)
	}
	return m
}

// ranks returns the indexes of the blobs that cover at least one address, in the order of their times.
func ranks(blobs []printassembly.Blob) []int32 {
	byTime := make([]int32, 0, len(blobs))
	for i := range blobs {
		if b := &blobs[i]; b.Lo < b.Hi {
			byTime = append(byTime, int32(i))
		}
	}
	slices.SortStableFunc(byTime, func(i, j int32) int {
		return cmp.Compare(blobs[i].UptimeMillis, blobs[j].UptimeMillis)
	})
	return byTime
}

// sortedExtents returns where the blobs lie, in the order of their addresses.
func sortedExtents(blobs []printassembly.Blob, byTime []int32) []extent {
	extents := make([]extent, len(byTime))
	for r, i := range byTime {
		extents[r] = extent{blobs[i].Lo, blobs[i].Hi, int32(r), blobs[i].Kind}
	}
	slices.SortFunc(extents, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.kind, b.kind))
	})
	return extents
}

// search returns the index that Find uses, and creates it if it is missing.
func (m *Map) search() *search {
	if s := m.made.Load(); s != nil {
		return s
	}
	m.making.Lock()
	defer m.making.Unlock()
	if s := m.made.Load(); s != nil { // another goroutine has made it since
		return s
	}
	s := &search{blobs: m.blobs, byTime: ranks(m.blobs)}
	extents := sortedExtents(m.blobs, s.byTime)
	s.bounds = findBounds(extents)
	spans := s.findSpans(extents)
	s.findEnds(spans)
	s.cover = newSegmentTree(len(s.bounds)-1, spans)
	m.made.Store(s)
	return s
}

// Release frees the index that Find uses. The next Find creates it again, which takes about as long as New.
func (m *Map) Release() { m.made.Store(nil) }

// findBounds returns the addresses at which blobs begin and end, ascending, without duplicates. The extents must be in
// the order of their addresses.
func findBounds(extents []extent) []uint64 {
	bounds := make([]uint64, 0, 1024)
	var last extent
	for _, e := range extents {
		// Code at a reused address is usually as long as the code before it. Then its bounds are in the list already.
		// Leaving them out here keeps the list small until it is sorted.
		if e.lo != last.lo || e.hi != last.hi {
			bounds = append(bounds, e.lo, e.hi)
		}
		last = e
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}

// findSpans returns, for each blob, the range of pieces that it covers. A piece is the memory between two neighbouring
// bounds. The result is indexed by the blob's rank. The extents must be in the order of their addresses.
func (s *search) findSpans(extents []extent) []span {
	spans := make([]span, len(extents))
	lo := 0
	for _, e := range extents {
		for s.bounds[lo] < e.lo {
			lo++
		}
		n, _ := slices.BinarySearch(s.bounds[lo:], e.hi)
		spans[e.rank] = span{lo, lo + n}
	}
	return spans
}

// at returns the blob with a given rank.
func (s *search) at(rank int32) *printassembly.Blob { return &s.blobs[s.byTime[rank]] }

// findEnds sets s.ends: for each method, the time of the first later blob that took any of the method's bytes. Methods
// that exist at the same time do not overlap, so at most one of them begins at each of the addresses in s.bounds. The
// index of that address therefore identifies the method.
func (s *search) findEnds(spans []span) {
	s.ends = make([]int64, len(s.byTime))
	present := newBitSet(len(s.bounds))
	method := make([]int32, len(s.bounds)) // the rank of the latest method so far that begins at a bound
	for r := range s.byTime {
		s.ends[r] = math.MaxInt64
		b := s.at(int32(r))
		lo, hi := spans[r].lo, spans[r].hi
		end := func(bound int) {
			s.ends[method[bound]] = b.UptimeMillis
			present.remove(bound)
		}
		if before := present.before(lo); before >= 0 && s.at(method[before]).Hi > b.Lo {
			end(before)
		}
		for next := present.from(lo); next >= 0 && next < hi; next = present.from(lo) {
			end(next)
		}
		if b.Kind.Java() {
			present.add(lo)
			method[lo] = int32(r)
		}
	}
}

// findReused finds the blobs that share bytes with other code, see Reused. The extents are in the order of their
// addresses. So a blob overlaps an earlier one if the highest end of all earlier blobs is after the blob's start. It
// overlaps a later one if the next blob begins before the blob's end.
func (m *Map) findReused(extents []extent, byTime []int32) {
	m.reused = make([]bool, len(m.blobs))
	var end, javaEnd uint64 // highest ends of the blobs before this one, and of the methods among them
	for _, e := range extents {
		java := e.kind.Java()
		m.reused[byTime[e.rank]] = javaEnd > e.lo || java && end > e.lo
		end = max(end, e.hi)
		if java {
			javaEnd = max(javaEnd, e.hi)
		}
	}
	start, javaStart := uint64(math.MaxUint64), uint64(math.MaxUint64) // starts of the next blob and the next method
	for _, e := range slices.Backward(extents) {
		java := e.kind.Java()
		if javaStart < e.hi || java && start < e.hi {
			m.reused[byTime[e.rank]] = true
		}
		start = e.lo
		if java {
			javaStart = e.lo
		}
	}
}

// Find returns the index of the blob that covered pc at a time, in milliseconds since the JVM's start. This is the blob
// that was installed last before that time. HotSpot prints a method a little after installing it. So if there was no
// code at the address yet, Find returns the next blob that was installed there. Find returns false if there is no blob.
func (m *Map) Find(pc uint64, uptimeMillis int64) (int, bool) {
	s := m.search()
	piece, found := slices.BinarySearch(s.bounds, pc)
	if !found {
		piece--
	}
	if piece < 0 || piece >= len(s.bounds)-1 {
		return -1, false
	}
	now := int32(sort.Search(len(s.byTime), func(r int) bool { return s.at(int32(r)).UptimeMillis > uptimeMillis }))
	youngest, next := s.cover.around(piece, now)
	switch {
	case youngest >= 0 && s.ends[youngest] > uptimeMillis:
		return int(s.byTime[youngest]), true
	case next >= 0:
		return int(s.byTime[next]), true
	}
	return -1, false
}

// FindUnprinted is for a pc at which Find finds nothing and no file is mapped. It returns the index of the blob that
// represents code which HotSpot does not print, see unprintedCode.
func (m *Map) FindUnprinted(pc uint64) (int, bool) {
	i, ok := m.unprinted.find(pc)
	return len(m.blobs) + i, ok
}

// Unprinted returns the blobs that represent code which HotSpot does not print. Their indexes follow those of the log's
// blobs.
func (m *Map) Unprinted() []printassembly.Blob {
	var all []printassembly.Blob
	for i := range m.unprinted {
		all = append(all, *m.unprinted.blob(i))
	}
	return all
}

// DropUnprinted makes the map forget all blobs of Unprinted. It is for a log in which some blobs could not be read.
// What looks like unprinted code may be one of these blobs.
func (m *Map) DropUnprinted() { m.unprinted = nil }

// Blob returns the blob with an index from Find or FindUnprinted.
func (m *Map) Blob(i int) *printassembly.Blob {
	if i < len(m.blobs) {
		return &m.blobs[i]
	}
	return m.unprinted.blob(i - len(m.blobs))
}

// Beyond reports whether pc is surely outside the range of addresses that HotSpot reserved for code. The parameter
// reserved is the length of that range. All blobs are in the range, but the log does not say where the range begins.
func (m *Map) Beyond(pc, reserved uint64) bool {
	if m.hi == 0 || reserved < m.hi-m.lo {
		return false
	}
	slack := reserved - (m.hi - m.lo)
	return pc < m.lo && m.lo-pc > slack || pc >= m.hi && pc-m.hi >= slack
}

// Reused reports whether, at an earlier or later time, other code covered any byte of the blob's range. A stub inside
// another stub does not count, because both are there at the same time.
func (m *Map) Reused(i int) bool {
	return i < len(m.reused) && m.reused[i]
}
