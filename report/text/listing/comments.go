package listing

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
)

// fullComments writes instructions with all of their comments, as HotSpot and perfasm do. With the option None, it
// writes them without comments.
type fullComments struct {
	*listing
	last *[]printassembly.Frame // the frames of the previous instruction
}

// instruction writes line i: a row with the instruction and, if there is room, the first comment. Each other comment
// has a row of its own.
func (c fullComments) instruction(i int, l *code.Line) {
	text, comments := lineText(l), c.comments(l)
	row, width := c.row(i, l, text), layout.Width(text)
	if width > c.column || len(comments) == 0 { // no room for a comment in this row
		c.Line("%s", row)
		row, width = c.nextRow(i), 0
	}
	for _, comment := range comments {
		c.Line("%s%s%s", row, strings.Repeat(" ", c.column-width), comment)
		row, width = c.nextRow(i), 0
	}
}

// comments returns an instruction's comments in HotSpot's order and form: bytecode, frames, relocations. If there are
// sources, the comment with the innermost frame also has the line of source.
func (c fullComments) comments(l *code.Line) []layout.Text {
	if c.opts.Comments == None {
		return nil
	}
	var first, last []layout.Text
	for _, comment := range l.Comments {
		switch comment = strings.TrimSpace(comment); {
		case strings.HasPrefix(comment, "{"):
			last = append(last, c.Paint(layout.Dim, "  ;   "+comment))
		case strings.HasPrefix(comment, "*"):
			first = append(first, c.Paint(layout.Dim, "  ;"+comment))
		default:
			first = append(first, c.Paint(layout.Dim, "  ; "+comment))
		}
	}
	if l.OwnFrames && !c.repeats(l) {
		for i, f := range l.Frames {
			text := "  ; - " + f.String()
			source := ""
			if i == 0 {
				source = c.sourceLine(f, c.instructionColumn()+c.column+layout.Width(text))
			}
			first = append(first, layout.Join(c.Paint(layout.Dim, text), source))
		}
	}
	if note := c.jit.note(l); note != "" {
		last = append(last, c.Paint(layout.Dim, "  ; "+note))
	}
	return append(first, last...)
}

// repeats reports whether an instruction of native code has the same frames as the one before. Debug information of
// native code has lines for ranges, and not for single instructions.
func (c fullComments) repeats(l *code.Line) bool {
	same := len(l.Frames) > 0 && l.Frames[0].File != "" && slices.Equal(l.Frames, *c.last)
	*c.last = l.Frames
	return same
}

// sourceLine returns the source text of a frame, which is written after the frame's comment. column is where the
// comment ends. The text is cut at the edge of the terminal, but at least 40 characters are kept, so that a reader can
// recognize the line.
func (c fullComments) sourceLine(f printassembly.Frame, column int) string {
	const (
		gap   = "    "
		least = 40
		most  = 100
	)
	found := c.opts.Line(f)
	if found.Text == "" {
		return ""
	}
	text := found.Text
	if place := found.elsewhere(f); place != "" {
		text = strings.TrimSpace(place) + "  " + text
	}
	room := most
	if c.Width > 0 {
		room = min(max(c.Width-column-len(gap), least), most)
	}
	return gap + layout.CutEnd(text, room, c.Ellipsis())
}
