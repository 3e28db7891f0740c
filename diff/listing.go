package diff

import (
	"fmt"
	"strings"
)

// A ListingLine is one line of an aligned listing.
type ListingLine struct {
	// Op is "=" for an instruction of both sides, "-" for one that only A has,
	// "+" for one that only B has.
	Op    string `json:"op"`
	A     int64  `json:"samples_a"`
	B     int64  `json:"samples_b"`
	Label string `json:"label,omitempty"` // when a jump leads here
	Text  string `json:"text"`
	Frame string `json:"frame,omitempty"` // the innermost Java method and its line
	a, b  int    // index of the line on each side, -1 for none
	own   bool   // of the region itself
}

// A listing puts two aligned pieces of code under each other.
type listing struct {
	a, b       []Line
	bOfA, aOfB []int // the partner of each line, -1 for none
	rows       []ListingLine
}

func newListing(a, b []Line, matches []match) *listing {
	l := &listing{a: a, b: b, bOfA: filled(len(a)), aOfB: filled(len(b))}
	for _, m := range matches {
		l.bOfA[m.a], l.aOfB[m.b] = m.b, m.a
	}
	return l
}

func filled(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// equal tells whether two partners are the same instruction, registers and
// targets of jumps included.
func (l *listing) equal(i, j int) bool {
	if l.a[i].Text != l.b[j].Text {
		return false
	}
	toA, toB := find(l.a, l.a[i].to), find(l.b, l.b[j].to)
	return toA < 0 || toB < 0 || l.bOfA[toA] == toB || l.bOfA[toA] < 0 && l.aOfB[toB] < 0
}

// find gives the line at an address, -1 when it is not listed.
func find(lines []Line, addr uint64) int {
	for i := range lines {
		if addr != 0 && lines[i].Addr == addr {
			return i
		}
	}
	return -1
}

// same is the part of the lines that is the same. Code at the ends and in gaps
// that one side lists and the other does not is not counted.
func (l *listing) same() float64 {
	var equal, all int
	for _, r := range l.lines() {
		switch r.Op {
		case "=":
			equal, all = equal+2, all+2
		default:
			all++
		}
	}
	return float64(equal) / float64(max(all, 1))
}

// lines gives the rows, with labels.
func (l *listing) lines() []ListingLine {
	if l.rows == nil {
		l.align()
		l.cut()
		l.label()
	}
	return l.rows
}

// align puts the lines in order: of each stretch that differs first A's, then
// B's.
func (l *listing) align() {
	i, j := 0, 0
	var onlyA, onlyB []ListingLine
	matched := false // a pair came before, or comes behind
	flush := func(last bool) {
		if !matched || last || l.atGap(i, j) {
			onlyA, onlyB = sampled(onlyA), sampled(onlyB)
		}
		l.rows = append(append(l.rows, onlyA...), onlyB...)
		onlyA, onlyB = nil, nil
	}
	for i < len(l.a) || j < len(l.b) {
		switch {
		case i < len(l.a) && l.bOfA[i] < 0:
			onlyA = append(onlyA, rowOf("-", &l.a[i], i, -1))
			i++
		case j < len(l.b) && l.aOfB[j] < 0:
			onlyB = append(onlyB, rowOf("+", &l.b[j], -1, j))
			j++
		case l.equal(i, j):
			flush(false)
			row := rowOf("=", &l.b[j], i, j)
			row.A, row.own, matched = l.a[i].Count, l.a[i].own || l.b[j].own, true
			l.rows = append(l.rows, row)
			i, j = i+1, j+1
		default:
			onlyA = append(onlyA, rowOf("-", &l.a[i], i, -1))
			onlyB = append(onlyB, rowOf("+", &l.b[j], -1, j))
			matched = true
			i, j = i+1, j+1
		}
	}
	flush(true)
}

// margin is how many lines are kept around the region.
const margin = 5

// cut leaves out other regions of the method.
func (l *listing) cut() {
	first, last := len(l.rows), 0
	for i := range l.rows {
		if l.rows[i].own {
			first, last = min(first, i), i+1
		}
	}
	if first < last {
		l.rows = l.rows[max(first-margin, 0):min(last+margin, len(l.rows))]
	}
}

// atGap tells whether one side does not list the code before a line.
func (l *listing) atGap(i, j int) bool {
	return i < len(l.a) && l.a[i].gap || j < len(l.b) && l.b[j].gap
}

// sampled cuts the lines in front of the first and behind the last sample: at
// the ends of a listing the other side may only show less.
func sampled(rows []ListingLine) []ListingLine {
	first, last := len(rows), 0
	for i, r := range rows {
		if r.A+r.B > 0 {
			first, last = min(first, i), i+1
		}
	}
	if first >= last {
		return nil
	}
	return rows[first:last]
}

func rowOf(op string, line *Line, a, b int) ListingLine {
	row := ListingLine{Op: op, Text: line.Text, Frame: line.Frame, a: a, b: b, own: line.own}
	if op == "-" {
		row.A = line.Count
	} else {
		row.B = line.Count
	}
	return row
}

// label numbers the rows that jumps of the listing lead to.
func (l *listing) label() {
	rowA, rowB := map[int]int{}, map[int]int{}
	for n, r := range l.rows {
		rowA[r.a], rowB[r.b] = n, n
	}
	target := func(r *ListingLine) (int, bool) {
		lines, rows, i := l.b, rowB, r.b
		if i < 0 {
			lines, rows, i = l.a, rowA, r.a
		}
		at := find(lines, lines[i].to)
		n, ok := rows[at]
		return n, ok && at >= 0
	}
	for i := range l.rows {
		if to, ok := target(&l.rows[i]); ok {
			l.rows[to].Label = "L"
		}
	}
	number := 0
	for i := range l.rows {
		if r := &l.rows[i]; r.Label != "" {
			number++
			r.Label = fmt.Sprintf("L%d", number)
		}
	}
	for i := range l.rows {
		r := &l.rows[i]
		if to, ok := target(r); ok {
			r.Text = strings.TrimSuffix(strings.TrimSuffix(r.Text, "<up>"), "<down>") + l.rows[to].Label
		}
	}
}
