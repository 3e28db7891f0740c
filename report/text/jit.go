package text

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// jitSummary returns the lines of the overview about what the JIT compilers did.
func jitSummary(v *view.View) []string {
	j := v.Profile.JIT
	if j == nil {
		return nil
	}
	all, parts := byCompiler(j.Levels, v.Profile.TopCompiler())
	var lines, rest []string
	if all.Count > 0 {
		lines = append(lines, layout.Plural(all.Count, "compilation")+": "+strings.Join(parts, ", "))
	}
	if all.Discarded > 0 {
		rest = append(rest, fmt.Sprintf("%d discarded", all.Discarded))
	}
	if all.Failed > 0 {
		rest = append(rest, fmt.Sprintf("%d failed", all.Failed))
	}
	if j.MethodsAgain > 0 {
		rest = append(rest, layout.Plural(j.MethodsAgain, "method")+" compiled again")
	}
	if j.Deoptimizations > 0 {
		rest = append(rest, layout.Plural(j.Deoptimizations, "deoptimization"))
	}
	if len(rest) > 0 {
		lines = append(lines, strings.Join(rest, ", "))
	}
	var inside []string
	if all.Count > 0 {
		inside = append(inside, layout.Plural(all.Inside, "compilation"))
	}
	if j.Deoptimizations > 0 {
		inside = append(inside, layout.Plural(j.DeoptimizationsInside, "deoptimization"))
	}
	if len(inside) > 0 && (all.Inside < all.Count || j.DeoptimizationsInside < j.Deoptimizations) {
		lines = append(lines, "in the whole run; within the windows: "+strings.Join(inside, ", "))
	}
	return lines
}

// byCompiler sums up all compilations except wrappers. The texts in parts say, for each compiler, how many
// compilations it made, and how long they took.
func byCompiler(levels []warmup.Level, top string) (all warmup.Level, parts []string) {
	sums := []struct {
		compiler string
		warmup.Level
	}{{compiler: "by C1"}, {compiler: "by " + top}, {compiler: "of unknown level"}}
	for i := range levels {
		l, at := &levels[i], 0
		switch l.Level {
		case 0:
			continue
		case 4:
			at = 1
		case warmup.UnknownLevel:
			at = 2
		}
		sums[at].Add(l)
		all.Add(l)
	}
	for i := range sums {
		s := &sums[i]
		if s.Count == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", s.Count, s.compiler)
		switch {
		case s.Timed == s.Count:
			text += " in " + view.Seconds(s.Nanos)
		case s.Timed > 0:
			text += fmt.Sprintf(" (%d of them in %s)", s.Timed, view.Seconds(s.Nanos))
		}
		parts = append(parts, text)
	}
	return all, parts
}

// A jitTables writes the tables about the JIT compilers.
type jitTables struct {
	*view.View
	*warmup.JIT
	origin func(pid int) int64 // returns the time from which reports count the times of a JVM
}

// writeJIT writes the tables about the JIT compilers, if their events were recorded.
func writeJIT(v *view.View, origin func(pid int) int64) {
	if v.Profile.JIT == nil {
		return
	}
	t := jitTables{v, v.Profile.JIT, origin}
	t.longest()
	t.methods()
	t.again()
	t.deopts()
}

// at formats the time of an event, in seconds since the JVM's start.
func (t *jitTables) at(pid int, mono int64) string {
	return fmt.Sprintf("%.3f", float64(max(mono-t.origin(pid), 0))/1e9)
}

// star returns the mark of an event that began within a window. It returns "" if the windows are the whole run.
func (t *jitTables) star(inside bool) string {
	if inside && !t.WholeRun() {
		return "*"
	}
	return ""
}

// windowNote returns a sentence that explains the stars. It returns "" if the windows are the whole run.
func (t *jitTables) windowNote() string {
	if t.WholeRun() {
		return ""
	}
	return " * is within the window."
}

