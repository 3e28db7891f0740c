package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// library returns the table of what HotSpot's library did, or nil if nothing is known about that.
func (t *tableBuilder) library() *table {
	if !slices.ContainsFunc(t.p.VM, func(s vmwork.Share) bool {
		return s.Work != vmwork.Unknown &&
			s.Work != vmwork.NoThread
	}) {
		return nil
	}
	out := t.start("libjvm", "Work of HotSpot's library",
		"libjvm by what it did: the compilers' and the collector's threads, and of the other threads what the sampled function and its callers say", "work")
	for _, w := range t.r.Library {
		out.Rows = append(out.Rows, row{Cells: append(t.counts(w.Counts.Values, nil), cell{Text: show.Text(w.Work),
			Name: true})})
	}
	return t.cut(out, len(out.Rows))
}

// interpreted returns the table of the methods that the interpreter executed.
func (t *tableBuilder) interpreted() *table {
	out := t.start("interpreted", "Hottest interpreted methods",
		"samples in the interpreter by the method that it executed, where the call stack has it", "method", "hottest lines")
	for i := range t.r.Interpreted[:t.limit(len(t.r.Interpreted))] {
		m := &t.r.Interpreted[i]
		var lines []string
		for _, l := range m.Lines[:min(len(m.Lines), 3)] {
			if n := l.Counts.Values[0]; l.Line > 0 && n > 0 {
				lines = append(lines, fmt.Sprintf(":%d %s", l.Line, show.Percent(n, t.totals[0])))
			}
		}
		out.Rows = append(out.Rows, row{Link: cmp.Or(t.places.frame(m.Method), t.callsLink(m.Method)),
			Cells: append(t.counts(m.Counts.Values, nil), cell{Text: show.Text(m.Method), Name: true},
				cell{Text: strings.Join(lines, ", ")})})
	}
	return t.cut(out, len(t.r.Interpreted))
}

// jitTables returns the tables about the JIT compilers: a sum by level, the longest compilations, the methods that took
// most of the time, methods that were compiled again, and deoptimizations.
func (t *tableBuilder) jitTables() []*table {
	if t.r.JIT == nil {
		return nil
	}
	return []*table{t.jitLevels(), t.longest(), t.jitMethods(), t.again(), t.deopts()}
}

// levelCell returns a cell with the name of a level, in the colour of its compiler.
func (t *tableBuilder) levelCell(n int, compiler string, osr bool) cell {
	kind := "c1"
	switch {
	case n == 4 || compiler == "C2" || compiler == "JVMCI":
		kind = "c2"
	case n == 0:
		kind = "stub"
	}
	return cell{Text: show.Text(warmup.LevelName(n, compiler, t.p.TopCompiler(), osr)), Kind: kind}
}

// count returns a cell with a number of events. It is blank for 0.
func count(n int) cell {
	if n == 0 {
		return cell{Sort: "0"}
	}
	return number(strconv.Itoa(n), float64(n))
}

// known is like count, but shows "-" for 0, because 0 means that the number is unknown.
func known(n int) cell {
	if n == 0 {
		return number("-", 0)
	}
	return count(n)
}

// jvmCell returns a cell with the process id of a JVM.
func (t *tableBuilder) jvmCell(pid int) cell { return cell{Text: strconv.Itoa(pid)} }

// oneJVM removes the last column, which names the JVM, if the profile has only one.
func (t *tableBuilder) oneJVM(out *table) *table {
	if len(t.p.PIDs) < 2 {
		last := len(out.Columns) - 1
		out.Columns = out.Columns[:last]
		for i := range out.Rows {
			out.Rows[i].Cells = out.Rows[i].Cells[:last]
		}
	}
	return out
}

func (t *tableBuilder) jitLevels() *table {
	out := t.eventTable("jit", "JIT compilations",
		"by level, in the whole run; times are those of the clock, of the compilations whose times are known",
		[]string{"count", "in the window", "on-stack", "failed", "discarded", "ms", "timed", "kB of code"},
		[]string{"level"})
	for _, l := range t.r.JIT.Levels {
		out.Rows = append(out.Rows, row{Cells: []cell{count(l.Count), count(l.InWindow), count(l.OSR), count(l.Failed),
			count(l.Discarded), millis(l.TotalMS), count(l.Timed),
			number(fmt.Sprintf("%.0f", float64(l.Bytes)/1e3), float64(l.Bytes)), t.levelCell(l.Level, "", false)}})
	}
	return t.cut(out, len(out.Rows))
}

// star adds a * to the cell of an event within a window, unless the windows are the whole run.
func (t *tableBuilder) star(c cell, inside bool) cell {
	if inside && !t.p.JIT.WholeRun() {
		c.Text += "*"
	}
	return c
}

// moment returns a cell with a time since a JVM's start, in seconds.
func moment(ms float64) cell { return number(fmt.Sprintf("%.3f", ms/1e3), ms) }

