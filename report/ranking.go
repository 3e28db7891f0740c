package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// A ranking is a table with the hottest rows first.
type ranking struct {
	title string
	rows  []rankingRow // hottest first, see add
	// beyond are more rows than any table shows, whose samples are summed up.
	beyond      int
	beyondCount profile.Counts
	// more is what one row is called in the line about those that are left out: "warm
	// region" makes "<...other 7 warm regions...>".
	more string
	// rest has rows for the samples that the rows do not cover. They come before the
	// totals.
	rest []rankingRow
	// about says, in the column of details, of what code the totals are.
	about string
	// all shows all rows, however many Options.Top allows.
	all bool
	// totals adds a second column: the rows' totals of the first event.
	totals bool
}

// A rankingRow has up to four cells: shares, source, name with its tail, details.
type rankingRow struct {
	counts  profile.Counts
	total   profile.Counts // for the column of totals; nil for a blank
	source  string
	name    string // may be shortened
	native  bool   // name is no Java method
	tail    string // behind the name
	details string
}

// add adds a row with its samples. The rest of the row is only made where the table may show
// it: there can be a million others.
func (r *textReport) add(t *ranking, counts profile.Counts, row func() rankingRow) {
	if !t.all && r.o.Top > 0 && len(t.rows) > r.o.Top {
		if t.beyond++; t.beyondCount == nil {
			t.beyondCount = r.zero()
		}
		t.beyondCount.Add(counts)
		return
	}
	added := row()
	added.counts = counts
	t.rows = append(t.rows, added)
}

// sum adds up the samples of an event in the rows from one on.
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

// ranking writes a table: its hottest rows, a row for the others, the rest, a rule, and the totals.
func (r *textReport) ranking(t ranking) {
	if len(t.rows) == 0 {
		return
	}
	lines := r.layout(t, r.shown(t))
	r.Rule(t.title)
	for _, line := range lines[:len(lines)-1] {
		r.Line("%s", line)
	}
	r.EndRule()
	r.Line("%s", lines[len(lines)-1])
	r.Line("")
}

// shown are the rows that the table has: its hottest, one for the others, and the rest.
func (r *textReport) shown(t ranking) []rankingRow {
	rows := r.cut(t)
	for _, row := range t.rest {
		if r.visible(row.counts) {
			rows = append(rows, row)
		}
	}
	return rows
}

// cut keeps the rows that the table shows, and sums up the others in one row.
func (r *textReport) cut(t ranking) []rankingRow {
	shown := 0
	for shown < len(t.rows) && (r.o.Top == 0 || t.all || shown < r.o.Top) && r.tells(&t.rows[shown]) {
		shown++
	}
	rows := slices.Clone(t.rows[:shown])
	others := len(t.rows) - shown + t.beyond
	switch {
	case others == 0:
		return rows
	case others == 1 && r.visible(t.rows[shown].counts):
		return append(rows, t.rows[shown]) // in the place of a line that says there is one more
	}
	row := rankingRow{counts: r.zero(), name: fmt.Sprintf("<...other %s...>", layout.Plural(others, t.more))}
	for e := range row.counts {
		row.counts[e] = t.sum(shown, e)
	}
	if !r.visible(row.counts) {
		return rows
	}
	return append(rows, row)
}

// tells tells whether a row has anything to tell: samples of its own, or many in total.
func (r *textReport) tells(row *rankingRow) bool {
	return r.visible(row.counts) || row.total != nil && (!r.minor(row.counts, row.total) || r.o.Sort == ByTotal && r.visible(row.total))
}

// visible tells whether counts would be written as more than 0.00 % for any event.
func (r *textReport) visible(counts profile.Counts) bool {
	for e, n := range counts {
		if r.o.Counts != Percent && n != 0 || shareOf(n, r.p.Accounts[e].Profiled) != 0 {
			return true
		}
	}
	return false
}

// layout turns rows into lines, and adds the line of the totals.
func (r *textReport) layout(t ranking, rows []rankingRow) []string {
	columns, header, aligns := r.countColumns(t, rows)
	rows = append(slices.Clone(rows), rankingRow{name: "<totals>", details: t.about})
	add := func(align tw.Align, cell func(row *rankingRow) string) {
		var column []string
		for i := range rows {
			column = append(column, cell(&rows[i]))
		}
		if columnWidth(column) > 0 {
			columns, header, aligns = append(columns, column), append(header, ""), append(aligns, align)
		}
	}
	add(tw.AlignRight, func(row *rankingRow) string { return row.source })
	add(tw.AlignLeft, func(row *rankingRow) string { return r.short(row.name, row.native) + row.tail })
	add(tw.AlignLeft, func(row *rankingRow) string { return row.details })
	if len(r.p.Events) == 1 {
		if header[0] = "self"; !t.totals {
			header = nil
		}
	}
	return layout.Table(header, transpose(columns), aligns)
}