// shorten shortens the names of methods in one column of a table to the room that the other columns leave. The
// parameter name is the index of that column.
func (t *jitTables) shorten(header []string, rows [][]string, name int) {
	if t.Options.TableWidth == 0 {
		return
	}
	others := 0
	for i := range header {
		width := layout.Width(header[i])
		for _, row := range rows {
			width = max(width, layout.Width(row[i]))
		}
		if i != name {
			others += width + view.CellPadding
		}
	}
	for _, row := range rows {
		row[name] = layout.ShortMethod(row[name], max(t.Options.TableWidth-others-view.CellPadding, view.LeastName),
			t.Ellipsis())
	}
}

// table writes a table. The parameter name is the index of the column that has the names of methods.
func (t *jitTables) table(title string, header []string, rows [][]string, aligns []layout.Align, name int,
	note string) {
	t.shorten(header, rows, name)
	t.Rule(title)
	for _, line := range layout.Table(header, rows, aligns) {
		t.Line("%s", t.Cut(line))
	}
	t.EndRule()
	if note != "" {
		t.Paragraph("", note)
	}
	t.Line("")
}

// longest writes the longest compilations.
func (t *jitTables) longest() {
	if len(t.Longest) == 0 {
		return
	}
	var rows [][]string
	for _, c := range view.First(t.Longest, t.Options.Top) {
		about := warmup.LevelName(c.Level, c.Compiler, t.Profile.TopCompiler(), c.OSR) + t.InJVM(c.PID)
		if c.Failed {
			about += ", failed"
		}
		rows = append(rows, []string{view.TableMillis(c.Nanos), t.at(c.PID, c.MonoNanos) + t.star(c.Inside), numberOr(c.ID,
			"-"),
			numberOr(c.Size, "-"), numberOr(c.Inlined, "-"), about, c.Method})
	}
	right := layout.Right
	all, timed := t.counted()
	note :=
		"Times of the clock, which are longer if the compiler's thread had to wait for a processor. At is in seconds since the JVM's start." + t.windowNote()
	if timed < all {
		note += fmt.Sprintf(" The times of %d of %d compilations are not known: HotSpot's log has them, but no recording.",
			all-timed, all)
	}
	t.table("Longest Compilations", []string{"ms", "at", "id", "bytes", "inlined", "", ""}, rows,
		[]layout.Align{right, right, right, right, right, layout.Left, layout.Left}, 6, note)
}

// counted returns the number of compilations, and how many of them have a known time.
func (t *jitTables) counted() (all, timed int) {
	for _, l := range t.Levels {
		if l.Level != 0 {
			all, timed = all+l.Count, timed+l.Timed
		}
	}
	return all, timed
}

// numberOr returns a number as text. For 0, it returns the text in the parameter zero.
func numberOr(n int, zero string) string {
	if n == 0 {
		return zero
	}
	return strconv.Itoa(n)
}

// methods writes the methods that took most of the compilers' time.
func (t *jitTables) methods() {
	if len(t.Methods) == 0 {
		return
	}
	var all int64
	for _, l := range t.Levels {
		all += l.Nanos
	}
	var rows [][]string
	for _, m := range view.First(t.Methods, t.Options.Top) {
		share := ""
		if all > 0 && m.Nanos > 0 {
			share = fmt.Sprintf("%.1f%%", 100*float64(m.Nanos)/float64(all))
		}
		rows = append(rows, []string{share, view.TableMillis(m.Nanos), view.TableMillis(m.LongestNanos), numberOr(m.C1, ""),
			numberOr(m.C2, ""), m.Name})
	}
	right := layout.Right
	title, note := "JIT Time by Method", ""
	if all == 0 {
		title, note = "Compilations by Method", "The times of the compilations are not known."
	}
	if more := t.AllMethods - len(rows); more > 0 {
		note = strings.TrimSpace(note + " " + layout.Plural(more, "more method") + ".")
	}
	t.table(title, []string{"share", "ms", "longest", "C1", t.Profile.TopCompiler(), ""}, rows,
		[]layout.Align{right, right, right, right, right, layout.Left}, 5, note)
}

