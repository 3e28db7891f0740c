package asm

import "slices"

// A Match is a pair of lines, one of A and one of B, that have the same instruction. The two may use different
// registers and stack slots. The fields are the indexes of the lines.
type Match struct{ A, B int }

// maxCells limits the time and memory of an alignment, which grow with the number of lines of A times the number of
// lines of B. For example, two pieces of code with 2000 lines each can be aligned.
const maxCells = 4 << 20

// The scores of a match. The score of an alignment is the sum of the scores of its matches.
const (
	scoreText  = 3 // the same text
	scoreShape = 2 // the same text, except for registers and stack slots
)

// matchScore returns the score for matching two lines. It returns 0 if the lines don't match.
func matchScore(a, b *Line) uint32 {
	switch {
	case a.Text == b.Text:
		return scoreText
	case a.shape == b.shape:
		return scoreShape
	}
	return 0
}

// Align finds the longest common subsequence of two pieces of code. Two lines that differ only in registers or stack
// slots match too, but with a lower score than equal lines. Diff libraries do not support such scores, so the algorithm
// is implemented here. Align returns false if the code is too long.
func Align(a, b []Line) ([]Match, bool) {
	head := 0
	for head < min(len(a), len(b)) && a[head].Text == b[head].Text {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail].Text == b[len(b)-1-tail].Text {
		tail++
	}
	middleA, middleB := a[head:len(a)-tail], b[head:len(b)-tail]
	if (len(middleA)+1)*(len(middleB)+1) > maxCells {
		return nil, false
	}
	var matches []Match
	for i := range head {
		matches = append(matches, Match{i, i})
	}
	for _, m := range alignMiddle(middleA, middleB) {
		matches = append(matches, Match{m.A + head, m.B + head})
	}
	for i := range tail {
		matches = append(matches, Match{len(a) - tail + i, len(b) - tail + i})
	}
	return matches, true
}

// alignMiddle aligns the lines between the equal lines at the beginning and those at the end. It fills a table with the
// best score for each pair of a prefix of a and a prefix of b. Then it goes back from the end of the table to its
// start, along the best scores, and collects the matches on the way.
func alignMiddle(a, b []Line) []Match {
	width := len(b) + 1
	best := make([]uint32, (len(a)+1)*width)
	at := func(i, j int) *uint32 { return &best[i*width+j] }
	for i := range a {
		for j := range b {
			n := max(*at(i, j+1), *at(i+1, j))
			if s := matchScore(&a[i], &b[j]); s > 0 {
				n = max(n, *at(i, j)+s)
			}
			*at(i+1, j+1) = n
		}
	}
	var matches []Match
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch n := *at(i, j); {
		case n == *at(i-1, j):
			i--
		case n == *at(i, j-1):
			j--
		default:
			i, j = i-1, j-1
			matches = append(matches, Match{i, j})
		}
	}
	slices.Reverse(matches)
	return matches
}
