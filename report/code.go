package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	maxArrowColumns = 12
	// Comments stand in a column as far right as the longest instruction needs, within these limits.
	minTextColumn = 28
	maxTextColumn = 40
	addressWidth  = len("0x00007f0523ef2303:   ")
)

// hotRegions writes the annotated code of the hot regions.
func (r *textReport) hotRegions() {
	hot := slices.DeleteFunc(slices.Clone(r.p.Regions), func(reg profile.Region) bool { return !reg.Hot })
	if len(hot) == 0 && len(r.p.Regions) > 0 {
		return // no code is wanted
	}
	r.line("%s", r.paint(bold, fmt.Sprintf("Hottest code regions (>%.2f%% \"%s\" events):", 100*r.HotThreshold, strings.Join(r.p.Events, `" or "`))))
	if r.Counts == Raw {
		r.line(" Event counts are numbers of samples.")
	} else {
		r.line(" Event counts are percents of total event count.")
	}
	switch {
	case len(hot) == 0:
		r.line(" No sample fell into compiled code, stubs or the interpreter.")
	case !r.aboveThreshold(hot[0].Counts):
		r.line(" No region is that hot, so only the hottest one is shown.")
	}
	r.line("")
	for i := range hot {
		r.hotRegion(i+1, &hot[i])
	}
}

// aboveThreshold tells whether a region with these counts is hot in any event.
func (r *textReport) aboveThreshold(counts profile.Counts) bool {
	for e, n := range counts {
		if total := r.p.Accounts[e].Profiled; total > 0 && float64(n) >= r.HotThreshold*float64(total) {
			return true
		}
	}
	return false
}

func (r *textReport) hotRegion(number int, reg *profile.Region) {
	r.rule(fmt.Sprintf("Hottest Region %d", number))
	r.line("%s", reg.Source+", "+reg.Method+compileID(reg.CompileID)+r.inJVMs(reg.PIDs))
	r.line("")
	switch {
	case len(reg.Lines) > 0:
		r.code(reg.Lines)
	case reg.TooBig > 0:
		r.line("    (%s, more than --too-big-threshold allows)", plural(reg.TooBig, "line"))
	default:
		r.line("    (the log has no code for it)")
	}
	r.endRule()
	r.line("%s  %s", r.countCells(reg.Counts), fmt.Sprintf("<total for region %d>", number))
	r.line("")
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

// code writes annotated instructions.
func (r *textReport) code(lines []profile.Line) {
	if len(r.p.Events) > 1 {
		r.line("%s", r.eventCells())
	}
	gut := layoutArrows(len(lines), r.arrows(lines), maxArrowColumns, r.glyphs)
	noCounts := r.countCells(nil)
	// The rows of an instruction start with its counts, those between two instructions with blanks.
	between := func(above int) string {
		if above < 0 {
			return noCounts + strings.Repeat(" ", 2+gut.width+2)
		}
		return noCounts + "  " + gut.after[above] + "  "
	}
	column := textColumn(lines)
	for i := range lines {
		l := &lines[i]
		if i > 0 && l.Lo > lines[i-1].Hi {
			r.line("%s%s", between(i-1), r.glyphs.ellipsis)
		}
		if l.Section != "" {
			r.line("%s%s", between(i-1), r.paint(bold, "["+l.Section+"]"))
		}
		heat := r.heat(l.Counts)
		comments := lineComments(l)
		text := lineText(l)
		start := r.paint(heat, r.countCells(l.Counts)) + "  " + gut.at[i] + "  " + fmt.Sprintf("0x%016x:   ", l.Lo)
		if len(comments) > 0 && utf8.RuneCountInString(text) <= column {
			r.line("%s%s%s", start, r.paint(heat, text)+strings.Repeat(" ", column-utf8.RuneCountInString(text)), r.paint(dim, "  "+comments[0]))
			comments = comments[1:]
		} else {
			r.line("%s%s", start, r.paint(heat, text))
		}
		for _, c := range comments {
			r.line("%s%s%s", between(i), strings.Repeat(" ", addressWidth+column), r.paint(dim, "  "+c))
		}
	}
	if gut.dropped > 0 {
		r.line("%s(%s not drawn)", between(-1), plural(gut.dropped, "more arrow"))
	}
}

// lineText is the instruction with the name of what it calls, unless a comment has it: {runtime_call UncommonTrapBlob}.
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
		if n := utf8.RuneCountInString(lineText(&lines[i])); n <= maxTextColumn {
			column = max(column, n)
		}
	}
	return column
}

// lineComments are the comments of an instruction in HotSpot's order and look: bytecode, frames, relocations.
func lineComments(l *profile.Line) []string {
	var first, last []string
	for _, c := range l.Comments {
		switch c = strings.TrimSpace(c); {
		case strings.HasPrefix(c, "{"):
			last = append(last, ";   "+c)
		case strings.HasPrefix(c, "*"):
			first = append(first, ";"+c)
		default:
			first = append(first, "; "+c)
		}
	}
	if l.OwnFrames {
		for _, f := range l.Frames {
			first = append(first, "; - "+f.String())
		}
	}
	return append(first, last...)
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
		case found && r.DrawIntraJumps:
			arrows = append(arrows, arrow{i, to})
		case !found && r.DrawInterJumps && l.Target < l.Lo:
			arrows = append(arrows, arrow{i, -1})
		case !found && r.DrawInterJumps:
			arrows = append(arrows, arrow{i, len(lines)})
		}
	}
	return arrows
}

// countWidth is the width of event e's column beside code: perfasm's, or what the event's name takes.
func (r *textReport) countWidth(e int) int {
	const least = 8
	if len(r.p.Events) == 1 {
		return least
	}
	return max(least, utf8.RuneCountInString(r.p.Events[e])+2)
}

// countCells writes one column per event; counts may be nil for blank ones.
func (r *textReport) countCells(counts profile.Counts) string {
	var b strings.Builder
	for e := range r.p.Events {
		cell := ""
		if counts != nil {
			cell = r.amount(counts[e], e)
		}
		b.WriteString(padLeft(cell, r.countWidth(e)))
	}
	return b.String()
}

// eventCells are the headings of these columns.
func (r *textReport) eventCells() string {
	var b strings.Builder
	for e, name := range r.p.Events {
		b.WriteString(padLeft(name, r.countWidth(e)))
	}
	return b.String()
}