// again writes the methods that were compiled several times at the same level.
func (t *jitTables) again() {
	if len(t.Again) == 0 {
		return
	}
	var rows [][]string
	for i := range view.First(t.Again, t.Options.Top) {
		r := &t.Again[i]
		last := &r.Versions[len(r.Versions)-1]
		why := layout.CutEnd(causes(r), mostCause, t.Ellipsis())
		rows = append(rows, []string{strconv.Itoa(r.Count) + t.star(last.Inside), view.TableMillis(r.Nanos),
			warmup.LevelName(r.Level, r.Compiler, t.Profile.TopCompiler(), r.OSR) + t.InJVM(r.PID), r.Method, why})
	}
	right := layout.Right
	note :=
		"Several compilations at the same level. On the right: why HotSpot discarded the earlier code, and how often; blank if it has not said so." + t.windowNote()
	if more := t.AllAgain - len(rows); more > 0 {
		note += " " + layout.Plural(more, "more row") + "."
	}
	t.table("Compiled Again", []string{"times", "ms", "", "", ""}, rows,
		[]layout.Align{right, right, layout.Left, layout.Left, layout.Left}, 3, note)
}

// mostCause is the maximum width of the column of causes.
const mostCause = 34

// causes returns the reasons why HotSpot stopped using the versions of a method: "unstable_if 2, class_check".
func causes(r *warmup.Repetition) string {
	var parts []string
	for _, c := range r.Causes {
		text := cmp.Or(c.Reason, "discarded")
		if c.Count > 1 {
			text += " " + strconv.Itoa(c.Count)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// deopts writes the places at which execution went from compiled code to the interpreter.
func (t *jitTables) deopts() {
	if len(t.Deopts) == 0 {
		return
	}
	var rows, others [][]string
	for i := range view.First(t.Deopts, t.Options.Top) {
		d := &t.Deopts[i]
		rows = append(rows, []string{strconv.Itoa(d.Count) + t.star(d.Inside > 0), d.Method, lineAndBCI(d), d.Reason})
		others = append(others, append([]string{cmp.Or(d.Action, "unknown action")}, after(d, t.Profile.TopCompiler())...))
	}
	t.shorten([]string{"count", "", "", "reason"}, rows, 1)
	t.Rule("Deoptimizations")
	lines := layout.Table([]string{"count", "", "", "reason"}, rows,
		[]layout.Align{layout.Right, layout.Left, layout.Left, layout.Left})
	t.Line("%s", t.Cut(lines[0]))
	for i, line := range lines[1:] {
		t.Line("%s", t.Cut(line))
		t.Line("%s", t.Cut("         "+strings.Join(others[i], ", ")))
	}
	t.EndRule()
	note :=
		"@ is the index of the bytecode. A time is how long after it the method's next compilation at a level began (the median, and of how many)." + t.windowNote()
	if more := t.AllDeopts - len(rows); more > 0 {
		note += " " + layout.Plural(more, "more place") + "."
	}
	t.Paragraph("", note)
	t.Line("")
}

// lineAndBCI returns where in its method a deoptimization was: ":12 @37".
func lineAndBCI(d *warmup.Deopt) string {
	var at []string
	if d.Line > 0 {
		at = append(at, ":"+strconv.Itoa(d.Line))
	}
	if d.BCI >= 0 {
		at = append(at, "@"+strconv.Itoa(d.BCI))
	}
	return strings.Join(at, " ")
}

// The function after returns texts about the levels at which the code was compiled again after the deoptimizations at a
// place: "then level 3 after 0.012 s", "C2 after 0.310 s".
func after(d *warmup.Deopt, top string) (parts []string) {
	for i, a := range d.After {
		text := fmt.Sprintf("%s after %.3f s", strings.TrimPrefix(warmup.LevelName(a.Level, "", top, false), "C1, "),
			float64(a.MedianNanos)/1e9)
		if a.Count > 1 {
			text += fmt.Sprintf(" (of %d)", a.Count)
		}
		if i == 0 {
			text = "then " + text
		}
		parts = append(parts, text)
	}
	if d.Never > 0 {
		parts = append(parts, fmt.Sprintf("%d not compiled to that level again", d.Never))
	}
	if d.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d in code of which nothing is known", d.Unknown))
	}
	return parts
}
