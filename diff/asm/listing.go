package asm

import (
	"fmt"
	"strings"
)

// A ListingLine is one line of a listing of two aligned pieces of code.
type ListingLine struct {
	// Op is "=" for an instruction that both sides have, "-" if only A has it, and "+" if only B has it.
	Op    string `json:"op"`
	A     int64  `json:"samples_a"`
	B     int64  `json:"samples_b"`
	Label string `json:"label,omitempty"` // "L3" if the listing has a jump to this line, otherwise ""
	Text  string `json:"text"`
	Frame string `json:"frame,omitempty"` // the innermost Java method and its source line

	lineA, lineB int  // indexes of the instruction in A's and in B's code; -1 if that side does not have it
	inRegion     bool // true if the line is in the region, false if it is in the code around it
}

// A listing aligns two pieces of code.
type listing struct {
	a, b []Line
	// matchOfA has, for each line of A, the index of the matching line of B, or -1 if no line matches. matchOfB has the
	// same for each line of B.
	matchOfA, matchOfB []int
	lines              []ListingLine
}

// Compare aligns two pieces of code and returns the listing of both, and the share of lines that are the same in both.
// It returns no listing if one of the pieces is empty, or if the pieces are too long to be aligned.
func Compare(a, b []Line) (same float64, lines []ListingLine) {
	if len(a) == 0 || len(b) == 0 {
		return 0, nil
	}
	matches, ok := Align(a, b)
	if !ok {
		return 0, nil
	}
	l := newListing(a, b, matches)
	return l.same(), l.lines
}

// newListing returns the listing of two pieces of code. matches are the lines that Align has paired.
func newListing(a, b []Line, matches []Match) *listing {
	l := &listing{a: a, b: b, matchOfA: noMatches(len(a)), matchOfB: noMatches(len(b))}
	for _, m := range matches {
		l.matchOfA[m.A], l.matchOfB[m.B] = m.B, m.A
	}
	l.interleave()
	l.trim()
	l.label()
	return l
}

