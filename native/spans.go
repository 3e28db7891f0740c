package native

import (
	"cmp"
	"slices"
)

// A span is a range [lo, hi) of addresses and the index of what is there, in a
// slice of its user's.
type span struct {
	lo, hi uint64
	id     int32
}

// flatten cuts spans that overlap. Where they do, the later one in the slice
// wins. The result is new, sorted and free of overlaps; a span may be gone or
// in several pieces. Empty and backward spans are left out.
func flatten(spans []span) []span {
	order := make([]int, 0, len(spans))
	for i, s := range spans {
		if s.lo < s.hi {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(spans[a].lo, spans[b].lo) })

	w := sweep{spans: spans, flat: make([]span, 0, len(order))}
	for _, i := range order {
		w.to(spans[i].lo)
		w.open.push(i)
	}
	w.to(^uint64(0))
	return w.flat
}

// A sweep goes over sorted spans from the lowest address up.
type sweep struct {
	spans []span
	open  latest // those that have started, and some that have ended
	pos   uint64
	flat  []span
}

// to puts what is open between pos and hi to the result.
func (w *sweep) to(hi uint64) {
	for len(w.open) > 0 && w.pos < hi {
		s := w.spans[w.open[0]]
		if s.hi <= w.pos {
			w.open.pop()
			continue
		}
		end := min(s.hi, hi)
		if n := len(w.flat); n > 0 && w.flat[n-1].hi == w.pos && w.flat[n-1].id == s.id {
			w.flat[n-1].hi = end
		} else {
			w.flat = append(w.flat, span{w.pos, end, s.id})
		}
		w.pos = end
	}
	w.pos = hi
}

// latest is a heap of indices with the highest on top.
type latest []int

func (h *latest) push(index int) {
	*h = append(*h, index)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if a[up] >= a[i] {
			break
		}
		a[up], a[i] = a[i], a[up]
		i = up
	}
}

// pop takes the top away.
func (h *latest) pop() {
	a := *h
	last := len(a) - 1
	a[0] = a[last]
	a = a[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < last && a[down+1] > a[down] {
			down++
		}
		if down >= last || a[i] >= a[down] {
			break
		}
		a[i], a[down] = a[down], a[i]
		i = down
	}
	*h = a
}
