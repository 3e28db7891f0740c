package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/arrows"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	maxArrowColumns = 12
	// Comments are in a column as far to the right as the longest instruction needs, within these limits.
	minTextColumn = 28
	maxTextColumn = 40
	// Folded comments are closer, and those of longer instructions stand behind these.
	maxFoldedColumn = 32
)

// A hotspot is what one heading of the annotated code is about: a region or, without code,
// a native function.
type hotspot struct {
	source, name string
	counts       profile.Counts
	region       *profile.Region // nil for a native function
}

// annotated are the regions that were chosen, and the native functions that are as hot,
// hottest first. None is there when no code is wanted.
func (r *textReport) annotated() []hotspot {
	var regions []profile.Region
	for i := range r.p.Regions {
		if r.p.Regions[i].Hot {
			regions = append(regions, r.p.Regions[i])
		}
	}
	if len(regions) == 0 && len(r.p.Regions) > 0 {
		return nil
	}
	var all []hotspot
	inOrder(regions, r.p.Native, func(reg *profile.Region) profile.Counts { return reg.Counts }, func(reg *profile.Region, n *profile.NativeFunction) {
		switch {
		case n == nil:
			all = append(all, hotspot{reg.Source, reg.Method, reg.Counts, reg})
		case r.p.IsHot(n.Counts):
			all = append(all, hotspot{n.Module, symbol(n), n.Counts, nil})
		}
	})
	return all
}

// hotRegions writes the annotated code of the hot regions.
func (r *textReport) hotRegions() {
	hot := r.annotated()
	if len(hot) == 0 && len(r.p.Regions) > 0 {
		return // with --skip-asm
	}
	r.Line("%s", r.Paint(layout.Bold, fmt.Sprintf("Hottest code regions (>%.2f%% \"%s\" events):", 100*r.p.HotThreshold, strings.Join(r.p.Events, `" or "`))))
	r.Line(" %s", r.countsUnit())
	above := 0
	for above < len(hot) && r.p.IsHot(hot[above].counts) {
		above++
	}
	switch {
	case len(r.p.Regions) == 0:
		r.Line(" No sample fell into compiled code, stubs or the interpreter.")
	case above == 0:
		r.Line(" No region is that hot. Shown are the hottest ones whose code is known.")
	case above < len(hot):
		r.Line(" Below these are the hottest regions of the hottest methods, which are less hot.")
	}
	if n := r.p.TooFew; n > 0 {
		r.Paragraph(" ", fmt.Sprintf("Left out, for too few samples to tell anything: %s (--min-samples 1 shows all).", layout.Plural(n, "region")))
	}
	r.Line("")
	for i := range hot {
		r.hotRegion(i+1, &hot[i])
	}
}

