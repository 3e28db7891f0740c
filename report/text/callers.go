package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/callers"
)

const (
	leastCaller    = 0.05 // part of a frame's samples that a caller needs to be shown
	mostCallers    = 20   // lines below a frame
	mostTreeLines  = 400
	callerIndent   = "   " // before the lines below a frame
	leastRowToShow = 0.01  // part of the profile that a frame needs for its callers to be shown
)

// writeCalls writes the callers of the hottest frames, and the tree of calls.
func writeCalls(v *view) {
	if v.p.Stacks == nil {
		return
	}
	legend := kindsLegend
	if v.opts.Callers > 0 && writeCallers(v) {
		legend = "Marks are as above."
	}
	if v.opts.Tree > 0 {
		writeCallTree(v, legend)
	}
}

// writeCallers writes the callers of the hottest frames: for each of them a small tree. It returns false if no frame is
// hot enough.
func writeCallers(v *view) bool {
	trees := v.p.Stacks.Callers(v.opts.Callers, calltree.Limits{Least: leastCaller, FromJava: true})
	trees = slices.DeleteFunc(trees, func(t *calltree.Tree) bool { return v.p.Share(t.Nodes[0].Counts) < leastRowToShow })
	if len(trees) == 0 {
		return false
	}
	v.Rule("Callers of the Hottest Frames" + firstEvent(v))
	for _, t := range trees {
		root := &t.Nodes[0]
		name, tail := callers.Name(root)
		head := v.inTable(0, root.Counts[0]) + "  "
		v.Line("%s", v.Paint(v.heat(root.Counts), head+shortFrame(v, root, name, layout.Width(head+tail))+tail))
		writeTree(v, callers.Lines(t, leastCaller, mostCallers), callerIndent, sampleCell(v, root.Counts[0]))
		v.Line("")
	}
	numbers := "their shares of the frame's samples"
	if v.opts.Counts != Percent {
		numbers = "their parts of the frame's samples"
	}
	v.Paragraph("", fmt.Sprintf("Below a frame are its callers, from the nearest to the outermost one, with %s. "+
		"A line without a number has the same samples as the line above; a - begins each of several callers. Callers with less than %.0f%% are left out, "+
		"and so are native frames outside of Java. %s", numbers, 100*leastCaller, kindsLegend))
	v.Line("")
	return true
}

// kindsLegend explains the marks of frames.
const kindsLegend = ":12 is the line of the call, if it is always the same. [inlined] into its caller; [interpreted]; [stub] of HotSpot; " +
	"[libc.so.6]: a function of that library; [kernel]. [cut], [frozen] and [not walked] are in place of callers that are not known: beyond " +
	"the part of the stack that was copied, in the heap (virtual threads), or not found."

// firstEvent returns the name of the first event for a title, if there are several events.
func firstEvent(v *view) string {
	if len(v.p.Counters) < 2 {
		return ""
	}
	return " (" + v.p.Counters[0] + ")"
}

// writeCallTree writes the tree of calls from the threads, or from the method that the user has chosen, to the sampled
// code. The legend explains marks of frames.
func writeCallTree(v *view, legend string) {
	tree := v.p.Stacks.TopDown(calltree.Limits{Least: v.opts.Tree, FromJava: true, From: v.opts.TreeFrom})
	total := v.p.Accounts[0].Profiled
	v.Rule("Tree of Calls" + firstEvent(v))
	writeTree(v, callers.Lines(tree, v.opts.Tree, mostTreeLines), "", sampleCell(v, total))
	v.Line("")
	v.Paragraph("", fmt.Sprintf("Below a frame is what it called. %s Calls with less than %.4g%% of the samples are left out, and so are native frames outside "+
		"of Java. %s", v.explainUnit(), 100*v.opts.Tree, legend))
	v.Line("")
}

// sampleCell returns a function that formats samples of the first event. Percentages are shares of a total.
func sampleCell(v *view, total int64) func(samples int64) string {
	return func(samples int64) string { return v.cell(0, samples, amount.ShareOf(samples, total)) }
}

// cellWidth is the width, in characters, of the number before a line of a tree.
const cellWidth = 7

// writeTree writes the lines of a tree. cell formats the number before a line.
func writeTree(v *view, lines []callers.Line, indent string, cell func(samples int64) string) {
	for _, l := range lines {
		number := layout.PadLeft("", cellWidth)
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
			v.Line("%s", v.cut(head+shortFrame(v, l.Node, name, layout.Width(head+tail))+tail))
		case l.Omitted > 0:
			v.Line("%s(%s)", head, layout.Plural(l.Omitted, "other"))
		default:
			v.Line("%s%s", head, v.Ellipsis())
		}
	}
}

// shortFrame shortens the name of a frame to the width of the terminal. used is the width of the rest of its line, in
// characters.
func shortFrame(v *view, n *calltree.Node, name string, used int) string {
	if v.opts.TableWidth == 0 {
		return name
	}
	room := max(v.opts.TableWidth-used, leastName)
	if n.Java() {
		return layout.ShortMethod(name, room, v.Ellipsis())
	}
	return layout.ShortMiddle(name, room, v.Ellipsis())
}

// byTable divides the samples between the callers that the user has named.
func byTable(v *view) *ranking {
	t := &ranking{view: v, title: "Samples by Caller", more: "caller", all: true}
	if len(v.p.By) == 0 {
		return t
	}
	named := slices.Clone(v.p.By[:len(v.p.By)-1])
	slices.SortStableFunc(named, func(a, b profile.CallerTotal) int { return tally.Compare(a.Counts, b.Counts) })
	for _, b := range named {
		t.add(b.Counts, func() rankingRow { return rankingRow{name: b.Method} })
	}
	t.rest = []rankingRow{{counts: v.p.By[len(v.p.By)-1].Counts, name: "(none of these)"}}
	return t
}
