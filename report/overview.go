package report

import (
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	maxOverviewRows    = 6 // methods and functions
	maxOverviewSources = 5
)

// overview says in a few lines what is hottest, in front of the annotated code, which can
// be long.
func (r *textReport) overview() {
	var lines []string
	shown, room := 0, r.Columns(layout.RuleWidth)-labelWidth
	for _, s := range r.p.Sources {
		amount := strings.TrimSpace(r.amount(s.Counts[0], 0))
		if shown++; shown > maxOverviewSources || amount == "" {
			break
		}
		item := amount + " " + s.Source
		if len(lines) == 0 && len(r.p.Events) > 1 { // the overview is of the first one
			item = r.p.Events[0] + ": " + item
		}
		if last := len(lines) - 1; last >= 0 && layout.Width(lines[last]+"; "+item) <= room {
			lines[last] += "; " + item
		} else {
			lines = append(lines, item)
		}
	}
	r.field("Time in", lines...)
	r.field("Hottest", r.hottest()...)
	r.eventLine()
	r.Line("")
}

// hottest are lines of the hottest methods and native functions, with the regions of theirs
// that are annotated below.
func (r *textReport) hottest() []string {
	rows := r.overviewRows()
	if len(rows) == 0 {
		return nil
	}
	var cells [][]string
	for _, row := range rows {
		amount := r.tableAmount(0, row.counts[0], shareOf(row.counts[0], r.p.Accounts[0].Profiled))
		cells = append(cells, []string{strings.TrimSpace(amount), row.source, r.short(row.name, row.native) + row.tail})
	}
	lines := layout.Table(nil, cells, []tw.Align{tw.AlignRight, tw.AlignRight, tw.AlignLeft})
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	return lines
}

// overviewRows are the hottest methods and native functions.
func (r *textReport) overviewRows() []rankingRow {
	type key struct{ source, name string }
	regions := map[key][]string{}
	for i, h := range r.annotated() {
		k := key{h.source, h.name}
		regions[k] = append(regions[k], strconv.Itoa(i+1))
	}
	var rows []rankingRow
	add := func(c profile.Counts, row rankingRow) {
		if len(rows) == maxOverviewRows || !r.visible(c) {
			return
		}
		row.counts = c
		switch numbers := regions[key{row.source, row.name}]; {
		case len(numbers) == 1:
			row.tail = ", region " + numbers[0]
		case len(numbers) > 1:
			row.tail = ", regions " + strings.Join(numbers[:min(len(numbers), 3)], ", ")
		}
		rows = append(rows, row)
	}
	inOrder(r.p.Methods, r.p.Native, func(m *profile.Method) profile.Counts { return m.Counts }, func(m *profile.Method, n *profile.NativeFunction) {
		if n != nil {
			add(n.Counts, rankingRow{source: n.Module, name: symbol(n), native: true})
		} else {
			add(m.Counts, rankingRow{source: m.Source, name: m.Name})
		}
	})
	return rows
}

// fitOverview is fitNames for the overview.
func (r *textReport) fitOverview() {
	rows := r.overviewRows()
	source := 0
	for _, row := range rows {
		source = max(source, layout.Width(row.source))
	}
	const amount = len("100.00%") + cellPadding
	for _, row := range rows {
		r.fitName(row.name, row.native, r.o.TableWidth-labelWidth-amount-source-cellPadding-layout.Width(row.tail)-1)
	}
}