func (r *textReport) hotRegion(number int, h *hotspot) {
	r.Rule(fmt.Sprintf("Hottest Region %d", number))
	if reg := h.region; reg == nil {
		r.Line("%s", h.source+", "+r.headingName(h.name, layout.ShortMiddle, layout.Width(h.source)+2))
		r.Line("")
		r.Line("    (native code, which is not in HotSpot's log)")
	} else {
		tail := compileID(reg.CompileID) + r.inJVMs(reg.PIDs) + r.safepointsOnly(reg)
		r.Line("%s", reg.Source+", "+r.headingName(reg.Method, layout.ShortMethod, layout.Width(reg.Source)+2+layout.Width(tail))+tail)
		if reg.TooBig > 0 && len(reg.Lines) > 0 {
			r.tooBig(reg)
		}
		r.Line("")
		switch {
		case len(reg.Lines) > 0:
			r.code(reg)
		case reg.TooBig > 0:
			r.Line("    (%s: more than --too-big-threshold lets through)", layout.Plural(reg.TooBig, "instruction"))
		default:
			r.Line("    (the log has no code for it)")
		}
	}
	r.EndRule()
	r.Line("%s  %s", r.countCells(h.counts), fmt.Sprintf("<total for region %d>", number))
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

// headingName is a name above annotated code. It is shortened where there is a terminal, on
// which the line has so many other columns.
func (r *textReport) headingName(name string, short func(name string, width int, ellipsis string) string, others int) string {
	if r.Width == 0 {
		return name
	}
	return short(name, max(r.Width-others, leastName), r.Ellipsis())
}

// tooBig says of a region what is left out.
func (r *textReport) tooBig(reg *profile.Region) {
	left, counts := 0, r.zero()
	for _, gap := range reg.Gaps {
		left += gap.Instructions
		counts.Add(gap.Counts)
	}
	r.Paragraph("note: ", fmt.Sprintf("%s has %d instructions in this region: the %d around the hottest ones are shown, %d with %s of the samples are left out "+
		"(--too-big-threshold %d shows all)", reg.Method, reg.TooBig, len(reg.Lines), left, shareOf(counts[0], r.p.Accounts[0].Profiled), reg.TooBig))
}

// compileID is ", compile id 586", or nothing for code that has none.
func compileID(id int) string {
	if id == 0 {
		return ""
	}
	return ", compile id " + strconv.Itoa(id)
}

// A listing is how the rows of annotated code are laid out: counts, arrows, margin, address, instruction, comments.
type listing struct {
	noCounts string
	gutter   arrows.Gutter
	margin   margin
	address  string // the format of addresses
	column   int    // width of the instructions
	text     func(l *profile.Line) string
	fold     *fold // nil where comments are not folded
}

// newListing lays out annotated instructions of a compiled method.
func (r *textReport) newListing(method string, lines []profile.Line) *listing {
	ls := &listing{noCounts: r.countCells(nil), address: "0x%016x:   ", text: lineText,
		gutter: arrows.Layout(len(lines), r.jumps(lines), maxArrowColumns, r.glyphs)}
	if r.o.Comments == Folded { // these name the methods, and take more room
		ls.address = "0x%012x:   "
		ls.text = func(l *profile.Line) string { return l.Text }
		ls.fold = newFold(method, r.Ellipsis())
	} else {
		ls.margin = layoutMargin(lines, string(r.glyphs.Pass), r.Ellipsis())
	}
	ls.column = textColumn(lines, ls.text)
	if ls.fold != nil {
		ls.column = min(ls.column, maxFoldedColumn)
	}
	return ls
}

// code writes a region's annotated instructions, and what the gaps leave out.
func (r *textReport) code(reg *profile.Region) {
	lines, gaps := reg.Lines, reg.Gaps
	if len(r.p.Events) > 1 {
		r.Line("%s", r.eventCells())
	}
	ls := r.newListing(reg.Method, lines)
	for i := range lines {
		l := &lines[i]
		switch {
		case len(gaps) > 0 && gaps[0].Before == i:
			r.gap(ls, i-1, gaps[0])
			gaps = gaps[1:]
		case i > 0 && l.Lo > lines[i-1].Hi:
			r.Line("%s%s", r.between(ls, i-1), r.Ellipsis())
		}
		if l.Section != "" {
			r.Line("%s%s", r.between(ls, i-1), r.Paint(layout.Bold, "["+l.Section+"]"))
		}
		if ls.fold != nil {
			r.foldedLine(ls, i, l)
		} else {
			r.instruction(ls, i, l, r.comments(ls, l))
		}
	}
	for _, gap := range gaps {
		r.gap(ls, len(lines)-1, gap)
	}
	if n := ls.gutter.Dropped; n > 0 {
		r.Line("%s(%s not drawn)", r.between(ls, -1), layout.Plural(n, "more arrow"))
	}
}

// gap says what is left out behind a line.
func (r *textReport) gap(ls *listing, above int, gap profile.Gap) {
	text := r.Ellipsis() + " " + layout.Plural(gap.Instructions, "instruction")
	if samples := strings.TrimSpace(r.countCells(gap.Counts)); samples != "" {
		text += " with " + samples
	}
	r.Line("%s%s", r.between(ls, above), r.Paint(layout.Dim, text))
}

// instruction writes line i: a row, and one for each comment behind the first.
func (r *textReport) instruction(ls *listing, i int, l *profile.Line, comments []layout.Text) {
	text := ls.text(l)
	row, width := r.row(ls, i, l, text), layout.Width(text)
	if width > ls.column || len(comments) == 0 { // no room for a comment in this row
		r.Line("%s", row)
		row, width = r.nextRow(ls, i), 0
	}
	for _, c := range comments {
		r.Line("%s%s%s", row, strings.Repeat(" ", ls.column-width), c)
		row, width = r.nextRow(ls, i), 0
	}
}

// row is line i without its comments.
func (r *textReport) row(ls *listing, i int, l *profile.Line, text string) layout.Text {
	heat := r.heat(l.Counts)
	return layout.Join(r.Paint(heat, r.countCells(l.Counts)), "  ", ls.gutter.At[i], "  ", r.marginCell(ls, ls.marginAt(i)),
		fmt.Sprintf(ls.address, l.Lo), r.Paint(heat, text))
}

// marginAt is what the margin has at line i.
func (ls *listing) marginAt(i int) string {
	if ls.margin.width == 0 {
		return ""
	}
	return ls.margin.at[i]
}

// between begins a row that is between two instructions: it has blanks in the place of counts, and the arrows and the
// margin that go on from the line above.
func (r *textReport) between(ls *listing, above int) layout.Text {
	if above < 0 || ls.margin.width == 0 {
		drawn := layout.Join(strings.Repeat(" ", ls.gutter.Width))
		if above >= 0 {
			drawn = layout.Join(ls.gutter.After[above])
		}
		return layout.Join(ls.noCounts, "  ", drawn, "  ", r.marginCell(ls, ""))
	}
	return layout.Join(ls.noCounts, "  ", ls.gutter.After[above], "  ", r.marginCell(ls, ls.margin.after[above]))
}

// nextRow begins a row with one more comment of line i.
func (r *textReport) nextRow(ls *listing, i int) layout.Text {
	return layout.Join(r.between(ls, i), strings.Repeat(" ", ls.addressWidth()))
}

// addressWidth is how many columns addresses take.
func (ls *listing) addressWidth() int { return len(fmt.Sprintf(ls.address, uint64(0))) }

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
func textColumn(lines []profile.Line, text func(*profile.Line) string) int {
	column := minTextColumn
	for i := range lines {
		if n := layout.Width(text(&lines[i])); n <= maxTextColumn {
			column = max(column, n)
		}
	}
	return column
}

// jumps finds the jumps to draw.
func (r *textReport) jumps(lines []profile.Line) []arrows.Arrow {
	var jumps []arrows.Arrow
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
			jumps = append(jumps, arrows.Arrow{From: i, To: to})
		case !found && r.o.DrawInterJumps && l.Target < l.Lo:
			jumps = append(jumps, arrows.Arrow{From: i, To: -1})
		case !found && r.o.DrawInterJumps:
			jumps = append(jumps, arrows.Arrow{From: i, To: len(lines)})
		}
	}
	return jumps
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