func (t *tableBuilder) longest() *table {
	out := t.eventTable("longest", "Longest compilations",
		"of those whose times are known; at is in seconds since the JVM's start, * is within the window",
		[]string{"ms", "at", "id", "bytes", "inlined"}, []string{"level", "method", "discarded", "JVM"})
	for i := range t.r.JIT.Longest[:t.limit(len(t.r.JIT.Longest))] {
		c := &t.r.JIT.Longest[i]
		end := ""
		if c.Failed {
			end = "failed"
		}
		if c.End != nil {
			end = fmt.Sprintf("%.3f", c.End.AtMillis/1e3)
			for _, why := range []string{c.End.Reason, c.End.Trap} {
				if why != "" {
					end += ", " + why
				}
			}
		}
		out.Rows = append(out.Rows, row{Link: t.places.compilation(c.Method, c.CompileID),
			Cells: []cell{millis(c.MS), t.star(moment(c.AtMillis), c.InWindow), known(c.CompileID), known(c.Bytes),
				known(c.Inlined),
				t.levelCell(c.Level, c.Compiler, c.OSR), {Text: show.Text(c.Method), Name: true}, {Text: show.Text(end)},
				t.jvmCell(c.PID)}})
	}
	return t.cut(t.oneJVM(out), len(t.r.JIT.Longest))
}

func (t *tableBuilder) jitMethods() *table {
	out := t.eventTable("jit-methods", "JIT time by method",
		"compilations of each method in the whole run, and how long they took together",
		[]string{"ms", "longest", "C1", t.p.TopCompiler()}, []string{"method"})
	for i := range t.r.JIT.Methods[:t.limit(len(t.r.JIT.Methods))] {
		m := &t.r.JIT.Methods[i]
		out.Rows = append(out.Rows, row{Link: t.places.frame(m.Method),
			Cells: []cell{millis(m.TotalMS), millis(m.LongestMS), count(m.C1), count(m.C2),
				{Text: show.Text(m.Method), Name: true}}})
	}
	return t.cut(out, t.r.JIT.AllMethods)
}

func (t *tableBuilder) again() *table {
	out := t.eventTable("again", "Compiled again",
		"methods that were compiled several times at the same level, and what became of each version; times are in seconds since the JVM's start", []string{"ms", "times"}, []string{"level", "method", "versions", "JVM"})
	for i := range t.r.JIT.Again[:t.limit(len(t.r.JIT.Again))] {
		r := &t.r.JIT.Again[i]
		var versions []string
		for _, v := range r.Versions {
			text := fmt.Sprintf("%.3f", v.AtMillis/1e3)
			if v.End != nil {
				text += " " + cmp.Or(v.End.Trap, v.End.Reason, "discarded")
			}
			versions = append(versions, text)
		}
		out.Rows = append(out.Rows, row{Link: t.places.frame(r.Method),
			Cells: []cell{millis(r.TotalMS), count(r.Count), t.levelCell(r.Level, r.Compiler, r.OSR),
				{Text: show.Text(r.Method), Name: true}, {Text: show.Text(strings.Join(versions, "; "))}, t.jvmCell(r.PID)}})
	}
	return t.cut(t.oneJVM(out), t.r.JIT.AllAgain)
}

func (t *tableBuilder) deopts() *table {
	out := t.eventTable("deopts", "Deoptimizations",
		"where compiled code was left for the interpreter, and how long after it the method's next compilation at each level began; * is within the window", []string{"count"}, []string{"at", "reason", "action", "then"})
	for i := range t.r.JIT.Deopts[:t.limit(len(t.r.JIT.Deopts))] {
		d := &t.r.JIT.Deopts[i]
		at := site(d.At)
		if d.At.BCI >= 0 {
			at += fmt.Sprintf(" @%d %s", d.At.BCI, show.Text(d.Instruction))
		}
		out.Rows = append(out.Rows, row{Link: t.siteLink(d.At),
			Cells: []cell{t.star(count(d.Count), d.InWindow > 0), {Text: at, Name: true}, {Text: show.Text(d.Reason)},
				{Text: show.Text(d.Action)}, {Text: deoptAfter(d, t.p.TopCompiler())}}})
	}
	return t.cut(out, t.r.JIT.AllDeopts)
}

// deoptAfter returns a text that says at which levels the code was compiled again after the deoptimizations at a place,
// and how long after them.
func deoptAfter(d *schema.Deopt, top string) string {
	var parts []string
	for _, a := range d.After {
		text := fmt.Sprintf("%s after %.3f s", strings.TrimPrefix(warmup.LevelName(a.Level, "", top, false), "C1, "),
			a.MedianMS/1e3)
		if a.Count > 1 {
			text += fmt.Sprintf(" (median of %d)", a.Count)
		}
		parts = append(parts, text)
	}
	if d.Never > 0 {
		parts = append(parts, fmt.Sprintf("%d not compiled to that level again", d.Never))
	}
	if d.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d in code of which nothing is known", d.Unknown))
	}
	return strings.Join(parts, ", ")
}
