package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// A ranking is a table of what is hottest.
type ranking struct {
	title string
	rows  []rankingRow // hottest first
	// more names the rows that are left out: "%d warm regions".
	more string
	// rest is for what the rows do not cover, between them and the totals.
	rest []rankingRow
	// about says what the totals are of, in the column of details.
	about string
	// all tells that the table is not cut at Options.Top.
	all bool
	// totals tells that the rows have a second column: the first event's total.
	totals bool
	// shorten makes names shorter where the terminal is narrow.
	shorten func(name string, width int, ellipsis string) string
}

// A rankingRow has up to four cells: shares, source, name with its tail, details.
type rankingRow struct {
	counts  profile.Counts
	total   profile.Counts // of what the row's name is also a part of; nil: nothing
	source  string
	name    string // may be shortened
	tail    string // behind the name
	details string
}

func (r *textReport) regionTable() {
	t := ranking{title: "Hottest Regions", more: "warm region", shorten: shortMethod}
	same := map[string]int{}
	key := func(reg *profile.Region) string { return reg.Source + " " + reg.Method + compileID(reg.CompileID) }
	for i := range r.p.Regions {
		same[key(&r.p.Regions[i])]++
	}
	for i := range r.p.Regions {
		reg := &r.p.Regions[i]
		row := rankingRow{counts: reg.Counts, source: reg.Source, name: reg.Method, tail: compileID(reg.CompileID)}
		if same[key(reg)] > 1 { // parts of one method
			row.tail += fmt.Sprintf(", at 0x%x", reg.Lo)
		}
		t.rows = append(t.rows, row)
	}
	t.rest = r.outsideCodeCache(t.rows)
	r.ranking(t)
}

func (r *textReport) methodTable() {
	t := ranking{title: "Hottest Methods (after inlining)", more: "warm method", shorten: shortMethod}
	for _, m := range r.p.Methods {
		row := rankingRow{counts: m.Counts, source: m.Source, name: m.Name, tail: compileID(m.CompileID)}
		if m.Blobs > 1 && m.CompileID != 0 { // the many bodies of a stub or codelet are no compilations
			row.tail = ", " + layout.Plural(m.Blobs, "compilation")
		}
		t.rows = append(t.rows, row)
	}
	t.rest = r.outsideCodeCache(t.rows)
	r.ranking(t)
}

// outsideCodeCache are the rows that fill a table of the code cache up to 100 %.
func (r *textReport) outsideCodeCache(rows []rankingRow) []rankingRow {
	unresolved, native, skipped := r.zero(), r.zero(), r.zero()
	for e, a := range r.p.Accounts {
		unresolved[e] = a.Unresolved
		native[e] = a.Native + a.Kernel
		skipped[e] = a.Compiled + a.Stub + a.Interpreter - sum(rows, e)
	}
	return []rankingRow{
		{counts: native, name: "<native code: see Hottest Native Functions below>"},
		{counts: skipped, name: "<left out by --skip-interpreter or --skip-vm-stubs>"},
		{counts: unresolved, name: "<addresses of unknown code>"},
	}
}

// zero makes counts without samples.
func (r *textReport) zero() profile.Counts { return make(profile.Counts, len(r.p.Events)) }

func sum(rows []rankingRow, e int) int64 {
	var n int64
	for _, row := range rows {
		n += row.counts[e]
	}
	return n
}

func (r *textReport) frameTable() {
	if len(r.p.Frames) == 0 {
		return
	}
	t := ranking{
		title: "Hottest Frames (inlining undone)", more: "warm frame", shorten: shortMethod,
		about: "compiled code", totals: true,
	}
	for _, f := range r.p.Frames {
		t.rows = append(t.rows, rankingRow{counts: f.Counts, total: f.Total, name: f.Method, details: r.hottestLines(f.Lines)})
	}
	// A method without samples of its own is of interest when much was inlined
	// into it.
	slices.SortStableFunc(t.rows, func(a, b rankingRow) int { return cmp.Compare(r.minor(b), r.minor(a)) })
	r.ranking(t)
}

// minor is 0 for frames that belong at the end of the table: 1 % of their own
// and the hot threshold in all are more.
func (r *textReport) minor(row rankingRow) int {
	if r.aboveShare(row.counts, 0.01) || r.aboveShare(row.total, max(r.HotThreshold, 0.01)) {
		return 1
	}
	return 0
}

// hottestLines lists a frame's lines by the first event, the share with one decimal only: "line 12 61.8%, line 14 3.1%".
func (r *textReport) hottestLines(lines []profile.LineTotal) string {
	most := 3
	if r.columns(ruleWidth) < ruleWidth {
		most = 2
	}
	total := r.p.Accounts[0].Profiled
	var cells []string
	for _, l := range lines {
		n := l.Counts[0]
		if n == 0 || len(cells) == most {
			continue
		}
		number, amount := "?", strconv.FormatInt(n, 10)
		if l.Line > 0 {
			number = strconv.Itoa(l.Line)
		}
		switch r.Counts {
		case Percent:
			amount = fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(total, 1)))
		case Norm:
			amount = r.normal(0).text(n)
		}
		cells = append(cells, "line "+number+" "+amount)
	}
	if more := len(lines) - len(cells); more > 0 && len(cells) > 0 {
		cells = append(cells, fmt.Sprintf("%d more", more))
	}
	return strings.Join(cells, ", ")
}

