package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

func (r *textReport) regionTable() {
	t := ranking{title: "Hottest Regions", more: "warm region", shorten: layout.ShortMethod}
	same := map[string]int{}
	key := func(reg *profile.Region) string { return reg.Source + " " + reg.Method + compileID(reg.CompileID) }
	for i := range r.p.Regions {
		same[key(&r.p.Regions[i])]++
	}
	for i := range r.p.Regions {
		reg := &r.p.Regions[i]
		r.add(&t, reg.Counts, func() rankingRow {
			row := rankingRow{source: reg.Source, name: reg.Method, tail: compileID(reg.CompileID)}
			if same[key(reg)] > 1 { // parts of one method
				row.tail += fmt.Sprintf(", at 0x%x", reg.Lo)
			}
			return row
		})
	}
	t.rest = r.outsideCodeCache(&t)
	r.ranking(t)
}

func (r *textReport) methodTable() {
	t := ranking{title: "Hottest Methods (after inlining)", more: "warm method", shorten: layout.ShortMethod}
	for _, m := range r.p.Methods {
		r.add(&t, m.Counts, func() rankingRow {
			row := rankingRow{source: m.Source, name: m.Name, tail: compileID(m.CompileID)}
			if m.Blobs > 1 && m.CompileID != 0 { // the many bodies of a stub or codelet are no compilations
				row.tail = ", " + layout.Plural(m.Blobs, "compilation")
			}
			return row
		})
	}
	t.rest = r.outsideCodeCache(&t)
	r.ranking(t)
}

// outsideCodeCache are the rows for all samples that are not in a table of the code cache: with them it adds up to 100 %.
func (r *textReport) outsideCodeCache(t *ranking) []rankingRow {
	unresolved, native, skipped := r.zero(), r.zero(), r.zero()
	for e, a := range r.p.Accounts {
		unresolved[e] = a.Unresolved
		native[e] = a.Native + a.Kernel
		skipped[e] = a.Compiled + a.Stub + a.Interpreter - t.sum(0, e)
	}
	return []rankingRow{
		{counts: native, name: "<native code: see Hottest Native Functions below>"},
		{counts: skipped, name: "<left out by --skip-interpreter or --skip-vm-stubs>"},
		{counts: unresolved, name: "<addresses of unknown code>"},
	}
}

// zero makes counts without samples.
func (r *textReport) zero() profile.Counts { return make(profile.Counts, len(r.p.Events)) }

func (r *textReport) frameTable() {
	if len(r.p.Frames) == 0 {
		return
	}
	t := ranking{
		title: "Hottest Frames (inlining undone)", more: "warm frame", shorten: layout.ShortMethod,
		about: "compiled code", totals: true,
	}
	// A method with hardly any samples of its own is still of interest when much was
	// inlined into it.
	for _, minor := range []bool{false, true} {
		for i := range r.p.Frames {
			if f := &r.p.Frames[i]; r.minor(f.Counts, f.Total) == minor {
				r.add(&t, f.Counts, func() rankingRow {
					return rankingRow{total: f.Total, name: f.Method, details: r.hottestLines(f.Lines)}
				})
			}
		}
	}
	r.ranking(t)
}

// minor tells the rows that belong at the end of the table of frames. All others have at
// least 1 % of the samples for themselves, or as much in total as makes a region hot.
func (r *textReport) minor(counts, total profile.Counts) bool {
	return r.p.Share(counts) < 0.01 && r.p.Share(total) < max(r.p.HotThreshold, 0.01)
}

// hottestLines lists the hottest lines of a frame by the first event: "line 12 61.8%, line 14 3.1%, 2 more".
func (r *textReport) hottestLines(lines []profile.LineTotal) string {
	most := 3
	if r.Columns(layout.RuleWidth) < layout.RuleWidth {
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
		switch r.o.Counts {
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
	t := ranking{title: "Hottest Native Functions", more: "warm function", shorten: layout.ShortMiddle}
	for _, n := range r.p.Native {
		symbol := n.Symbol
		if symbol == "" {
			symbol = "(no symbol)"
		}
		r.add(&t, n.Counts, func() rankingRow { return rankingRow{source: n.Module, name: symbol} })
	}
	r.ranking(t)
}

func (r *textReport) sourceTable() {
	t := ranking{title: "Distribution by Source", more: "source", all: true, shorten: layout.ShortMiddle}
	for _, s := range r.p.Sources {
		r.add(&t, s.Counts, func() rankingRow { return rankingRow{name: s.Source} })
	}
	r.ranking(t)
}
