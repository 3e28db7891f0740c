package report

import (
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

// comments are an instruction's comments, in HotSpot's order and look: bytecode, frames, relocations. Behind the innermost
// frame is its line of source, where there are sources.
func (r *textReport) comments(ls *listing, l *profile.Line) []layout.Text {
	if r.o.Comments == None {
		return nil
	}
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
	n := layout.Width(ls.noCounts) + 2 + ls.gutter.Width + 2 + ls.addressWidth() + ls.column
	if ls.margin.width > 0 {
		n += ls.margin.width + 2
	}
	return n
}

// sourceLine is the line of source of a frame whose comment ends at a column. It is cut to the width of the terminal, but
// not so short that it can't be recognized.
func (r *textReport) sourceLine(f printassembly.Frame, column int) string {
	const (
		gap   = "    "
		least = 40
		most  = 100
	)
	found := r.source(f)
	if found.Text == "" {
		return ""
	}
	text := found.Text
	if place := found.elsewhere(f); place != "" {
		text = strings.TrimSpace(place) + "  " + text
	}
	room := most
	if r.Width > 0 {
		room = min(max(r.Width-column-len(gap), least), most)
	}
	return gap + layout.CutEnd(text, room, r.Ellipsis())
}
