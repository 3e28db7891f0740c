package codecache

import (
	"cmp"
	"slices"
	"time"
)

// Generation returns a number that changes whenever a Poll has found changes. As long as it stays the same, At
// returns the same result for the same address and time.
func (c *Cache) Generation() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.version
}

// Blobs returns all blobs that are there now, by ascending address. The slice is valid until the next Poll.
func (c *Cache) Blobs() []*Blob {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current
}

// Find returns the blob that contained the address at the last Poll, or nil if there was none. If newer code may be
// there, call Poll and then Find again.
func (c *Cache) Find(pc uint64) *Blob {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.find(pc)
}

func (c *Cache) find(pc uint64) *Blob {
	i, found := slices.BinarySearchFunc(c.current, pc, func(b *Blob, pc uint64) int { return cmp.Compare(b.Lo, pc) })
	if !found {
		i--
	}
	if i < 0 || pc >= c.current[i].Hi {
		return nil
	}
	return c.current[i]
}

// At returns the blob that contained the address at a given time, or nil if no such blob is known.
//
// The Cache does not know when a blob came or went between two Polls. If two blobs may have contained the address at
// the given time, At returns the newer one. Then ambiguous is true, unless both blobs are parts of the same CodeBlob of
// HotSpot (see samePiece).
func (c *Cache) At(pc uint64, monoNanos int64) (b *Blob, ambiguous bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	consider := func(candidate *Blob) {
		if !candidate.possible(monoNanos) {
			return
		}
		ambiguous = b != nil && !samePiece(b, candidate)
		if b == nil || candidate.SinceMonoNanos > b.SinceMonoNanos {
			b = candidate
		}
	}
	for _, old := range c.history.pages[pc/historyPage] {
		if old.contains(pc) {
			consider(old)
		}
	}
	if now := c.find(pc); now != nil {
		consider(now)
	}
	return b, ambiguous
}

// samePiece reports whether two blobs are parts of the same CodeBlob, which is not an nmethod. This happens when a
// later Poll learns more about a CodeBlob, and divides it into smaller pieces.
func samePiece(a, b *Blob) bool { return a.Method == nil && b.Method == nil && a.Header == b.Header }

// Only returns the blob that contains the address, or nil if there is none. The result ok is true if no other blob is
// known to have contained the address earlier. If so, as long as Generation stays the same, [Cache.At] returns b for
// every time after b.NotBeforeMonoNanos, or nil for every time if b is nil.
func (c *Cache) Only(pc uint64) (b *Blob, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, old := range c.history.pages[pc/historyPage] {
		if old.contains(pc) {
			return nil, false
		}
	}
	return c.find(pc), true
}

func (b *Blob) contains(pc uint64) bool { return b.Lo <= pc && pc < b.Hi }

// possible reports whether the blob may have been in the code cache at a given time. A blob that the first Poll found
// may have been there at any time before that Poll.
func (b *Blob) possible(monoNanos int64) bool {
	return monoNanos > b.NotBeforeMonoNanos && (!b.Gone() || monoNanos < b.GoneMonoNanos)
}

// leastForgotten is the smallest number of blobs that a history forgets at once because of their age.
const leastForgotten = 256

// A history holds the blobs that are gone, by the memory pages that they covered.
type history struct {
	pages map[uint64][]*Blob
	order []*Blob // in the order in which they left the code cache
}

const historyPage = 1 << 12

// maxHistory is the maximum number of blobs in a history. When the history is full, the oldest quarter is forgotten. A
// JVM whose code cache is too small replaces about 1000 methods a second.
const maxHistory = 1 << 18

// keepHistory is how long a history keeps blobs at least, in ns, unless it is full. Samples and frames of stacks are
// looked up within seconds. Without this limit, a JVM that is profiled for weeks would fill its history.
const keepHistory = int64(10 * time.Minute)

func newHistory() history { return history{pages: map[uint64][]*Blob{}} }

func (h *history) add(b *Blob) {
	// A quarter is forgotten at once, so that moving the others costs little.
	if quarter := len(h.order) / 4; len(h.order) >= maxHistory ||
		quarter >= leastForgotten && b.GoneMonoNanos-h.order[quarter].GoneMonoNanos > keepHistory {
		for _, old := range h.order[:quarter] {
			h.forget(old)
		}
		h.order = slices.Delete(h.order, 0, quarter)
	}
	h.order = append(h.order, b)
	for page := b.Lo / historyPage; page <= (b.Hi-1)/historyPage; page++ {
		h.pages[page] = append(h.pages[page], b)
	}
}

func (h *history) forget(b *Blob) {
	for page := b.Lo / historyPage; page <= (b.Hi-1)/historyPage; page++ {
		rest := slices.DeleteFunc(h.pages[page], func(other *Blob) bool { return other == b })
		if h.pages[page] = rest; len(rest) == 0 {
			delete(h.pages, page)
		}
	}
}