func noMatches(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// equal reports whether two matching lines are really the same: they have the same registers, and if they are jumps
// within the code, the lines that they jump to match.
func (l *listing) equal(i, j int) bool {
	if l.a[i].Text != l.b[j].Text {
		return false
	}
	toA, toB := indexOf(l.a, l.a[i].jumpsTo), indexOf(l.b, l.b[j].jumpsTo)
	return toA < 0 || toB < 0 || l.matchOfA[toA] == toB || l.matchOfA[toA] < 0 && l.matchOfB[toB] < 0
}

// indexOf returns the index of the line at an address, or -1 if there is no such line.
func indexOf(lines []Line, addr uint64) int {
	for i := range lines {
		if addr != 0 && lines[i].Addr == addr {
			return i
		}
	}
	return -1
}

// same returns the share of equal lines in the listing, from 0 to 1. An equal line counts twice, because it is in both
// pieces. Lines that were left out of the listing do not count (see interleave and trim).
func (l *listing) same() float64 {
	var equal, all int
	for i := range l.lines {
		switch l.lines[i].Op {
		case "=":
			equal, all = equal+2, all+2
		default:
			all++
		}
	}
	return float64(equal) / float64(max(all, 1))
}

// interleave merges the lines of both sides into one listing. Where the sides differ, the lines of A come before those
// of B.
func (l *listing) interleave() {
	i, j := 0, 0
	var onlyA, onlyB []ListingLine // lines since the last equal line
	matched := false               // true after the first pair of matching lines
	flush := func(last bool) {
		// Lines in onlyA and onlyB may have a match that the other side's report does not list, because reports leave
		// out code before the first match, after the last one, and at gaps. There, only the lines from the first one
		// with samples to the last one are kept.
		if !matched || last || l.atGap(i, j) {
			onlyA, onlyB = sampledPart(onlyA), sampledPart(onlyB)
		}
		l.lines = append(append(l.lines, onlyA...), onlyB...)
		onlyA, onlyB = nil, nil
	}
	for i < len(l.a) || j < len(l.b) {
		switch {
		case i < len(l.a) && l.matchOfA[i] < 0:
			onlyA = append(onlyA, newListingLine("-", &l.a[i], i, -1))
			i++
		case j < len(l.b) && l.matchOfB[j] < 0:
			onlyB = append(onlyB, newListingLine("+", &l.b[j], -1, j))
			j++
		case l.equal(i, j):
			flush(false)
			both := newListingLine("=", &l.b[j], i, j)
			both.A, both.inRegion, matched = l.a[i].Count, l.a[i].InRegion || l.b[j].InRegion, true
			l.lines = append(l.lines, both)
			i, j = i+1, j+1
		default:
			onlyA = append(onlyA, newListingLine("-", &l.a[i], i, -1))
			onlyB = append(onlyB, newListingLine("+", &l.b[j], -1, j))
			matched = true
			i, j = i+1, j+1
		}
	}
	flush(true)
}

// regionMargin is the number of lines that are kept before the region, and after it.
const regionMargin = 5

// trim removes the lines that are far from the region. They belong to other regions of the method.
func (l *listing) trim() {
	first, end := len(l.lines), 0
	for i := range l.lines {
		if l.lines[i].inRegion {
			first, end = min(first, i), i+1
		}
	}
	if first < end {
		l.lines = l.lines[max(first-regionMargin, 0):min(end+regionMargin, len(l.lines))]
	}
}

// atGap reports whether code was left out before line i of A or before line j of B.
func (l *listing) atGap(i, j int) bool {
	return i < len(l.a) && l.a[i].afterGap || j < len(l.b) && l.b[j].afterGap
}

// sampledPart returns the lines from the first one with samples to the last one.
func sampledPart(lines []ListingLine) []ListingLine {
	first, end := len(lines), 0
	for i := range lines {
		if lines[i].A+lines[i].B > 0 {
			first, end = min(first, i), i+1
		}
	}
	if first >= end {
		return nil
	}
	return lines[first:end]
}

// newListingLine returns a line of the listing for an instruction. It sets the number of samples of only one side: of A
// if op is "-", otherwise of B.
func newListingLine(op string, line *Line, lineA, lineB int) ListingLine {
	l := ListingLine{Op: op, Text: line.Text, Frame: line.Frame, lineA: lineA, lineB: lineB, inRegion: line.InRegion}
	if op == "-" {
		l.A = line.Count
	} else {
		l.B = line.Count
	}
	return l
}

// label gives labels (L1, L2 and so on) to the lines that are targets of jumps, and writes the labels into the jumps:
// "jl <up>" becomes "jl L1".
func (l *listing) label() {
	ofA, ofB := map[int]int{}, map[int]int{} // from indexes in the code to indexes in the listing
	for n := range l.lines {
		ofA[l.lines[n].lineA], ofB[l.lines[n].lineB] = n, n
	}
	target := func(line *ListingLine) (int, bool) {
		code, listed, i := l.b, ofB, line.lineB
		if i < 0 {
			code, listed, i = l.a, ofA, line.lineA
		}
		at := indexOf(code, code[i].jumpsTo)
		n, ok := listed[at]
		return n, ok && at >= 0
	}
	for i := range l.lines {
		if to, ok := target(&l.lines[i]); ok {
			l.lines[to].Label = "L" // the loop below adds the numbers, in the order of the lines
		}
	}
	number := 0
	for i := range l.lines {
		if line := &l.lines[i]; line.Label != "" {
			number++
			line.Label = fmt.Sprintf("L%d", number)
		}
	}
	for i := range l.lines {
		line := &l.lines[i]
		if to, ok := target(line); ok {
			line.Text = strings.TrimSuffix(strings.TrimSuffix(line.Text, "<up>"), "<down>") + l.lines[to].Label
		}
	}
}
