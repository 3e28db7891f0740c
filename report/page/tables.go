package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// A table is one of the tables in the overview.
type table struct {
	ID, Title, Note string
	Columns         []column
	Rows            []row
	Shown           int // the number of rows that are shown until the user asks for all
	More            string
	Whole           bool // true if the table has no counts by part (time slice and thread group)
}

// A column is the heading of one column in a table. If Number is true, the column is sorted by number, the largest
// first.
type column struct {
	Name   string
	Number bool
	Sorted bool // whether the rows are sorted by this column at first
	Event  int
}

// A row has a cell for each column of a table.
type row struct {
	Cells []cell
	Link  string // the id of an instruction ("c3-1a0") or of a profile ("p1"); "" for no link
}

// A cell is text, or a number of samples with its share.
type cell struct {
	Text  string
	Count bool
	Raw   int64
	Event int
	Unit  string // the unit in which the number is always written; "" for the chosen unit
	Width string // the width of its bar, in percent
	Kind  string // the kind of code, for the colour of a source
	Name  bool   // whether the cell is the row's name, which is also the link
	// Callers are the callers of the place that the cell names. They are shown when the user asks for them.
	Callers []callerLine
	Code    bool   // whether the text is an instruction
	Cut     string // the whole text, if the shown text is cut when it is too long
	About   string // an explanation of the row's name; "" for none
	Parts   string // the samples by part, see partText
	Sort    string // the text or number by which the cell is sorted; "" for Text
}

// maxRows is the maximum number of rows in a table, unless --top asks for more.
const maxRows = 100

// A tableBuilder builds the tables of one profile.
type tableBuilder struct {
	b      *builder
	p      *profile.Profile
	r      *schema.Profile
	places *places
	totals []int64
}

// tables returns the tables of a profile that have rows.
func (b *builder) tables(p *profile.Profile, r *schema.Profile, at *places, totals []int64) []*table {
	t := &tableBuilder{b, p, r, at, totals}
	all := []*table{t.hotTable(), t.loopTable(), t.notInlined(), t.methods(), t.frames(), t.lines(), t.regions(),
		t.interpreted(), t.native(), t.library(), t.threads(), t.probes(), t.events(), t.locks(), t.parks(), t.allocations(),
		t.compilations(), t.hosts(), t.jvms(), t.forks(), t.sources(), t.account()}
	all = slices.Insert(all, slices.IndexFunc(all, func(t *table) bool {
		return t != nil &&
			strings.HasSuffix(t.ID, "-compilations")
	})+1, t.jitTables()...)
	all = slices.Insert(all, slices.IndexFunc(all, func(t *table) bool {
		return t != nil &&
			strings.HasSuffix(t.ID, "-events")
	})+1, t.waitTables()...)
	all = slices.DeleteFunc(all, func(t *table) bool { return t == nil || len(t.Rows) == 0 })
	for _, table := range all {
		table.Whole = !slices.ContainsFunc(table.Rows, func(r row) bool { return r.Cells[0].Parts != "" })
	}
	return all
}

// start returns a table without rows. Its first columns have the numbers of samples, one column for each event.
func (t *tableBuilder) start(id, title, note string, columns ...string) *table {
	out := &table{ID: "p" + strconv.Itoa(t.b.listingProfile(t.p)) + "-" + id, Title: title, Note: note}
	for e, event := range t.r.Account.Events {
		name := show.Text(event)
		if len(t.r.Account.Events) == 1 {
			name = "self"
		}
		out.Columns = append(out.Columns, column{Name: name, Number: true, Sorted: e == 0, Event: e})
	}
	for _, c := range columns {
		out.Columns = append(out.Columns, column{Name: c})
	}
	return out
}

// listingProfile returns the number of a profile in the page.
func (b *builder) listingProfile(p *profile.Profile) int {
	for i := range b.in.Profiles.Trials {
		if p == &b.in.Profiles.Trials[i] {
			return i
		}
	}
	return 0
}

// counts returns a cell for the samples of each event. byPart has the same samples by part (time slice and thread
// group); it is nil if their parts are unknown.
func (t *tableBuilder) counts(c []int64, byPart parts.Counts) []cell {
	cells := make([]cell, 0, len(c)+3)
	for e, n := range c {
		cells = append(cells, t.count(n, e, byPart))
	}
	return cells
}

