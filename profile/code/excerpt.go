package code

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Hit has the samples of an instruction. At is the instruction's index.
type Hit struct {
	At     int
	Counts tally.Counts
}

// LeastGap is the smallest number of instructions that an excerpt leaves out. If there are fewer, they are shown,
// because a line about the gap would save almost nothing.
const LeastGap = 3

// Excerpt chooses which of n instructions an excerpt shows. These are the hottest ones, each with the margin
// instructions before it and after it. They are chosen hottest first, until at least the number most are shown.
func Excerpt(n int, hits []Hit, most, margin int) (keep []bool) {
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.At, b.At)) })
	keep = make([]bool, n)
	kept := 0
	for _, h := range hits {
		if kept >= most {
			break
		}
		for i := max(0, h.At-margin); i < min(n, h.At+margin+1); i++ {
			if !keep[i] {
				keep[i] = true
				kept++
			}
		}
	}
	fillShortGaps(keep)
	return keep
}

// fillShortGaps removes the gaps that are shorter than LeastGap, by marking their instructions as kept.
func fillShortGaps(keep []bool) {
	for i := 0; i < len(keep); {
		n := 1
		for i+n < len(keep) && keep[i+n] == keep[i] {
			n++
		}
		if !keep[i] && n < LeastGap {
			for k := i; k < i+n; k++ {
				keep[k] = true
			}
		}
		i += n
	}
}
