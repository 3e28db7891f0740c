package text

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// A hotLine is a line of source. It counts the samples of all instructions that were made from the line, in all
// compiled methods.
type hotLine struct {
	printassembly.Frame
	counts tally.Counts
}

// lineTable returns the table of lines of source, with their text. Without sources the table has no rows, because the
// table of frames already has the numbers of the lines.
func lineTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Hottest Lines (inlining undone)", more: "warm line", about: "compiled code with lines"}
	if v.Options.Code.Source == nil {
		return t
	}
	var lines []hotLine
	for _, f := range v.Profile.Frames {
		for _, l := range f.Lines {
			if l.Line > 0 {
				at := printassembly.Frame{Method: f.Method, Line: l.Line}
				if l.Guessed != nil {
					at.Guess = printassembly.GuessedAll
				}
				lines = append(lines, hotLine{at, l.Counts})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b hotLine) int {
		return cmp.Or(slices.Compare(b.counts, a.counts), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Line, b.Line))
	})
	for _, l := range lines {
		t.add(l.counts, func() rankingRow {
			found := v.Options.Code.Line(l.Frame)
			return rankingRow{name: l.Name(), tail: found.Place(l.Frame), details: found.Text}
		})
	}
	width := sourceWidth(v, t.rows)
	for i := range t.rows {
		t.rows[i].details = layout.CutEnd(t.rows[i].details, width, v.Ellipsis())
	}
	return t
}

// sourceWidth returns the width, in characters, that source text may have in the table with these rows. This is the
// room that the names leave, but at least a third of the table.
func sourceWidth(v *view.View, rows []rankingRow) int {
	const most, ofName, ofShare = 100, 36, len("100.00%")
	if v.Options.TableWidth == 0 {
		return most
	}
	names := 0
	for i := range rows {
		names = max(names, min(layout.Width(rows[i].name), ofName)+layout.Width(rows[i].tail))
	}
	return min(max(v.Options.TableWidth-ofShare-names-3*view.CellPadding, v.Options.TableWidth/3), most)
}
