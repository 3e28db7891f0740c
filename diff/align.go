package diff

import "slices"

// A match says that a line of A and one of B are the same instruction, at
// least but for registers.
type match struct{ a, b int }

// maxCells limits the cost of an alignment: two pieces of code of 2000 lines.
const maxCells = 4 << 20

const (
	sameText  = 3
	sameShape = 2
)

func score(a, b *Line) uint32 {
	switch {
	case a.Text == b.Text:
		return sameText
	case a.shape == b.shape:
		return sameShape
	}
	return 0
}

// align finds the longest common subsequence of two listings. Lines that are
// the same but for registers may go together, but weigh less: no diff library
// has two degrees of equality. False when the code is too long.
func align(a, b []Line) ([]match, bool) {
	head := 0
	for head < min(len(a), len(b)) && a[head].Text == b[head].Text {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail].Text == b[len(b)-1-tail].Text {
		tail++
	}
	midA, midB := a[head:len(a)-tail], b[head:len(b)-tail]
	if (len(midA)+1)*(len(midB)+1) > maxCells {
		return nil, false
	}
	var matches []match
	for i := range head {
		matches = append(matches, match{i, i})
	}
	for _, m := range alignMiddle(midA, midB) {
		matches = append(matches, match{m.a + head, m.b + head})
	}
	for i := range tail {
		matches = append(matches, match{len(a) - tail + i, len(b) - tail + i})
	}
	return matches, true
}

// alignMiddle fills the table of the best scores of all prefixes and walks it
// back.
func alignMiddle(a, b []Line) []match {
	width := len(b) + 1
	best := make([]uint32, (len(a)+1)*width)
	at := func(i, j int) *uint32 { return &best[i*width+j] }
	for i := range a {
		for j := range b {
			n := max(*at(i, j+1), *at(i+1, j))
			if s := score(&a[i], &b[j]); s > 0 {
				n = max(n, *at(i, j)+s)
			}
			*at(i+1, j+1) = n
		}
	}
	var matches []match
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch n := *at(i, j); {
		case n == *at(i-1, j):
			i--
		case n == *at(i, j-1):
			j--
		default:
			i, j = i-1, j-1
			matches = append(matches, match{i, j})
		}
	}
	slices.Reverse(matches)
	return matches
}
