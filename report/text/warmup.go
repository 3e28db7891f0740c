package text

import (
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

const (
	// leastVM: if HotSpot's library has less than this share of the profile's samples, the report has no table of its
	// work, and the overview has no line about it.
	leastVM = 0.05
	// leastInterpreted: if the interpreter has less than this share of the profile's samples, the report has no table
	// of the interpreted methods.
	leastInterpreted = 0.01
)

// vmWork returns the lines of the overview about what HotSpot's library did.
func (o overview) vmWork() []string {
	if !vmIsLarge(o.View) {
		return nil
	}
	n := 0
	for n < len(o.Profile.VM) && 100*o.Profile.VM[n].Counts[0] >= o.Profile.Accounts[0].Profiled {
		n++
	}
	return o.joined(n, func(i int) (string, tally.Counts) { return string(o.Profile.VM[i].Work), o.Profile.VM[i].Counts })
}

// vmIsLarge reports whether HotSpot's library has a large enough part of the profile for a table of its work, and the
// work is known.
func vmIsLarge(v *view.View) bool {
	var all int64
	known := false
	for _, s := range v.Profile.VM {
		all += s.Counts[0]
		known = known || s.Work != vmwork.Unknown && s.Work != vmwork.NoThread
	}
	return known && float64(all) >= leastVM*float64(v.Profile.Accounts[0].Profiled)
}

// vmTable returns the table of the kinds of work of HotSpot's library.
func vmTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Work of HotSpot's Library (libjvm)", more: "kind"}
	if !vmIsLarge(v) {
		return t
	}
	note := workNote
	if v.Narrow() {
		note = func(vmwork.Work) string { return "" }
	}
	for i := range v.Profile.VM {
		s := &v.Profile.VM[i]
		t.add(s.Counts, func() rankingRow { return rankingRow{name: string(s.Work), native: true, details: note(s.Work)} })
	}
	return t
}

// workNote returns an explanation of a kind of work. It returns "" if the name of the kind says enough.
func workNote(w vmwork.Work) string {
	switch w {
	case vmwork.JIT:
		return "the compilers' threads, and what others do for them"
	case vmwork.GC:
		return "the collector's threads, and what others do for it"
	case vmwork.Other:
		return "functions that belong to no other kind"
	}
	return ""
}

// interpretedTable returns the table of the methods that the interpreter executed.
func interpretedTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Hottest Interpreted Methods", more: "method", about: "interpreter"}
	var all int64
	for i := range v.Profile.Interpreted {
		all += v.Profile.Interpreted[i].Counts[0]
	}
	if float64(all) < leastInterpreted*float64(v.Profile.Accounts[0].Profiled) {
		return t
	}
	for i := range v.Profile.Interpreted {
		m := &v.Profile.Interpreted[i]
		t.add(m.Counts, func() rankingRow {
			var lines []profile.LineTotal
			for _, l := range m.Lines {
				lines = append(lines, profile.LineTotal{Line: l.Line, Counts: l.Counts})
			}
			return rankingRow{name: m.Method, details: hottestLines(v, lines)}
		})
	}
	return t
}

// spansShown is the maximum number of rows in the table of a JVM's time.
const spansShown = 12

// warmUp writes what the JVM of a profile did over time, if the profile has only one JVM. It writes nothing if the JVM
// was warm from the first sample on, or if it became warm later and the user has not asked for compilations.
func (d *document) warmUp(v *view.View) {
	jvms, warmths := d.ps.History.Of(v.Profile.PIDs), amount.Warmths(d.ps, v.Profile)
	if len(jvms) != 1 {
		return
	}
	warm := warmths[0]
	spans := d.ps.History.Spans(&jvms[0], spansShown)
	if !warm.Known || warm.AtOnce || len(spans) < 2 || v.Profile.JIT == nil && warm.Warm {
		return
	}
	origin := warm.OriginMonoNanos
	columns := []struct {
		name   string
		doings []history.Doing
	}{{"interpreted", []history.Doing{history.RanInterpreter}}, {"C1",
		[]history.Doing{history.RanC1Profiled, history.RanC1}},
		{v.Profile.TopCompiler(), []history.Doing{history.RanC2, history.RanCompiled}}, {"stubs",
			[]history.Doing{history.RanStub}},
		{"JIT", []history.Doing{history.RanJIT}},
		{"GC", []history.Doing{history.RanGC}}, {"native", []history.Doing{history.RanNative, history.RanService,
			history.RanUnnamed}}}
	header, aligns := []string{"from s", "to s", "samples"}, []layout.Align{layout.Right, layout.Right, layout.Right}
	for _, c := range columns {
		header, aligns = append(header, c.name), append(aligns, layout.Right)
	}
	var rows [][]string
	for i := range spans {
		s := &spans[i]
		all := s.Sum()
		row := []string{fmt.Sprintf("%.1f", float64(max(s.FromMonoNanos-origin, 0))/1e9),
			fmt.Sprintf("%.1f", float64(s.ToMonoNanos-origin)/1e9), strconv.FormatInt(all, 10)}
		for _, c := range columns {
			var n int64
			for _, doing := range c.doings {
				n += s.Counts[doing]
			}
			cell := ""
			if n > 0 {
				cell = fmt.Sprintf("%.1f%%", 100*float64(n)/float64(all))
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	about :=
		"JIT and GC are the threads of the compilers and the collector; the JVM's other threads are in the last column."
	if warm.JITUnknown {
		about = "The sampler recorded no names of threads, so JIT and GC are in the last column."
	}
	v.Rule("Warm-Up")
	for _, line := range layout.Table(header, rows, aligns) {
		v.Line("%s", v.Cut(line))
	}
	v.EndRule()
	v.Paragraph("", fmt.Sprintf("Seconds since the JVM's start; all of the JVM's samples, in windows or not. %s "+
		"A JVM is warm from the moment on after which less than %.0f %% of its work is interpreted, in code of C1 that counts for C2 (levels 2, 3), or JIT. "+
		"Work is everything but GC and native.", about, 100*history.MaxCold))
	v.Line("")
}
