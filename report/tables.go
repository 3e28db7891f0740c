package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// regionTable ranks regions of code and native functions.
func (r *textReport) regionTable() ranking {
	t := ranking{title: "Hottest Regions", more: "warm region"}
	same := map[string]int{}
	key := func(reg *profile.Region) string { return reg.Source + " " + reg.Method + compileID(reg.CompileID) }
	for i := range r.p.Regions {
		same[key(&r.p.Regions[i])]++
	}
	inOrder(r.p.Regions, r.p.Native, func(reg *profile.Region) profile.Counts { return reg.Counts }, func(reg *profile.Region, n *profile.NativeFunction) {
		if n != nil {
			r.addNative(&t, n)
			return
		}
		r.add(&t, reg.Counts, func() rankingRow {
			row := rankingRow{source: reg.Source, name: reg.Method, tail: compileID(reg.CompileID)}
			if same[key(reg)] > 1 { // parts of one method
				if r.narrow() {
					row.tail = ""
				}
				row.tail += fmt.Sprintf(", at 0x%x", reg.Lo)
			}
			return row
		})
	})
	t.rest = r.outside(&t)
	return t
}

// methodTable ranks compiled methods, stubs, the interpreter's code and native functions.
func (r *textReport) methodTable() ranking {
	t := ranking{title: "Hottest Methods (after inlining)", more: "warm method"}
	inOrder(r.p.Methods, r.p.Native, func(m *profile.Method) profile.Counts { return m.Counts }, func(m *profile.Method, n *profile.NativeFunction) {
		if n != nil {
			r.addNative(&t, n)
			return
		}
		r.add(&t, m.Counts, func() rankingRow {
			row := rankingRow{source: m.Source, name: m.Name, tail: compileID(m.CompileID)}
			if m.Blobs > 1 && m.CompileID != 0 { // the many bodies of a stub or codelet are no compilations
				row.tail = ", " + layout.Plural(m.Blobs, "compilation")
			}
			return row
		})
	})
	t.rest = r.outside(&t)
	return t
}

// inOrder visits pieces of code and native functions, hottest first. Each of the lists is
// ordered so. One of visit's arguments is nil.
func inOrder[T any](code []T, native []profile.NativeFunction, counts func(*T) profile.Counts, visit func(*T, *profile.NativeFunction)) {
	for len(code)+len(native) > 0 {
		if len(native) == 0 || len(code) > 0 && slices.Compare(counts(&code[0]), native[0].Counts) >= 0 {
			visit(&code[0], nil)
			code = code[1:]
		} else {
			visit(nil, &native[0])
			native = native[1:]
		}
	}
}

// addNative adds a native function.
func (r *textReport) addNative(t *ranking, n *profile.NativeFunction) {
	r.add(t, n.Counts, func() rankingRow { return rankingRow{source: n.Module, name: symbol(n), native: true} })
}

// symbol is the name of a native function.
func symbol(n *profile.NativeFunction) string { return cmp.Or(n.Symbol, "(no symbol)") }

// outside are the rows for all samples that are not in a table's rows: with them it adds up to 100 %.
func (r *textReport) outside(t *ranking) []rankingRow {
	unresolved, skipped := r.zero(), r.zero()
	for e, a := range r.p.Accounts {
		unresolved[e] = a.Unresolved
		skipped[e] = a.Profiled - a.Unresolved - t.sum(0, e)
	}
	return []rankingRow{
		{counts: skipped, name: "<left out by --skip-interpreter or --skip-vm-stubs>"},
		{counts: unresolved, name: "<addresses of unknown code>"},
	}
}

// zero makes counts without samples.
func (r *textReport) zero() profile.Counts { return make(profile.Counts, len(r.p.Events)) }

// frameTable ranks Java methods, with inlining undone.
func (r *textReport) frameTable() ranking {
	t := ranking{title: "Hottest Frames (inlining undone, by self)", more: "warm frame", about: "compiled code", totals: true}
	frames := r.p.Frames
	if r.o.Sort == ByTotal {
		t.title = "Hottest Frames (inlining undone, by total)"
		frames = slices.Clone(frames)
		slices.SortStableFunc(frames, func(a, b profile.FrameTotal) int { return slices.Compare(b.Total, a.Total) })
	}
	for i := range frames {
		f := &frames[i]
		r.add(&t, f.Counts, func() rankingRow {
			return rankingRow{total: f.Total, name: f.Method, details: r.hottestLines(f.Lines)}
		})
	}
	return t
}

// minor tells which frames without samples of their own are left out. All others have as
// much in total as makes a region hot.
func (r *textReport) minor(counts, total profile.Counts) bool {
	return r.p.Share(counts) < 0.01 && r.p.Share(total) < max(r.p.HotThreshold, 0.01)
}

// hottestLines lists the hottest lines of a frame by the first event: ":12 61.8%, :14 3.1%, 2 more".
func (r *textReport) hottestLines(lines []profile.LineTotal) string {
	most := 3
	if r.narrow() {
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
		cells = append(cells, ":"+number+" "+amount)
	}
	if more := len(lines) - len(cells); more > 0 && len(cells) > 0 {
		cells = append(cells, fmt.Sprintf("%d more", more))
	}
	return strings.Join(cells, ", ")
}

// narrow tells whether a terminal has no room for what can be left out.
func (r *textReport) narrow() bool { return r.o.TableWidth > 0 && r.o.TableWidth < layout.RuleWidth }

func (r *textReport) nativeTable() ranking {
	t := ranking{title: "Hottest Native Functions", more: "warm function"}
	for i := range r.p.Native {
		r.addNative(&t, &r.p.Native[i])
	}
	return t
}

func (r *textReport) sourceTable() ranking {
	t := ranking{title: "Distribution by Source", more: "source", all: true}
	for _, s := range r.p.Sources {
		r.add(&t, s.Counts, func() rankingRow { return rankingRow{name: s.Source, native: true} })
	}
	return t
}
