package report

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

// A hotLine is a line of source with the samples of the instructions that were made from it,
// whatever method it was inlined into.
type hotLine struct {
	printassembly.Frame
	counts profile.Counts
}

// lineTable ranks lines of source with their text. It has no rows where there are no sources:
// the table of frames has the numbers of the lines.
func (r *textReport) lineTable() ranking {
	t := ranking{title: "Hottest Lines (inlining undone)", more: "warm line", about: "compiled code with lines"}
	if r.o.Source == nil {
		return t
	}
	var lines []hotLine
	for _, f := range r.p.Frames {
		for _, l := range f.Lines {
			if l.Line > 0 {
				lines = append(lines, hotLine{printassembly.Frame{Method: f.Method, Line: l.Line}, l.Counts})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b hotLine) int {
		return cmp.Or(slices.Compare(b.counts, a.counts), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Line, b.Line))
	})
	for _, l := range lines {
		r.add(&t, l.counts, func() rankingRow {
			found := r.source(l.Frame)
			return rankingRow{name: l.Method, tail: found.place(l.Frame), details: found.Text}
		})
	}
	width := r.sourceWidth(t.rows)
	for i := range t.rows {
		t.rows[i].details = layout.CutEnd(t.rows[i].details, width, r.Ellipsis())
	}
	return t
}

// sourceWidth is how many columns lines of source have in the table with these rows: what names leave, but a third of a
// terminal's at least.
func (r *textReport) sourceWidth(rows []rankingRow) int {
	const most, ofName, ofShare = 100, 36, len("100.00%")
	if r.o.TableWidth == 0 {
		return most
	}
	names := 0
	for i := range rows {
		names = max(names, min(layout.Width(rows[i].name), ofName)+layout.Width(rows[i].tail))
	}
	return min(max(r.o.TableWidth-ofShare-names-3*cellPadding, r.o.TableWidth/3), most)
}
