package codemap

import (
	"iter"
	"math/bits"
	"slices"
)

// A segmentTree holds ranges of numbered pieces, which are the pieces of memory of a Map. Each range has a rank. Node 1
// is the root, and node n has the children 2n and 2n+1. The last nodes are the leaves, one for each piece. A range is
// stored at the few nodes (at most twice the depth of the tree) that it covers completely, but whose parents it does
// not cover completely.
type segmentTree struct {
	leaves int
	first  []int32 // first[n] is the index in ranks at which the ranks of node n begin; one extra element marks the end
	ranks  []int32 // ascending at each node
}

// A span is a range of pieces, [lo, hi).
type span struct{ lo, hi int }

// newSegmentTree returns the tree of spans, which are in the order of their ranks.
func newSegmentTree(pieces int, spans []span) segmentTree {
	t := segmentTree{leaves: max(pieces, 1)}
	t.first = make([]int32, 2*t.leaves+1)
	for _, s := range spans {
		for node := range t.nodes(s) {
			t.first[node+1]++
		}
	}
	for i := 1; i < len(t.first); i++ {
		t.first[i] += t.first[i-1]
	}
	t.ranks = make([]int32, t.first[len(t.first)-1])
	filled := slices.Clone(t.first)
	for r, s := range spans {
		for node := range t.nodes(s) {
			t.ranks[filled[node]] = int32(r)
			filled[node]++
		}
	}
	return t
}

// nodes iterates over the nodes at which a span is stored.
func (t *segmentTree) nodes(s span) iter.Seq[int] {
	return func(yield func(int) bool) {
		for l, h := s.lo+t.leaves, s.hi+t.leaves; l < h; l, h = l/2, h/2 {
			if l%2 == 1 {
				if !yield(l) {
					return
				}
				l++
			}
			if h%2 == 1 {
				h--
				if !yield(h) {
					return
				}
			}
		}
	}
}

// around looks at the ranks of the ranges that cover a piece. Of these ranks, below is the highest one under limit, and
// from is the lowest one that is limit or more. Either is -1 if there is no such rank.
func (t *segmentTree) around(piece int, limit int32) (below, from int32) {
	below, from = -1, -1
	for node := piece + t.leaves; node >= 1; node /= 2 {
		ranks := t.ranks[t.first[node]:t.first[node+1]]
		i, _ := slices.BinarySearch(ranks, limit)
		if i > 0 {
			below = max(below, ranks[i-1])
		}
		if i < len(ranks) && (from < 0 || ranks[i] < from) {
			from = ranks[i]
		}
	}
	return below, from
}

// A bitSet is a set of numbers from 0 to size-1. The first level has a bit for each number. Every further level has a
// bit for each word of the level before it, and this bit is set if the word is not zero. So it takes only a few steps
// to find the next or the previous number of the set.
type bitSet [][]uint64

func newBitSet(size int) bitSet {
	var s bitSet
	for {
		words := (size + 63) / 64
		s = append(s, make([]uint64, max(words, 1)))
		if words <= 1 {
			return s
		}
		size = words
	}
}

func (s bitSet) add(n int) {
	for _, level := range s {
		level[n/64] |= 1 << (n % 64)
		n /= 64
	}
}

func (s bitSet) remove(n int) {
	for _, level := range s {
		level[n/64] &^= 1 << (n % 64)
		if level[n/64] != 0 {
			return
		}
		n /= 64
	}
}

// from returns the lowest number of the set that is n or higher, or -1.
func (s bitSet) from(n int) int {
	for l, level := range s {
		if n/64 >= len(level) {
			return -1
		}
		if rest := level[n/64] >> (n % 64); rest != 0 {
			n += bits.TrailingZeros64(rest)
			for ; l > 0; l-- {
				n = n*64 + bits.TrailingZeros64(s[l-1][n])
			}
			return n
		}
		n = n/64 + 1
	}
	return -1
}

// before returns the highest number of the set that is lower than n, or -1.
func (s bitSet) before(n int) int {
	for l, level := range s {
		if rest := level[n/64] & (1<<(n%64) - 1); rest != 0 {
			n = n/64*64 + 63 - bits.LeadingZeros64(rest)
			for ; l > 0; l-- {
				n = n*64 + 63 - bits.LeadingZeros64(s[l-1][n])
			}
			return n
		}
		n /= 64
	}
	return -1
}
