package codecache

import (
	"cmp"
	"slices"
)

// Blobs gives all blobs that are there now, by ascending address. It is valid until the
// next Poll.
func (c *Cache) Blobs() []*Blob { return c.current }

// Find gives the blob that has the address now, as of the last Poll; nil if there was
// none. Something new may be there then: Poll, and look again.
func (c *Cache) Find(pc uint64) *Blob {
	i, found := slices.BinarySearchFunc(c.current, pc, func(b *Blob, pc uint64) int { return cmp.Compare(b.Lo, pc) })
	if !found {
		i--
	}
	if i < 0 || pc >= c.current[i].Hi {
		return nil
	}
	return c.current[i]
}

// At gives the blob that had the address at a moment; nil if none is known.
//
// Between two Polls the Cache does not know when a blob came or went. If two blobs may
// have had the address at the moment, it is ambiguous, and At gives the newer one.
func (c *Cache) At(pc uint64, monoNanos int64) (b *Blob, ambiguous bool) {
	consider := func(candidate *Blob) {
		if !candidate.possible(monoNanos) {
			return
		}
		ambiguous = b != nil
		if b == nil || candidate.SinceMonoNanos > b.SinceMonoNanos {
			b = candidate
		}
	}
	for _, old := range c.history.at(pc) {
		consider(old)
	}
	if now := c.Find(pc); now != nil {
		consider(now)
	}
	return b, ambiguous
}

// possible tells whether the blob may have been there at a moment. A blob that was there
// at the first Poll may have been there ever since.
func (b *Blob) possible(monoNanos int64) bool {
	return monoNanos > b.NotBeforeMonoNanos && (!b.Gone() || monoNanos < b.GoneMonoNanos)
}

// A history has the blobs that are gone, by the pages of memory that they had.
type history struct {
	pages map[uint64][]*Blob
	order []*Blob // as they went
}

const historyPage = 1 << 12

// maxHistory bounds how many blobs that are gone are known. A JVM whose code cache is too
// small replaces some 1000 methods a second.
const maxHistory = 1 << 18

func newHistory() history { return history{pages: map[uint64][]*Blob{}} }

func (h *history) add(b *Blob) {
	if len(h.order) >= maxHistory {
		for _, old := range h.order[:maxHistory/4] {
			h.forget(old)
		}
		h.order = slices.Delete(h.order, 0, maxHistory/4)
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

// at gives those that had an address.
func (h *history) at(pc uint64) []*Blob {
	var found []*Blob
	for _, b := range h.pages[pc/historyPage] {
		if b.Lo <= pc && pc < b.Hi {
			found = append(found, b)
		}
	}
	return found
}
