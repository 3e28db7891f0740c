// Package listing lays out annotated code for terminals: the counts of each instruction, arrows for jumps, a margin
// with the names of inlined methods, addresses, instructions, and comments.
package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/arrows"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/report/text/counts"
)

const (
	maxArrowColumns = 12
	// The column of instructions is as wide as the longest instruction, within these limits (in characters). Comments
	// begin after it.
	minTextColumn = 28
	maxTextColumn = 40
	// If comments are folded, they begin further to the left. After an instruction that is longer than this, the
	// comment begins directly after the instruction.
	maxFoldedColumn = 32
)

// Options are the choices that a listing offers.
type Options struct {
	Comments       Comments
	DrawIntraJumps bool // draw arrows for the jumps within a region
	DrawInterJumps bool // mark jumps that leave the lines shown
	// Source returns the line of source that a method (pkg.Class::method) has at a line number. It is nil if there are no
	// sources.
	Source func(method string, line int) SourceLine
	// NativeSource returns a line of a file from which native code was made. It is nil if Source is nil.
	NativeSource func(file string, line int) SourceLine
}

// Comments says which of HotSpot's comments the report shows beside the instructions.
type Comments uint8

const (
	Folded Comments = iota // each inlining chain once, without what it has in common with the chain before
	Full                   // all, as HotSpot and perfasm print them
	None
)

// A writer has what is needed to write the listing of a region: the page, the formats of counts, and the options.
type writer struct {
	*layout.Page
	counts.Format
	opts Options
	p    *profile.Profile
	// row is called before the row of an instruction is written, with the index of its line. It may be nil.
	row func(line int)
}

// A listing lays out the rows of annotated code: counts, arrows, margin, address, instruction, comments.
type listing struct {
	writer
	noCounts string // blanks that are as wide as the counts
	gutter   arrows.Gutter
	margin   margin // empty if comments are folded
	address  string // the format of addresses
	column   int    // width of the instructions
	loops    regionLoops
	jit      jitNotes
}

// An instructionWriter writes instructions with their comments, in one of the forms of Options.Comments.
type instructionWriter interface {
	// instruction writes line i of the code.
	instruction(i int, l *code.Line)
}

// newListing lays out the instructions of a compiled method.
func newListing(w writer, method string, lines []code.Line) (*listing, instructionWriter) {
	glyphs := arrows.Unicode
	if w.ASCII {
		glyphs = arrows.ASCII
	}
	ls := &listing{writer: w, noCounts: w.Cells(nil), gutter: arrows.Layout(len(lines), jumps(w.opts, lines),
		maxArrowColumns, glyphs), jit: newJITNotes(lines)}
	if w.opts.Comments == Folded { // short addresses leave more room for the rows that name methods
		ls.address = "0x%012x:   "
		ls.column = min(textColumn(lines, func(l *code.Line) string { return l.Text }), maxFoldedColumn)
		return ls, &foldedComments{listing: ls, fold: newFold(method, w.Ellipsis())}
	}
	ls.address = "0x%016x:   "
	ls.margin = layoutMargin(lines, string(glyphs.Pass), w.Ellipsis())
	ls.column = textColumn(lines, lineText)
	return ls, fullComments{ls, new([]printassembly.Frame)}
}

// Write writes a region's annotated instructions, and how much each gap leaves out. p is the region's profile, and f
// formats its counts.
func Write(page *layout.Page, p *profile.Profile, f counts.Format, reg *profile.Region, o Options) {
	write(writer{Page: page, Format: f, opts: o, p: p}, reg)
}

// write writes a region's annotated instructions, and how much each gap leaves out.
func write(w writer, reg *profile.Region) {
	lines, gaps := reg.Lines, reg.Gaps
	if len(w.p.Counters) > 1 {
		w.Line("%s", w.Heads())
	}
	ls, instructions := newListing(w, reg.Method, lines)
	ls.loops = w.loopsOf(reg)
	writeJITProfile(w, reg, ls)
	for i := range lines {
		l := &lines[i]
		switch {
		case len(gaps) > 0 && gaps[0].Before == i:
			ls.gap(i-1, gaps[0])
			gaps = gaps[1:]
		case i > 0 && l.Lo > lines[i-1].Hi:
			w.Line("%s%s", ls.between(i-1), w.Ellipsis())
		}
		if l.Section != "" {
			w.Line("%s%s", ls.between(i-1), w.Paint(layout.Bold, "["+l.Section+"]"))
		}
		ls.loop(i, l.Lo)
		instructions.instruction(i, l)
	}
	for _, gap := range gaps {
		ls.gap(len(lines)-1, gap)
	}
	if n := ls.gutter.Dropped; n > 0 {
		w.Line("%s(%s not drawn)", ls.between(-1), layout.Plural(n, "more arrow"))
	}
}