// count returns a cell with samples of one event.
func (t *tableBuilder) count(n int64, e int, byPart parts.Counts) cell {
	return cell{Text: show.Percent(n, t.totals[e]), Count: true, Raw: n, Event: e, Sort: strconv.FormatInt(n, 10),
		Parts: partText(byPart, e)}
}

// parts returns the parts of the profile. The Parts are empty if the profile is not divided into parts.
func (t *tableBuilder) parts() *profile.Parts {
	if t.p.Parts == nil {
		return &profile.Parts{}
	}
	return t.p.Parts
}

// cut finishes a table: it sets the lengths of the bars, the number of rows that are shown at first, and a note about
// rows that are left out. The parameter full is the number of rows that the table would have without a limit.
func (t *tableBuilder) cut(out *table, full int) *table {
	scaleBars(out)
	out.Shown = len(out.Rows)
	const first = 12
	if len(out.Rows) > first+3 {
		out.Shown = first
	}
	if full > len(out.Rows) {
		out.More = fmt.Sprintf("the page has %d of %d rows; --top 0 has all", len(out.Rows), full)
	}
	return out
}

// scaleBars sets the lengths of the bars. For each event, the cell with the most samples in the table gets the longest
// bar.
func scaleBars(out *table) {
	most := map[int]int64{}
	for _, r := range out.Rows {
		for _, c := range r.Cells {
			most[c.Event] = max(most[c.Event], c.Raw)
		}
	}
	for _, r := range out.Rows {
		for i := range r.Cells {
			if c := &r.Cells[i]; c.Count {
				c.Width = show.Portion(c.Raw, most[c.Event])
			}
		}
	}
}

// limit returns how many of n rows a table shows. With --top 0 it shows all of them. Otherwise it shows at most
// maxRows, or more if --top is larger than that.
func (t *tableBuilder) limit(n int) int {
	if t.b.in.Top == 0 {
		return n
	}
	return min(n, max(maxRows, t.b.in.Top))
}

// methods returns the table of compiled methods, stubs, codelets and native functions, the hottest one first.
func (t *tableBuilder) methods() *table {
	out := t.start("methods", "Hottest methods",
		"as compiled, including everything inlined into them; native functions are ranked with them", "kind", "name")
	type item struct {
		counts schema.Counts
		row    row
	}
	var items []item
	dispatch := false // whether there are stubs that find the methods of virtual calls
	for _, m := range t.r.Methods {
		tail := ""
		if m.Blobs > 1 && m.CompileID != 0 {
			tail = ", " + show.Count(m.Blobs, "compilation")
		}
		link, about := t.places.method(m.Source, m.Name), names.Dispatch(m.Name)
		if about != "" {
			dispatch = true
			link = cmp.Or(link, t.callsLink(m.Name)) // a link to its callers
		}
		items = append(items, item{m.Counts, row{Link: link,
			Cells: append(t.counts(m.Counts.Values, t.parts().Methods[[2]string{m.Source, m.Name}]),
				cell{Text: show.Text(m.Source), Kind: kindOf(m.Source)},
				cell{Text: show.Text(m.Name + tail), Name: true, About: about})}})
	}
	for _, n := range t.r.Native {
		items = append(items, item{n.Counts, row{Link: cmp.Or(t.places.method(n.Module, n.Symbol), t.callsLink(n.Symbol)),
			Cells: append(t.counts(n.Counts.Values, t.parts().Native[[2]string{n.Module, n.Symbol}]),
				cell{Text: show.Text(n.Module), Kind: kindOf(n.Module)},
				cell{Text: show.Text(cmp.Or(n.Symbol, "(no symbol)")), Name: true})}})
	}
	slices.SortStableFunc(items, func(a, b item) int { return slices.Compare(b.counts.Values, a.counts.Values) })
	for _, it := range items[:t.limit(len(items))] {
		out.Rows = append(out.Rows, it.row)
	}
	if dispatch {
		out.Note += "; itbl[n] and vtbl[n] find the methods of calls that were not inlined"
		if t.r.Calls != nil {
			out.Note += ", see the table of these calls"
		}
	}
	return t.cut(out, len(items))
}

