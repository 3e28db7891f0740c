package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	maxArrowColumns = 12
	// Comments are in a column as far to the right as the longest instruction needs, within these limits.
	minTextColumn = 28
	maxTextColumn = 40
	addressWidth  = len("0x00007f0523ef2303:   ")
)

// hotRegions writes the annotated code of the hot regions.
func (r *textReport) hotRegions() {
	hot := slices.DeleteFunc(slices.Clone(r.p.Regions), func(reg profile.Region) bool { return !reg.Hot })
	if len(hot) == 0 && len(r.p.Regions) > 0 {
		return // with --skip-asm no region is hot
	}
	r.Line("%s", r.Paint(layout.Bold, fmt.Sprintf("Hottest code regions (>%.2f%% \"%s\" events):", 100*r.p.HotThreshold, strings.Join(r.p.Events, `" or "`))))
	r.Line(" %s", r.countsUnit())
	switch {
	case len(hot) == 0:
		r.Line(" No sample fell into compiled code, stubs or the interpreter.")
	case !r.p.IsHot(hot[0].Counts):
		r.Line(" No region is that hot, so only the hottest one is shown.")
	}
	r.Line("")
	for i := range hot {
		r.hotRegion(i+1, &hot[i])
	}
}

func (r *textReport) hotRegion(number int, reg *profile.Region) {
	r.Rule(fmt.Sprintf("Hottest Region %d", number))
	r.Line("%s", reg.Source+", "+reg.Method+compileID(reg.CompileID)+r.inJVMs(reg.PIDs)+r.safepointsOnly(reg))
	r.Line("")
	switch {
	case len(reg.Lines) > 0:
		r.code(reg.Lines)
	case reg.TooBig > 0:
		r.Line("    (%s: more than --too-big-threshold lets through)", layout.Plural(reg.TooBig, "instruction"))
	default:
		r.Line("    (the log has no code for it)")
	}
	r.EndRule()
	r.Line("%s  %s", r.countCells(reg.Counts), fmt.Sprintf("<total for region %d>", number))
	r.Line("")
}

// safepointsOnly marks a listing of a JVM without DebugNonSafepoints.
func (r *textReport) safepointsOnly(reg *profile.Region) string {
	sparse := func(pid int) bool {
		j := r.jvm(pid)
		return j.SafepointsOnly
	}
	if reg.CompileID == 0 || !slices.ContainsFunc(reg.PIDs, sparse) {
		return ""
	}
	return " (lines are those of the next safepoint)"
}

// compileID is ", compile id 586", or nothing for code that has none.
func compileID(id int) string {
	if id == 0 {
		return ""
	}
	return ", compile id " + strconv.Itoa(id)
}

// inJVMs tells in how many JVMs merged code was seen, and in which, unless they are a trial's forks.
func (r *textReport) inJVMs(pids []int) string {
	switch {
	case len(pids) < 2:
		return ""
	case r.p.Trial != "":
		return fmt.Sprintf(", in %d forks", len(pids))
	}
	var list []string
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	return fmt.Sprintf(", in %d JVMs (pids %s)", len(pids), strings.Join(list, ", "))
}

// A listing is how the rows of annotated code are laid out: counts, arrows, margin, address, instruction, comments.
type listing struct {
	noCounts string
	gutter   gutter
	margin   margin
	column   int // width of the instructions
}

// code writes annotated instructions.
func (r *textReport) code(lines []profile.Line) {
	if len(r.p.Events) > 1 {
		r.Line("%s", r.eventCells())
	}
	ls := listing{noCounts: r.countCells(nil), column: textColumn(lines), margin: layoutMargin(lines, string(r.glyphs.pass), r.Ellipsis()),
		gutter: layoutArrows(len(lines), r.arrows(lines), maxArrowColumns, r.glyphs)}
	for i := range lines {
		l := &lines[i]
		if i > 0 && l.Lo > lines[i-1].Hi {
			r.Line("%s%s", r.between(&ls, i-1), r.Ellipsis())
		}
		if l.Section != "" {
			r.Line("%s%s", r.between(&ls, i-1), r.Paint(layout.Bold, "["+l.Section+"]"))
		}
		r.instruction(&ls, i, l)
	}
	if n := ls.gutter.dropped; n > 0 {
		r.Line("%s(%s not drawn)", r.between(&ls, -1), layout.Plural(n, "more arrow"))
	}
}

// instruction writes line i: a row, and one for each comment behind the first.
func (r *textReport) instruction(ls *listing, i int, l *profile.Line) {
	heat := r.heat(l.Counts)
	text := lineText(l)
	row := layout.Join(r.Paint(heat, r.countCells(l.Counts)), "  ", ls.gutter.at[i], "  ", r.marginCell(ls, ls.margin.at[i]),
		fmt.Sprintf("0x%016x:   ", l.Lo), r.Paint(heat, text))
	width := layout.Width(text)
	comments := r.comments(ls, l)
	if width > ls.column || len(comments) == 0 { // no room for a comment in this row
		r.Line("%s", row)
		row, width = r.nextRow(ls, i), 0
	}
	for _, c := range comments {
		r.Line("%s%s%s", row, strings.Repeat(" ", ls.column-width), c)
		row, width = r.nextRow(ls, i), 0
	}
}