// gap writes a row that says how many instructions are left out. The row comes after lines[above], or before the first
// line if above is -1.
func (ls *listing) gap(above int, gap profile.Gap) {
	text := ls.Ellipsis() + " " + layout.Plural(gap.Instructions, "instruction")
	if samples := strings.TrimSpace(ls.Cells(gap.Counts)); samples != "" {
		text += " with " + samples
	}
	ls.Line("%s%s", ls.between(above), ls.Paint(layout.Dim, text))
}

// row returns line i without its comments. text is the instruction.
func (ls *listing) row(i int, l *code.Line, text string) layout.Text {
	if ls.writer.row != nil {
		ls.writer.row(i)
	}
	heat := ls.Heat(l.Counts)
	return layout.Join(ls.Paint(heat, ls.Cells(l.Counts)), "  ", ls.gutter.At[i], "  ",
		ls.marginCell(ls.margin.atLine(i)),
		ls.addressCell(l.Lo), ls.Paint(heat, text))
}

// between returns the start of a row after lines[above], or before the first line if above is -1. It has blanks in
// place of counts, and the arrows and the margin continue from the line above it.
func (ls *listing) between(above int) layout.Text {
	drawn, method := strings.Repeat(" ", ls.gutter.Width), ""
	if above >= 0 {
		drawn, method = ls.gutter.After[above], ls.margin.afterLine(above)
	}
	return layout.Join(ls.noCounts, "  ", drawn, "  ", ls.marginCell(method))
}

// nextRow returns the start of a row with one more comment of line i.
func (ls *listing) nextRow(i int) layout.Text {
	return layout.Join(ls.between(i), strings.Repeat(" ", ls.addressWidth()))
}

// addressWidth returns the width of an address, in characters.
func (ls *listing) addressWidth() int { return len(fmt.Sprintf(ls.address, uint64(0))) }

// marginCell returns the text padded to the width of the margin, or nothing if there is no margin.
func (ls *listing) marginCell(text string) layout.Text {
	if ls.margin.width == 0 {
		return layout.Text{}
	}
	return layout.Join(ls.Paint(layout.Dim, text), strings.Repeat(" ", ls.margin.width-layout.Width(text)+2))
}

// arrowsEnd returns the width, in characters, of the counts and the arrows, with the blanks after them.
func (ls *listing) arrowsEnd() int { return layout.Width(ls.noCounts) + 2 + ls.gutter.Width + 2 }

// instructionColumn returns the width, in characters, of all that is to the left of the instructions.
func (ls *listing) instructionColumn() int {
	n := ls.arrowsEnd() + ls.addressWidth()
	if ls.margin.width > 0 {
		n += ls.margin.width + 2
	}
	return n
}

// lineText returns the instruction and the name of the code that it calls or jumps to. The name is left out if a
// comment has it, as in {runtime_call UncommonTrapBlob}.
func lineText(l *code.Line) string {
	named := func(comment string) bool { return strings.Contains(comment, l.TargetName) }
	if l.TargetName == "" || slices.ContainsFunc(l.Comments, named) {
		return l.Text
	}
	return l.Text + "  {" + l.TargetName + "}"
}

// textColumn returns the width of the column of instructions, in characters: that of the longest instruction that is
// not wider than maxTextColumn.
func textColumn(lines []code.Line, text func(*code.Line) string) int {
	column := minTextColumn
	for i := range lines {
		if n := layout.Width(text(&lines[i])); n <= maxTextColumn {
			column = max(column, n)
		}
	}
	return column
}

// jumps returns the arrows of the jumps that are to be drawn. The arrow of a jump that leaves the lines shown ends at
// -1 if it goes up, and at len(lines) if it goes down.
func jumps(o Options, lines []code.Line) []arrows.Arrow {
	var jumps []arrows.Arrow
	for i := range lines {
		l := &lines[i]
		if l.Target == 0 || (l.Kind != disasm.Jump && l.Kind != disasm.CondJump) {
			continue
		}
		to, found := slices.BinarySearchFunc(lines, l.Target, func(m code.Line, target uint64) int {
			return cmp.Compare(m.Lo, target)
		})
		switch {
		case found && o.DrawIntraJumps:
			jumps = append(jumps, arrows.Arrow{From: i, To: to})
		case !found && o.DrawInterJumps && l.Target < l.Lo:
			jumps = append(jumps, arrows.Arrow{From: i, To: -1})
		case !found && o.DrawInterJumps:
			jumps = append(jumps, arrows.Arrow{From: i, To: len(lines)})
		}
	}
	return jumps
}