// countColumns are the columns of samples, with the totals at their ends.
func (r *textReport) countColumns(t ranking, rows []rankingRow) (columns [][]string, header []string, aligns []tw.Align) {
	for e, event := range r.p.Events {
		columns = append(columns, r.amounts(rows, e))
		header = append(header, event)
		aligns = append(aligns, tw.AlignRight)
		if e == 0 && t.totals {
			columns, header, aligns = append(columns, r.totals(rows)), append(header, "total"), append(aligns, tw.AlignRight)
		}
	}
	return columns, header, aligns
}

// A nameKey is a name in tables.
type nameKey struct {
	name   string
	native bool
}

// fitNames finds how many columns there are for each name in the tables. One name has the
// same in all of them, so that it is shortened the same way.
func (r *textReport) fitNames(tables []ranking) {
	r.room = nil
	if r.o.TableWidth == 0 {
		return // there is no limit
	}
	r.room = map[nameKey]int{}
	for _, t := range tables {
		if len(t.rows) == 0 {
			continue
		}
		rows := r.shown(t)
		columns, _, _ := r.countColumns(t, rows)
		var sources []string
		for _, row := range rows {
			sources = append(sources, row.source)
		}
		width := r.nameWidth(append(rows, rankingRow{details: t.about}), append(columns, sources))
		for _, row := range rows {
			r.fitName(row.name, row.native, width-layout.Width(row.tail))
		}
	}
	r.fitOverview()
	if len(r.p.Shares) > 1 {
		r.fitForks()
	}
}

// fitForks is fitNames for the table that compares forks, unless that has so many columns
// that the names in all other tables would suffer.
func (r *textReport) fitForks() {
	const column, source = len(" 100.00% "), len(" c2, level 4, osr ")
	columns := min(len(r.p.Shares), maxForkColumns) + 1
	width := max(r.o.TableWidth-columns*column-source-cellPadding, leastName)
	if width < readableName {
		return
	}
	for _, m := range r.p.Methods[:min(len(r.p.Methods), maxForkRows)] {
		r.fitName(m.Name, false, width)
	}
}

// readableName is how many columns most names need to be told apart.
const readableName = 45

// fitName says that a name has so many columns in one place.
func (r *textReport) fitName(name string, native bool, width int) {
	const least = 10
	key := nameKey{name, native}
	if before, ok := r.room[key]; ok {
		width = min(width, before)
	}
	if r.room != nil {
		r.room[key] = max(width, least)
	}
}

// short is a name as the tables have it.
func (r *textReport) short(name string, native bool) string {
	width, ok := r.room[nameKey{name, native}]
	switch {
	case !ok:
		return name
	case native:
		return layout.ShortMiddle(name, width, r.Ellipsis())
	}
	return layout.ShortMethod(name, width, r.Ellipsis())
}

// leastName is how many columns a name has, however narrow the terminal is.
const leastName = 24

// nameWidth is how many columns are left for names between the columns before them and the details behind them.
func (r *textReport) nameWidth(rows []rankingRow, before [][]string) int {
	used := 0
	for _, c := range before {
		if w := columnWidth(c); w > 0 {
			used += w + cellPadding
		}
	}
	var details []string
	for i := range rows {
		details = append(details, rows[i].details)
	}
	if w := columnWidth(details); w > 0 {
		used += w + cellPadding
	}
	return max(r.o.TableWidth-used-cellPadding, leastName)
}

func columnWidth(cells []string) int {
	width := 0
	for _, c := range cells {
		width = max(width, layout.Width(c))
	}
	return width
}

// amounts is the column of event e, with the total at its end. Each share is rounded by itself. If shares were adjusted so
// that the column adds up, the same samples would have different numbers in different tables.
func (r *textReport) amounts(rows []rankingRow, e int) []string {
	profiled := r.p.Accounts[e].Profiled
	var cells []string
	var total int64
	for _, row := range rows {
		n := row.counts[e]
		total += n
		cells = append(cells, r.tableAmount(e, n, shareOf(n, profiled)))
	}
	return append(cells, r.tableAmount(e, total, shareOf(total, profiled)))
}

// totals is the column of the rows' totals for the first event. It has no sum, because
// the totals overlap.
func (r *textReport) totals(rows []rankingRow) []string {
	var cells []string
	for _, row := range rows {
		var n int64
		if row.total != nil {
			n = row.total[0]
		}
		cells = append(cells, r.tableAmount(0, n, shareOf(n, r.p.Accounts[0].Profiled)))
	}
	return append(cells, "")
}

// tableAmount writes a count or its share in a table. No samples are blank.
func (r *textReport) tableAmount(e int, n int64, s share) string {
	const width = 7 // of 100.00%, so that all tables have their first columns at the same place
	cell := ""
	switch {
	case r.o.Counts == Raw && n != 0:
		cell = strconv.FormatInt(n, 10)
	case r.o.Counts == Norm && n != 0:
		cell = r.normal(e).text(n)
	case r.o.Counts == Percent && s != 0:
		cell = s.String()
	}
	return layout.PadLeft(cell, width)
}

// cellPadding is what layout.Table puts around the cells of one column: a blank on either side.
const cellPadding = 2

// transpose turns columns, all of the same length, into rows.
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
