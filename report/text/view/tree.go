package view

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/report/callers"
)

const (
	LeastCaller  = 0.05  // part of a frame's samples that a caller needs to be shown
	MostCallers  = 20    // lines below a frame
	CallerIndent = "   " // before the lines below a frame
)

// CellWidth is the width, in characters, of the number before a line of a tree.
const CellWidth = 7

// WriteTree writes the lines of a tree. cell formats the number before a line.
func WriteTree(v *View, lines []callers.Line, indent string, cell func(samples int64) string) {
	for _, l := range lines {
		number := layout.PadLeft("", CellWidth)
		if !l.Same {
			number = cell(l.Samples)
		}
		head := indent + number + "  " + strings.Repeat(" ", l.Indent)
		if l.Branch {
			head += "- "
		}
		switch {
		case l.Node != nil:
			name, tail := callers.Name(l.Node)
			if l.Times > 1 {
				tail += fmt.Sprintf(" (%d times)", l.Times)
			}
			v.Line("%s", v.Cut(head+ShortFrame(v, l.Node, name, layout.Width(head+tail))+tail))
		case l.Omitted > 0:
			v.Line("%s(%s)", head, layout.Plural(l.Omitted, "other"))
		default:
			v.Line("%s%s", head, v.Ellipsis())
		}
	}
}

// ShortFrame shortens the name of a frame to the width of the terminal. The parameter used is the width of the rest of
// its line, in characters.
func ShortFrame(v *View, n *calltree.Node, name string, used int) string {
	if v.Options.TableWidth == 0 {
		return name
	}
	room := max(v.Options.TableWidth-used, LeastName)
	if n.Java() {
		return layout.ShortMethod(name, room, v.Ellipsis())
	}
	return layout.ShortMiddle(name, room, v.Ellipsis())
}