// regions returns the table of regions: runs of sampled instructions.
func (t *tableBuilder) regions() *table {
	out := t.start("regions", "Hottest regions", "runs of sampled instructions within one piece of code", "kind", "region",
		"instructions from")
	for _, r := range t.r.Regions[:t.limit(len(t.r.Regions))] {
		name := r.Method
		if r.CompileID > 0 {
			name += ", compile id " + strconv.Itoa(r.CompileID)
		}
		if r.Moved {
			name += ", moved"
		}
		out.Rows = append(out.Rows, row{Link: t.places.instruction(r.Source, r.Method, r.CompileID, uint64(r.Lo)),
			Cells: append(t.counts(r.Counts.Values, t.places.regionParts(&r)),
				cell{Text: show.Text(r.Source), Kind: kindOf(r.Source)}, cell{Text: show.Text(name), Name: true},
				cell{Text: fmt.Sprintf("0x%x", uint64(r.Lo))})})
	}
	return t.cut(out, len(t.r.Regions))
}

// frames returns the table of Java methods as they are in the source, without inlining.
func (t *tableBuilder) frames() *table {
	note, totalOf := "total for every method of its inlining chain", func(f *schema.Frames) (int64,
		parts.Counts) {
		return f.Total.Values[0], t.parts().Totals[f.Method]
	}
	if t.p.Stacks != nil {
		note, totalOf = "total for every method of its call stack", func(f *schema.Frames) (int64, parts.Counts) {
			return f.WithCallees.Values[0], t.parts().WithCallees[f.Method]
		}
	}
	out := t.start("frames", "Hottest frames",
		"inlining undone: self counts an instruction for the innermost Java method that it was made from, "+note, "total",
		"method", "hottest lines")
	at := len(t.r.Account.Events)
	out.Columns[at].Number = true
	frames := t.hottestFrames(func(f *schema.Frames) int64 { n, _ := totalOf(f); return n })
	for _, f := range frames {
		var lines []string
		for _, l := range f.Lines[:min(len(f.Lines), 3)] {
			if n := l.Counts.Values[0]; l.Line > 0 && n > 0 {
				lines = append(lines, fmt.Sprintf("%s:%d %s", t.places.mark(f.Method, l.Line), l.Line, show.Percent(n,
					t.totals[0])))
			}
		}
		total, byPart := totalOf(&f)
		out.Rows = append(out.Rows, row{Link: cmp.Or(t.places.frame(f.Method), t.callsLink(f.Method)),
			Cells: append(t.counts(f.Counts.Values, t.parts().Frames[f.Method]), t.count(total, 0, byPart),
				cell{Text: guessMark(f.Guessed) + show.Text(f.Method), Name: true}, cell{Text: strings.Join(lines, ", ")})})
	}
	return t.cut(out, len(t.r.Frames))
}

// hottestFrames returns the frames that the table shows. First come those with the most samples of their own, the
// hottest first. After them come other frames that are among those with the highest totals. So the first rows are right
// whether the table is sorted by self or by total.
func (t *tableBuilder) hottestFrames(total func(*schema.Frames) int64) []schema.Frames {
	limit := t.limit(len(t.r.Frames))
	frames := slices.Clone(t.r.Frames[:limit])
	rest := t.r.Frames[limit:]
	if len(rest) == 0 {
		return frames
	}
	totals := make([]int64, 0, len(t.r.Frames))
	for i := range t.r.Frames {
		totals = append(totals, total(&t.r.Frames[i]))
	}
	slices.Sort(totals)
	least := totals[len(totals)-limit]
	for i := range rest {
		if total(&rest[i]) > least {
			frames = append(frames, rest[i])
		}
	}
	return frames
}

// instead returns the end of a note: which line the table shows for an instruction if HotSpot kept no line for it.
func (t *tableBuilder) instead() string {
	if slices.ContainsFunc(t.b.in.Profiles.Capture.JVMs, func(j capture.JVM) bool { return j.SafepointsOnly }) {
		return "it is a guess"
	}
	return "the line of the next instruction that has one is shown"
}

// guessMark returns a mark for a method if some of its samples may belong to another method. guessed has the number of
// these samples. If it is nil, guessMark returns "".
func guessMark(guessed *schema.Counts) string {
	if guessed == nil {
		return ""
	}
	return printassembly.GuessMark
}

