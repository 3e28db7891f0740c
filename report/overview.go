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
	maxOverviewFrames  = 3
	// leastOverviewFrame is the part of the profile that such a frame has at least. With less the
	// heat is elsewhere.
	leastOverviewFrame = 0.01
	// leastOtherThreads is the part of the profile that threads of the JVM itself have at least where
	// the overview names them: where the program has all but the rest, that says enough.
	leastOtherThreads = 0.05
)

// overview says in a few lines what is hottest, in front of the annotated code, which can
// be long.
func (r *textReport) overview() {
	r.field("Time in", r.inLines(min(len(r.p.Sources), maxOverviewSources), func(i int) (string, profile.Counts) {
		return r.p.Sources[i].Source, r.p.Sources[i].Counts
	})...)
	if r.jvmWorks() {
		r.field("Threads", r.inLines(r.busyThreads(), func(i int) (string, profile.Counts) { return r.p.Threads[i].Kind, r.p.Threads[i].Counts })...)
	}
	r.field("Hottest", r.hottest()...)
	r.field("By line", r.hottestFrames()...)
	r.eventLine()
	r.Line("")
}

// inLines writes things with their amounts, as many in a line as there is room for.
func (r *textReport) inLines(n int, thing func(i int) (name string, counts profile.Counts)) (lines []string) {
	room := r.Columns(layout.RuleWidth) - labelWidth
	for i := range n {
		name, counts := thing(i)
		amount := strings.TrimSpace(r.amount(counts[0], 0))
		if amount == "" {
			break
		}
		item := amount + " " + name
		if len(lines) == 0 && len(r.p.Events) > 1 { // the overview is of the first one
			item = r.p.Events[0] + ": " + item
		}
		if last := len(lines) - 1; last >= 0 && layout.Width(lines[last]+"; "+item) <= room {
			lines[last] += "; " + item
		} else {
			lines = append(lines, item)
		}
	}
	return lines
}

// jvmWorks tells whether the JVM's own threads, as those of the compilers, have a part of the profile
// that is worth to be told of.
func (r *textReport) jvmWorks() bool {
	others := int64(0)
	for _, k := range r.p.Threads {
		if k.Kind != profile.ApplicationThreads {
			others += k.Counts[0]
		}
	}
	return float64(others) >= leastOtherThreads*float64(r.p.Accounts[0].Profiled) && len(r.p.Threads) > 1
}

// busyThreads is how many kinds of threads have one percent of the profile at least.
func (r *textReport) busyThreads() int {
	n := 0
	for n < len(r.p.Threads) && 100*r.p.Threads[n].Counts[0] >= r.p.Accounts[0].Profiled {
		n++
	}
	return n
}

// hottestFrames are lines of the hottest Java methods with inlining undone, and their hottest lines of
// source: why a compiled method is hot.
func (r *textReport) hottestFrames() []string {
	frames := r.overviewFrames()
	if len(frames) == 0 {
		return nil
	}
	var cells [][]string
	for _, f := range frames {
		amount := r.tableAmount(0, f.Counts[0], shareOf(f.Counts[0], r.p.Accounts[0].Profiled))
		cells = append(cells, []string{strings.TrimSpace(amount), r.short(f.Method, false), r.frameDetails(&f)})
	}
	lines := layout.Table(nil, cells, []tw.Align{tw.AlignRight, tw.AlignLeft, tw.AlignLeft})
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	return lines
}

// overviewFrames are these frames.
func (r *textReport) overviewFrames() []profile.FrameTotal {
	frames := r.p.Frames[:min(len(r.p.Frames), maxOverviewFrames)]
	for i := range frames {
		if float64(frames[i].Counts[0]) < leastOverviewFrame*float64(r.p.Accounts[0].Profiled) || !r.visible(frames[i].Counts) {
			return frames[:i]
		}
	}
	return frames
}

// frameDetails are the hottest lines of a frame in the overview, as far as they are known.
func (r *textReport) frameDetails(f *profile.FrameTotal) string {
	var known []profile.LineTotal
	for _, l := range f.Lines {
		if l.Line > 0 && len(known) < 2 {
			known = append(known, l)
		}
	}
	return r.hottestLines(known)
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
	details := 0
	frames := r.overviewFrames()
	for i := range frames {
		details = max(details, layout.Width(r.frameDetails(&frames[i])))
	}
	for _, f := range frames {
		r.fitName(f.Method, false, r.o.TableWidth-labelWidth-amount-details-cellPadding-1)
	}
}
