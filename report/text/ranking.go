package text

import (
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// A ranking is a table with the hottest rows first.
type ranking struct {
	*view.View
	title string
	rows  []rankingRow // the hottest one first; see add
	// beyond is the number of rows that were added when the table already had enough rows. These rows are not kept, but
	// beyondCount is the sum of their samples.
	beyond      int
	beyondCount tally.Counts
	// more is the word for rows that are left out: "warm region" becomes "<...other 7 warm regions...>".
	more string
	// rest has the rows that come last, directly above the totals. They are for samples that are in none of the other
	// rows.
	rest []rankingRow
	// about says what code the totals count. It is shown beside the totals, in the column of details.
	about string
	// all is true if the table shows all rows, regardless of Options.Top.
	all bool
	// withTotals is true if the table has a second column, with the rows' totals of the first event.
	withTotals bool
}

// A rankingRow has up to five cells: the shares, the total, the source, the name and its tail, and the details.
type rankingRow struct {
	counts  tally.Counts
	total   tally.Counts // for the column of totals; nil for a blank
	source  string
	name    string // may be shortened
	native  bool   // the name is not a Java method's
	tail    string // follows the name
	details string
}

// add adds a row with these samples. The function row returns the other fields of the row. It is called only if the
// table may show the row, because there can be a million rows that the table does not show.
func (t *ranking) add(counts tally.Counts, row func() rankingRow) {
	if !t.all && t.Options.Top > 0 && len(t.rows) > t.Options.Top {
		if t.beyond++; t.beyondCount == nil {
			t.beyondCount = t.Zero()
		}
		t.beyondCount.Add(counts)
		return
	}
	added := row()
	added.counts = counts
	t.rows = append(t.rows, added)
}

// sum adds up the samples of event e in t.rows[from:] and in the rows that t.beyond counts.
func (t *ranking) sum(from, e int) int64 {
	var n int64
	for _, row := range t.rows[from:] {
		n += row.counts[e]
	}
	if t.beyond > 0 {
		n += t.beyondCount[e]
	}
	return n
}

// write writes the table: the hottest rows, a row that sums up the others, the rows in t.rest, a rule, and the totals.
func (t *ranking) write() {
	if len(t.rows) == 0 {
		return
	}
	lines := t.lines(t.shown())
	t.Rule(t.title)
	for _, line := range lines[:len(lines)-1] {
		t.Line("%s", line)
	}
	t.EndRule()
	t.Line("%s", lines[len(lines)-1])
	t.Line("")
}

// shown returns the rows of the table: the hottest rows, a row that sums up the others, and the rows in t.rest.
func (t *ranking) shown() []rankingRow {
	rows := t.hottest()
	for _, row := range t.rest {
		if t.Visible(row.counts) {
			rows = append(rows, row)
		}
	}
	return rows
}

// hottest returns the rows that are hot enough for the table, and a row that sums up the others.
func (t *ranking) hottest() []rankingRow {
	shown := 0
	for shown < len(t.rows) && (t.Options.Top == 0 || t.all || shown < t.Options.Top) && t.worthShowing(&t.rows[shown]) {
		shown++
	}
	rows := slices.Clone(t.rows[:shown])
	others := len(t.rows) - shown + t.beyond
	switch {
	case others == 0:
		return rows
	case others == 1 && t.Visible(t.rows[shown].counts):
		return append(rows, t.rows[shown]) // "<...other 1 method...>" would hide its name
	}
	row := rankingRow{counts: t.Zero(), name: fmt.Sprintf("<...other %s...>", layout.Plural(others, t.more))}
	for e := range row.counts {
		row.counts[e] = t.sum(shown, e)
	}
	if !t.Visible(row.counts) {
		return rows
	}
	return append(rows, row)
}

// worthShowing reports whether a row has enough samples of its own, or in total, to be shown.
func (t *ranking) worthShowing(row *rankingRow) bool {
	return t.Visible(row.counts) || row.total != nil && (!t.minor(row.counts, row.total) ||
		t.Options.Sort == view.ByTotal &&
			t.Visible(row.total))
}

// minor reports whether the table leaves out a frame because the frame has few samples of its own. If its total is as
// high as that of a hot region, minor returns false.
func (t *ranking) minor(counts, total tally.Counts) bool {
	return t.Profile.Share(counts) < 0.01 && t.Profile.Share(total) < max(t.Profile.HotThreshold, 0.01)
}

// lines returns the lines of the table with these rows and the line of the totals. The margins of the shares are left
// out if the table has no room for them.
func (t *ranking) lines(rows []rankingRow) []string {
	if t.Options.Margins && t.Options.Counts == counts.Percent {
		lines := t.linesWith(rows, true)
		if t.Options.TableWidth <= 0 || columnWidth(lines) <= t.Options.TableWidth {
			return lines
		}
	}
	return t.linesWith(rows, false)
}

func (t *ranking) linesWith(rows []rankingRow, margins bool) []string {
	columns, header, aligns := t.countColumns(rows, margins)
	rows = append(slices.Clone(rows), rankingRow{name: "<totals>", details: t.about})
	add := func(align layout.Align, cell func(row *rankingRow) string) {
		var column []string
		for i := range rows {
			column = append(column, cell(&rows[i]))
		}
		if columnWidth(column) > 0 {
			columns, header, aligns = append(columns, column), append(header, ""), append(aligns, align)
		}
	}
	add(layout.Right, func(row *rankingRow) string { return row.source })
	add(layout.Left, func(row *rankingRow) string { return t.Short(row.name, row.native) + row.tail })
	add(layout.Left, func(row *rankingRow) string { return row.details })
	if len(t.Profile.Counters) == 1 {
		if header[0] = "self"; !t.withTotals {
			header = nil
		}
	}
	return layout.Table(header, transpose(columns), aligns)
}

// countColumns returns the columns of samples, each with its total as the last cell.
func (t *ranking) countColumns(rows []rankingRow, margins bool) (columns [][]string, header []string,
	aligns []layout.Align) {
	for e, event := range t.Profile.Counters {
		columns, header, aligns = append(columns, t.selfColumn(rows, e)), append(header, event), append(aligns, layout.Right)
		if margins {
			if column := t.marginColumn(rows, e); columnWidth(column) > 0 {
				columns, header, aligns = append(columns, column), append(header, ""), append(aligns, layout.Left)
			}
		}
		if e == 0 && t.withTotals {
			columns, header, aligns = append(columns, t.totalColumn(rows)), append(header, "total"), append(aligns, layout.Right)
		}
	}
	return columns, header, aligns
}

// selfColumn returns the column of event e. Its last cell is the total. Each share is rounded by itself. If the shares
// were adjusted so that the column adds up, the same samples would have different shares in different tables.
func (t *ranking) selfColumn(rows []rankingRow, e int) []string {
	var cells []string
	var total int64
	for _, row := range rows {
		n := row.counts[e]
		total += n
		cells = append(cells, t.InTable(e, n))
	}
	return append(cells, t.InTable(e, total))
}

// marginColumn returns the column of the uncertainty of event e's shares. Its last cell is blank.
func (t *ranking) marginColumn(rows []rankingRow, e int) []string {
	cells := make([]string, len(rows)+1)
	for i := range rows {
		if margin := amount.Margin(rows[i].counts[e], t.Profile.Accounts[e].Profiled); margin != "" {
			cells[i] = t.Glyph("±", "+-") + margin
		}
	}
	return cells
}

// totalColumn returns the column of the rows' totals of the first event. Its last cell is blank, because the totals
// overlap and have no meaningful sum.
func (t *ranking) totalColumn(rows []rankingRow) []string {
	var cells []string
	for _, row := range rows {
		var n int64
		if row.total != nil {
			n = row.total[0]
		}
		cells = append(cells, t.InTable(0, n))
	}
	return append(cells, "")
}

// fitNames limits the names in the table to the room that the other columns leave.
func (t *ranking) fitNames() {
	if len(t.rows) == 0 {
		return
	}
	rows := t.shown()
	columns, _, _ := t.countColumns(rows, false)
	var sources, details []string
	for _, row := range rows {
		sources, details = append(sources, row.source), append(details, row.details)
	}
	used := view.CellPadding
	for _, c := range append(columns, sources, append(details, t.about)) {
		if w := columnWidth(c); w > 0 {
			used += w + view.CellPadding
		}
	}
	width := max(t.Options.TableWidth-used, view.LeastName)
	for _, row := range rows {
		t.Fit(row.name, row.native, width-layout.Width(row.tail))
	}
}

// columnWidth returns the width of the widest cell.
func columnWidth(cells []string) int {
	width := 0
	for _, c := range cells {
		width = max(width, layout.Width(c))
	}
	return width
}

// transpose converts columns to rows. All columns must have the same length.
func transpose(columns [][]string) [][]string {
	var rows [][]string
	for i := range columns[0] {
		var row []string
		for _, c := range columns {
			row = append(row, c[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// fitNames limits the width of each name in the tables of a profile. The table with the least room for a name
// determines its width.
func fitNames(v *view.View, tables []*ranking) {
	if v.Options.TableWidth == 0 {
		return // there is no limit
	}
	v.Limit()
	for _, t := range tables {
		t.fitNames()
	}
	overview{v}.fitNames()
	if len(v.Profile.Shares) > 1 {
		fitForkNames(v)
	}
}