// lines returns the table of lines of Java, with their text if there are sources.
func (t *tableBuilder) lines() *table {
	columns := []string{"line", "text"}
	if t.b.in.Place == nil {
		columns = columns[:1]
	}
	out := t.start("lines", "Hottest lines", "of Java, in whichever compiled methods they are", columns...)
	type line struct {
		method string
		schema.LineTotal
	}
	var all []line
	for _, f := range t.r.Frames {
		for _, l := range f.Lines {
			if l.Line > 0 {
				all = append(all, line{f.Method, l})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b line) int {
		return cmp.Or(slices.Compare(b.Counts.Values, a.Counts.Values), cmp.Compare(a.method, b.method),
			cmp.Compare(a.Line, b.Line))
	})
	borrowed := false
	for _, l := range all[:t.limit(len(all))] {
		name := t.places.mark(l.method, l.Line) + show.Text(l.method) + ":" + strconv.Itoa(l.Line)
		borrowed = borrowed || strings.HasPrefix(name, borrowedMark)
		if at := t.b.sources.Find(l.method, l.Line); at.Moved && at.File != nil {
			name += show.Text(fmt.Sprintf(" (%s:%d)", path.Base(at.File.Name), at.Line))
		}
		cells := append(t.counts(l.Counts.Values, t.parts().Lines[profile.MethodLine{Method: l.method, Line: l.Line}]),
			cell{Text: name, Name: true})
		if len(columns) > 1 {
			cells = append(cells, cell{Text: t.b.sources.Line(l.method, l.Line)})
		}
		out.Rows = append(out.Rows, row{Link: t.places.line(l.method, l.Line), Cells: cells})
	}
	if borrowed {
		out.Note += "; ~: HotSpot kept no line for most of these samples' instructions, so " + t.instead()
	}
	return t.cut(out, len(all))
}

// native returns the table of native functions.
func (t *tableBuilder) native() *table {
	out := t.start("native", "Native functions", "outside the code cache", "module", "function")
	for _, n := range t.r.Native[:t.limit(len(t.r.Native))] {
		out.Rows = append(out.Rows, row{Link: cmp.Or(t.places.method(n.Module, n.Symbol), t.callsLink(n.Symbol)),
			Cells: append(t.counts(n.Counts.Values, t.parts().Native[[2]string{n.Module, n.Symbol}]),
				cell{Text: show.Text(n.Module), Kind: kindOf(n.Module)},
				cell{Text: show.Text(cmp.Or(n.Symbol, "(no symbol)")), Name: true})})
	}
	return t.cut(out, len(t.r.Native))
}

// threads returns the table of threads.
func (t *tableBuilder) threads() *table {
	out := t.start("threads", "Threads", "by name, without the number at its end", "kind", "thread")
	for _, k := range t.r.Threads {
		for _, thread := range k.Threads {
			out.Rows = append(out.Rows, row{Cells: append(t.counts(thread.Counts.Values, t.parts().ByThread[thread.Name]),
				cell{Text: show.Text(k.Kind)}, cell{Text: show.Text(cmp.Or(thread.Name, "(no name)")), Name: true})})
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b row) int { return cmp.Compare(b.Cells[0].Raw, a.Cells[0].Raw) })
	full := len(out.Rows)
	out.Rows = out.Rows[:t.limit(full)]
	return t.cut(out, full)
}

// compilations returns the table of the compilations of the hottest methods.
func (t *tableBuilder) compilations() *table {
	out := t.start("compilations", "Compilations of the hottest methods",
		"each version of their code; times are in seconds since the JVM's start, * is within the window", "kind", "method",
		"compile id", "JVM", "made", "discarded", "why")
	several := len(t.p.PIDs) > 1
	if !several {
		out.Columns = slices.DeleteFunc(out.Columns, func(c column) bool { return c.Name == "JVM" })
	}
	seconds := func(millis int64, inside bool) string {
		text := fmt.Sprintf("%.3f", float64(millis)/1000)
		if inside {
			text += "*"
		}
		return text
	}
	for i := range t.p.Compilations {
		c := &t.p.Compilations[i]
		made, left, why := "before", "", "" // "before" means before gasm attached to the JVM
		if !c.MadeBefore() {
			made = seconds(c.MadeMillis, c.MadeInside)
			if c.MadeByMillis > c.MadeMillis {
				made = fmt.Sprintf("%.3f to ", float64(c.MadeMillis)/1000) + seconds(c.MadeByMillis, c.MadeInside)
			}
		}
		if c.Ended != nil {
			left, why = seconds(c.Ended.UptimeMillis, c.EndedInside), strings.Trim(c.Ended.Reason+", "+c.Ended.Trap, ", ")
		}
		id := strconv.Itoa(c.CompileID)
		if c.Moved > 0 {
			id += ", moved"
		}
		cells := append(t.counts(c.Counts, nil), cell{Text: show.Text(c.Source), Kind: kindOf(c.Source)},
			cell{Text: show.Text(c.Method), Name: true}, cell{Text: id})
		if several {
			cells = append(cells, cell{Text: strconv.Itoa(c.PID)})
		}
		out.Rows = append(out.Rows, row{Link: t.places.compilation(c.Method, c.CompileID),
			Cells: append(cells, cell{Text: made}, cell{Text: left}, cell{Text: show.Text(why)})})
	}
	for i := range out.Columns {
		out.Columns[i].Sorted = false // rows are ordered by method and time
	}
	return t.cut(out, len(out.Rows))
}

// jvms returns the table of the profile's JVMs, or nil if there is only one.
func (t *tableBuilder) jvms() *table {
	if len(t.r.JVMs) < 2 {
		return nil
	}
	out :=
		t.start("jvms", "JVMs", "where the samples of each were: Java is code in the code cache, native is code outside it",
			"JVM", "Java", "JIT", "GC", "native")
	for i := range out.Columns[len(t.r.Account.Events)+1:] {
		out.Columns[len(t.r.Account.Events)+1+i].Number = true
	}
	for _, j := range t.r.JVMs {
		name := "pid " + strconv.Itoa(j.PID)
		for _, c := range t.b.in.Profiles.Capture.JVMs {
			if c.PID == j.PID {
				name = c.String()
			}
		}
		cells := append(t.counts(j.Counts.Values, nil), cell{Text: show.Text(name), Name: true})
		for _, c := range []schema.Counts{j.Java, j.JIT, j.GC, j.Native} {
			if len(c.Values) == 0 {
				cells = append(cells, cell{})
				continue
			}
			cells = append(cells, t.count(c.Values[0], 0, nil))
		}
		out.Rows = append(out.Rows, row{Cells: cells})
	}
	full := len(out.Rows)
	out.Rows = out.Rows[:t.limit(full)]
	return t.cut(out, full)
}

// forks returns a table that compares the JVMs of a trial. For each of the hottest methods, it has the method's share
// in each JVM. The result is nil if there is nothing to compare.
func (t *tableBuilder) forks() *table {
	const most, methods = 10, 15
	uncompared := func(m schema.Method) bool { return m.PerJVM == nil }
	if t.r.Trial == "" || len(t.r.JVMs) < 2 || slices.ContainsFunc(t.r.Methods, uncompared) {
		return nil
	}
	out := &table{ID: "p" + strconv.Itoa(t.b.listingProfile(t.p)) + "-forks", Title: "Forks compared",
		Note: "the hottest methods' shares of each JVM's own samples, for the first event"}
	jvms := t.r.JVMs[:min(len(t.r.JVMs), most)]
	for _, j := range jvms {
		name := "pid " + strconv.Itoa(j.PID)
		for _, c := range t.b.in.Profiles.Capture.JVMs {
			if c.PID == j.PID && c.Fork > 0 {
				name = "fork " + strconv.Itoa(c.Fork)
			}
		}
		out.Columns = append(out.Columns, column{Name: name, Number: true})
	}
	out.Columns = append(out.Columns, column{Name: "kind"}, column{Name: "name"})
	for _, m := range t.r.Methods[:min(len(t.r.Methods), methods)] {
		var cells []cell
		for i, j := range jvms {
			n, of := m.PerJVM[i].Values[0], j.Counts.Values[0]
			cells = append(cells, cell{Text: cmp.Or(show.Percent(n, of), "0.00%"),
				Sort: strconv.FormatFloat(float64(n)/float64(max(of, 1)), 'f', 6, 64)})
		}
		out.Rows = append(out.Rows, row{Link: t.places.method(m.Source, m.Name), Cells: append(cells,
			cell{Text: show.Text(m.Source), Kind: kindOf(m.Source)}, cell{Text: show.Text(m.Name), Name: true})})
	}
	out.Shown = len(out.Rows)
	if left := len(t.r.JVMs) - len(jvms); left > 0 {
		out.More = show.Count(left, "more JVM") + " without a column"
	}
	return out
}

// sources returns the table of compilers, libraries and the kernel.
func (t *tableBuilder) sources() *table {
	out := t.start("sources", "Distribution by source", "compilers, libraries, the kernel", "source")
	for _, s := range t.r.Sources {
		out.Rows = append(out.Rows, row{Cells: append(t.counts(s.Counts.Values, t.parts().Sources[s.Source]),
			cell{Text: show.Text(s.Source), Kind: kindOf(s.Source), Name: true})})
	}
	return t.cut(out, len(out.Rows))
}

// shownIf says when a row of the account is shown.
type shownIf uint8

const (
	always shownIf = iota
	// anySamples is for rows that are shown only if they have samples. Such a row has none unless a flag such as
	// --under was used, or HotSpot printed the code.
	anySamples
	anyStacks // the profile has call stacks
)

// account returns the table that says how many samples were taken, and what became of them.
func (t *tableBuilder) account() *table {
	out := &table{ID: "p" + strconv.Itoa(t.b.listingProfile(t.p)) + "-account", Title: "Account of samples",
		Note: "both sums are exact: the rows with one dot add up to taken, the rows with two dots to in the profile"}
	for e, event := range t.r.Account.Events {
		name := show.Text(event)
		if len(t.r.Account.Events) == 1 {
			name = "samples"
		}
		out.Columns = append(out.Columns, column{Name: name, Number: true, Event: e})
	}
	out.Columns = append(out.Columns, column{Name: "what became of them"})
	if t.p.Stacks != nil {
		out.Note += ", and so do those with three"
	}
	for _, line := range []struct {
		name  string
		shown shownIf
		count func(a *schema.Account) int64
	}{
		{"taken", always, func(a *schema.Account) int64 { return a.Total }},
		{"· other processes, JVMs and trials", always, func(a *schema.Account) int64 { return a.OtherProcess }},
		{"· outside the window", always, func(a *schema.Account) int64 { return a.OutsideWindow }},
		{"· other threads", always, func(a *schema.Account) int64 { return a.OtherThread }},
		{"· outside the method", anySamples, func(a *schema.Account) int64 { return a.OutsideMethod }},
		{"· not under the method", anySamples, func(a *schema.Account) int64 { return a.NotUnder }},
		{"· gasm's printing (HotSpot)", anySamples, func(a *schema.Account) int64 { return a.Printing }},
		{"· lost", always, func(a *schema.Account) int64 { return a.Lost }},
		{"· in the profile", always, func(a *schema.Account) int64 { return a.Profiled }},
		{"·· compiled code", always, func(a *schema.Account) int64 { return a.Compiled }},
		{"·· stubs", always, func(a *schema.Account) int64 { return a.Stub }},
		{"·· interpreter", always, func(a *schema.Account) int64 { return a.Interpreter }},
		{"·· native code", always, func(a *schema.Account) int64 { return a.Native }},
		{"·· kernel", always, func(a *schema.Account) int64 { return a.Kernel }},
		{"·· unresolved", always, func(a *schema.Account) int64 { return a.Unresolved }},
		{"··· stack whole", anyStacks, func(a *schema.Account) int64 { return a.StackWhole }},
		{"··· stack cut", anyStacks, func(a *schema.Account) int64 { return a.StackCut }},
		{"··· stack frozen", anyStacks, func(a *schema.Account) int64 { return a.StackFrozen }},
		{"··· stack not walked", anyStacks, func(a *schema.Account) int64 { return a.StackUnwalked }},
	} {
		var r row
		samples := int64(0)
		for i := range t.r.Account.Values {
			n := line.count(&t.r.Account.Values[i])
			samples += n
			r.Cells = append(r.Cells, cell{Text: strconv.FormatInt(n, 10), Sort: strconv.FormatInt(n, 10)})
		}
		if line.shown == anySamples && samples == 0 || line.shown == anyStacks && t.p.Stacks == nil {
			continue
		}
		r.Cells = append(r.Cells, cell{Text: line.name, Name: true})
		out.Rows = append(out.Rows, r)
	}
	out.Shown = len(out.Rows)
	return out
}