// between begins a row that is between two instructions: it has blanks in the place of counts, and the arrows and the
// margin that go on from the line above.
func (r *textReport) between(ls *listing, above int) layout.Text {
	if above < 0 {
		return layout.Join(ls.noCounts, strings.Repeat(" ", 2+ls.gutter.width+2), r.marginCell(ls, ""))
	}
	return layout.Join(ls.noCounts, "  ", ls.gutter.after[above], "  ", r.marginCell(ls, ls.margin.after[above]))
}

// nextRow begins a row with one more comment of line i.
func (r *textReport) nextRow(ls *listing, i int) layout.Text {
	return layout.Join(r.between(ls, i), strings.Repeat(" ", addressWidth))
}

// marginCell is text padded to the width of the margin; nothing when there is no margin.
func (r *textReport) marginCell(ls *listing, text string) layout.Text {
	if ls.margin.width == 0 {
		return layout.Text{}
	}
	return layout.Join(r.Paint(layout.Dim, text), strings.Repeat(" ", ls.margin.width-layout.Width(text)+2))
}

// lineText is the instruction with the name of the code that it calls or jumps to. The name is left out when a comment
// has it, as in {runtime_call UncommonTrapBlob}.
func lineText(l *profile.Line) string {
	named := func(comment string) bool { return strings.Contains(comment, l.TargetName) }
	if l.TargetName == "" || slices.ContainsFunc(l.Comments, named) {
		return l.Text
	}
	return l.Text + "  {" + l.TargetName + "}"
}

// textColumn finds the width of the column for instructions.
func textColumn(lines []profile.Line) int {
	column := minTextColumn
	for i := range lines {
		if n := layout.Width(lineText(&lines[i])); n <= maxTextColumn {
			column = max(column, n)
		}
	}
	return column
}

// comments are an instruction's comments, in HotSpot's order and look: bytecode, frames, relocations. Behind the innermost
// frame is its line of Java, where there are sources.
func (r *textReport) comments(ls *listing, l *profile.Line) []layout.Text {
	var first, last []layout.Text
	for _, c := range l.Comments {
		switch c = strings.TrimSpace(c); {
		case strings.HasPrefix(c, "{"):
			last = append(last, r.Paint(layout.Dim, "  ;   "+c))
		case strings.HasPrefix(c, "*"):
			first = append(first, r.Paint(layout.Dim, "  ;"+c))
		default:
			first = append(first, r.Paint(layout.Dim, "  ; "+c))
		}
	}
	if l.OwnFrames {
		for i, f := range l.Frames {
			text := "  ; - " + f.String()
			source := ""
			if i == 0 {
				source = r.sourceLine(f, r.commentColumn(ls)+layout.Width(text))
			}
			first = append(first, layout.Join(r.Paint(layout.Dim, text), source))
		}
	}
	return append(first, last...)
}

// commentColumn is the number of columns before the comments.
func (r *textReport) commentColumn(ls *listing) int {
	n := layout.Width(ls.noCounts) + 2 + ls.gutter.width + 2 + addressWidth + ls.column
	if ls.margin.width > 0 {
		n += ls.margin.width + 2
	}
	return n
}

// sourceLine is the line of Java of a frame whose comment ends at a column. It is cut to the width of the terminal, but
// not so short that it can't be recognized.
func (r *textReport) sourceLine(f printassembly.Frame, column int) string {
	const (
		gap   = "    "
		least = 40
		most  = 100
	)
	if r.o.Source == nil || f.Line <= 0 {
		return ""
	}
	text := r.o.Source(f.Method, f.Line)
	if text == "" {
		return ""
	}
	room := most
	if r.Width > 0 {
		room = min(max(r.Width-column-len(gap), least), most)
	}
	return gap + layout.CutEnd(text, room, r.Ellipsis())
}

// arrows finds the jumps to draw.
func (r *textReport) arrows(lines []profile.Line) []arrow {
	var arrows []arrow
	for i := range lines {
		l := &lines[i]
		if l.Target == 0 || (l.Kind != disasm.Jump && l.Kind != disasm.CondJump) {
			continue
		}
		to, found := slices.BinarySearchFunc(lines, l.Target, func(m profile.Line, target uint64) int {
			return cmp.Compare(m.Lo, target)
		})
		switch {
		case found && r.o.DrawIntraJumps:
			arrows = append(arrows, arrow{i, to})
		case !found && r.o.DrawInterJumps && l.Target < l.Lo:
			arrows = append(arrows, arrow{i, -1})
		case !found && r.o.DrawInterJumps:
			arrows = append(arrows, arrow{i, len(lines)})
		}
	}
	return arrows
}

// countWidth is the width of the column of event e beside code: perfasm's 8, or what the event's name takes.
func (r *textReport) countWidth(e int) int {
	const least = 8
	if len(r.p.Events) == 1 {
		return least
	}
	return max(least, layout.Width(r.p.Events[e])+2)
}

// countCells writes one column per event; counts may be nil for blank ones.
func (r *textReport) countCells(counts profile.Counts) string {
	var b strings.Builder
	for e := range r.p.Events {
		cell := ""
		if counts != nil {
			cell = r.amount(counts[e], e)
		}
		b.WriteString(layout.PadLeft(cell, r.countWidth(e)))
	}
	return b.String()
}

// eventCells are the headings of these columns.
func (r *textReport) eventCells() string {
	var b strings.Builder
	for e, name := range r.p.Events {
		b.WriteString(layout.PadLeft(name, r.countWidth(e)))
	}
	return b.String()
}
