package events

import (
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/callers"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// A place is where threads waited or the program allocated. The report shows its callers.
type place struct {
	share, at, about string // share: of the table's time or bytes; about: the class waited for or allocated
	stacks           []sites.Stack
}

// writeCallersOfWaits writes the callers of the places where threads waited longest.
func writeCallersOfWaits(v *view.View, title, of string, waits []sites.Wait) {
	_, total, _ := waited(waits)
	var places []place
	for i := range waits[:min(v.Options.SiteCallers, len(waits))] {
		s := &waits[i]
		places = append(places, place{amount.ShareOf(s.Nanos, total).String(), site(v, s.Frame), v.Short(s.Class, false),
			s.Stacks})
	}
	writeSiteCallers(v, title, of, ofEvents, places)
}

// ofEvents says why callers of events are missing.
const ofEvents = "Flight Recorder keeps the innermost frames of a deep stack (64, or -XX:FlightRecorderOptions=stackdepth=N), " +
	"and USDT's allocations have only what was inlined"

// writeSiteCallers writes a small tree of callers for each of the places. It writes nothing if no place has a stack.
// The parameter named of is the word for what the tree divides among the callers, for example "waits". whyCut says why
// callers may be missing.
func writeSiteCallers(v *view.View, title, of, whyCut string, places []place) {
	if !slices.ContainsFunc(places, func(p place) bool { return len(p.stacks) > 0 }) {
		return
	}
	v.Rule(title + unrecorded(v))
	cut := false
	for _, p := range places {
		v.Line("%s", v.Cut(layout.PadLeft(p.share, view.CellWidth)+"  "+p.at+"  "+p.about))
		lines := callersOf(v, p.stacks)
		cut = cut || slices.ContainsFunc(lines, func(l callers.Line) bool {
			return l.Node != nil &&
				l.Node.Kind == callstack.Cut
		})
		v.Line("")
	}
	note :=
		fmt.Sprintf("Below a place are its callers, from the nearest to the outermost one, with their shares of the place's %s. "+
			"A line without a number has the same share as the line above; a - begins each of several callers. Callers with less than %.0f%% are left out.", of, 100*view.LeastCaller)
	if cut {
		note += " [cut] is in place of callers that are not known: " + whyCut + "."
	}
	v.Paragraph("", note)
	v.Line("")
}

// callersOf writes the callers of a place, and returns their lines.
func callersOf(v *view.View, stacks []sites.Stack) []callers.Line {
	const indent = len(view.CallerIndent) + view.CellWidth + 2
	tree := sites.Callers(stacks, calltree.Limits{Least: view.LeastCaller})
	if tree == nil {
		v.Line("%s(its callers are unknown)", layout.PadLeft("", indent))
		return nil
	}
	lines := callers.Lines(tree, view.LeastCaller, view.MostCallers)
	if len(lines) == 0 {
		v.Line("%s(it has no callers)", layout.PadLeft("", indent))
	}
	total := tree.Nodes[0].Counts[0]
	view.WriteTree(v, lines, view.CallerIndent, func(n int64) string {
		return layout.PadLeft(amount.ShareOf(n, total).String(),
			view.CellWidth)
	})
	return lines
}
