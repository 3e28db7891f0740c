package page

import (
	"fmt"

	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/report/callers"
	"github.com/gasm-profiler/gasm/report/page/show"
)

// Limits of the callers below a place. A caller is shown only if it has at least the share leastSiteCaller of the
// place's time or bytes. mostSiteCallers is the maximum number of lines.
const (
	leastSiteCaller = 0.05
	mostSiteCallers = 20
)

// A callerLine is a line below a place: one of its callers, or the number of callers that are left out.
type callerLine struct {
	Share  string // of the place's time or bytes; "" if the line above has the same share
	Indent int    // in characters
	Name   string
	Link   string // the id of an instruction, or ""
}

// callers returns the lines of the tree of a place's callers.
func (t *tableBuilder) callers(stacks []sites.Stack) (lines []callerLine) {
	tree := sites.Callers(stacks, calltree.Limits{Least: leastSiteCaller})
	if tree == nil {
		return nil
	}
	for _, l := range callers.Lines(tree, leastSiteCaller, mostSiteCallers) {
		line := callerLine{Indent: l.Indent, Name: "…"}
		if !l.Same {
			line.Share = show.Percent(l.Samples, tree.Nodes[0].Counts[0])
		}
		switch {
		case l.Node != nil:
			name, tail := callers.Name(l.Node)
			if l.Times > 1 {
				tail += fmt.Sprintf(" (%d times)", l.Times)
			}
			line.Name = show.Text(name + tail)
			line.Link = t.places.line(l.Node.Name, l.Node.Line)
		case l.Omitted > 0:
			line.Name = "(" + show.Count(l.Omitted, "other") + ")"
		}
		if l.Branch {
			line.Name = "- " + line.Name
		}
		lines = append(lines, line)
	}
	return lines
}