func (r *textReport) nativeTable() {
	t := ranking{title: "Hottest Native Functions", more: "warm function", shorten: shortMiddle}
	for _, n := range r.p.Native {
		symbol := n.Symbol
		if symbol == "" {
			symbol = "(no symbol)"
		}
		t.rows = append(t.rows, rankingRow{counts: n.Counts, source: n.Module, name: symbol})
	}
	r.ranking(t)
}

func (r *textReport) sourceTable() {
	t := ranking{title: "Distribution by Source", more: "source", all: true, shorten: shortMiddle}
	for _, s := range r.p.Sources {
		t.rows = append(t.rows, rankingRow{counts: s.Counts, name: s.Source})
	}
	r.ranking(t)
}

// ranking writes a table: its hottest rows, one for the others, the rest, a rule, the totals.
func (r *textReport) ranking(t ranking) {
	if len(t.rows) == 0 {
		return
	}
	rows := r.cut(t)
	for _, row := range t.rest {
		if r.visible(row.counts) {
			rows = append(rows, row)
		}
	}
	lines := r.layout(t, rows)
	r.rule(t.title)
	for _, line := range lines[:len(lines)-1] {
		r.line("%s", line)
	}
	r.endRule()
	r.line("%s", lines[len(lines)-1])
	r.line("")
}

// cut keeps the rows that the table shows and sums up the others in one.
func (r *textReport) cut(t ranking) []rankingRow {
	shown := 0
	for shown < len(t.rows) && (r.Top == 0 || t.all || shown < r.Top) && (r.visible(t.rows[shown].counts) || r.minor(t.rows[shown]) > 0) {
		shown++
	}
	rows := slices.Clone(t.rows[:shown])
	others := t.rows[shown:]
	switch {
	case len(others) == 0:
		return rows
	case len(others) == 1 && r.visible(others[0].counts):
		return append(rows, others[0]) // the row about one other has room for that one
	}
	row := rankingRow{counts: r.zero(), name: fmt.Sprintf("<...other %s...>", layout.Plural(len(others), t.more))}
	for e := range row.counts {
		row.counts[e] = sum(others, e)
	}
	if !r.visible(row.counts) {
		return rows
	}
	return append(rows, row)
}

// visible tells whether counts are more than 0.00 % in any event.
func (r *textReport) visible(counts profile.Counts) bool {
	for e, n := range counts {
		if r.Counts != Percent && n != 0 || shareOf(n, r.p.Accounts[e].Profiled) != 0 {
			return true
		}
	}
	return false
}

// layout turns rows into lines, and adds that of the totals.
func (r *textReport) layout(t ranking, rows []rankingRow) []string {
	var columns [][]string
	var header []string
	var aligns []tw.Align
	for e, event := range r.p.Events {
		columns = append(columns, r.amounts(rows, e))
		header = append(header, event)
		aligns = append(aligns, tw.AlignRight)
		if e == 0 && t.totals {
			columns, header, aligns = append(columns, r.totals(rows)), append(header, "total"), append(aligns, tw.AlignRight)
		}
	}
	add := func(align tw.Align, cell func(row *rankingRow) string) {
		var column []string
		for i := range rows {
			column = append(column, cell(&rows[i]))
		}
		column = append(column, cell(&rankingRow{name: "<totals>", details: t.about}))
		if columnWidth(column) > 0 {
			columns = append(columns, column)
			header, aligns = append(header, ""), append(aligns, align)
		}
	}
	add(tw.AlignRight, func(row *rankingRow) string { return row.source })
	width := r.nameWidth(rows, columns)
	add(tw.AlignLeft, func(row *rankingRow) string {
		if width > 0 {
			return t.shorten(row.name, max(width-utf8.RuneCountInString(row.tail), 10), r.glyphs.ellipsis) + row.tail
		}
		return row.name + row.tail
	})
	add(tw.AlignLeft, func(row *rankingRow) string { return row.details })
	if len(r.p.Events) == 1 {
		if header[0] = "self"; !t.totals {
			header = nil
		}
	}
	return layout.Table(header, transpose(columns), aligns)
}

// nameWidth is what the terminal has left for names beside the columns before and the details behind them; 0 is enough.
func (r *textReport) nameWidth(rows []rankingRow, before [][]string) int {
	if r.TableWidth == 0 {
		return 0
	}
	const least = 24
	used := 0
	for _, c := range before {
		used += columnWidth(c) + cellPadding
	}
	var details []string
	for i := range rows {
		details = append(details, rows[i].details)
	}
	if w := columnWidth(details); w > 0 {
		used += w + cellPadding
	}
	return max(r.TableWidth-used-cellPadding, least)
}

func columnWidth(cells []string) int {
	width := 0
	for _, c := range cells {
		width = max(width, utf8.RuneCountInString(c))
	}
	return width
}

// amounts is the column of event e, the total at its end. Each share is rounded by itself: one that is bent so that the
// column adds up would differ from the same number in another table.
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

// totals is the column of the rows' totals for the first event. They overlap,
// so they have no sum.
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

// tableAmount writes a count or its share in a table: blank for none.
func (r *textReport) tableAmount(e int, n int64, s share) string {
	const width = 7 // of 100.00%, so that all tables have their first columns at the same place
	cell := ""
	switch {
	case r.Counts == Raw && n != 0:
		cell = strconv.FormatInt(n, 10)
	case r.Counts == Norm && n != 0:
		cell = r.normal(e).text(n)
	case r.Counts == Percent && s != 0:
		cell = s.String()
	}
	return layout.PadLeft(cell, width)
}
