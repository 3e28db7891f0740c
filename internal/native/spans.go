package native

import (
	"cmp"
	"slices"
)

// A span is a range [lo, hi) of addresses. id says what is in the range. It is an index in a list of the caller.
type span struct {
	lo, hi uint64
	id     int32
}

// flatten returns the spans sorted and without overlaps, in a new slice. Where spans overlap, the later one in the
// argument wins. So a span may be missing in the result, or it may be cut into several parts. Empty spans are left out.
// In the result, id is the index of the span in the argument.
func flatten(spans []span) []span {
	order := make([]span, 0, len(spans))
	for i, s := range spans {
		if s.lo < s.hi {
			order = append(order, span{s.lo, s.hi, int32(i)})
		}
	}
	sortByStart(order)
	return cut(spans, order)
}

// cut does the same as flatten for a caller that has already sorted the spans. order has the spans of the first
// argument, sorted by their starts. The id of each span in order is its index in the first argument.
func cut(spans, order []span) []span {
	w := sweep{spans: spans, flat: make([]span, 0, len(order))}
	for _, s := range order {
		w.to(s.lo)
		w.open.push(int(s.id))
	}
	w.to(^uint64(0))
	return w.flat
}

const (
	// digitBits is the number of address bits that sortByStart looks at in one pass.
	digitBits = 11
	// fewSpans is the number of spans up to which a sort by comparison is faster than a radix sort.
	fewSpans = 512
)

// sortByStart sorts spans by their starts. The sort is stable. Many spans are sorted by a radix sort. For the symbols
// of a libjvm.so, a sort by comparison would take longer than reading the symbols.
func sortByStart(spans []span) {
	byStart := func(a, b span) int { return cmp.Compare(a.lo, b.lo) }
	if slices.IsSortedFunc(spans, byStart) {
		return
	}
	if len(spans) <= fewSpans {
		slices.SortStableFunc(spans, byStart)
		return
	}
	differs := uint64(0) // the bits in which some of the addresses differ
	for _, s := range spans {
		differs |= s.lo ^ spans[0].lo
	}
	from, to := spans, make([]span, len(spans))
	for shift := 0; differs>>shift != 0; shift += digitBits {
		if differs>>shift&(1<<digitBits-1) == 0 {
			continue
		}
		var ends [1<<digitBits + 1]int32 // for each digit, the index at which the next span with this digit is put
		for _, s := range from {
			ends[s.lo>>shift&(1<<digitBits-1)+1]++
		}
		for d := range ends[:1<<digitBits] {
			ends[d+1] += ends[d]
		}
		for _, s := range from {
			at := &ends[s.lo>>shift&(1<<digitBits-1)]
			to[*at] = s
			*at++
		}
		from, to = to, from
	}
	copy(spans, from) // does nothing if from is spans
}

// A sweep is the state of the function cut, which goes through all spans from the lowest address to the highest, and
// appends to the result as it goes.
type sweep struct {
	spans []span
	open  latest // indexes of the spans that start at or before pos; some of them may end before pos
	pos   uint64
	flat  []span // the result for all addresses below pos
}

// to moves w.pos up to hi, and appends what lies between the two addresses to the result. No span may start between
// them.
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

// latest is a heap of indexes of spans. The highest index is on top.
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

// pop removes the highest index.
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
