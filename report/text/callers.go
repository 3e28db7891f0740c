package text

import (
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/callers"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/view"
)

const (
	mostTreeLines  = 400
	leastRowToShow = 0.01 // part of the profile that a frame needs for its callers to be shown
)

// writeCalls writes the callers of the hottest frames, and the tree of calls.
func writeCalls(v *view.View) {
	if v.Profile.Stacks == nil {
		return
	}
	legend := kindsLegend
	if v.Options.Callers > 0 && writeCallers(v) {
		legend = "Marks are as above."
	}
	if v.Options.Tree > 0 {
		writeCallTree(v, legend)
	}
}

// writeCallers writes the callers of the hottest frames: for each of them a small tree. It returns false if no frame is
// hot enough.
func writeCallers(v *view.View) bool {
	trees := v.Profile.Stacks.Callers(v.Options.Callers, calltree.Limits{Least: view.LeastCaller, FromJava: true})
	trees = slices.DeleteFunc(trees,
		func(t *calltree.Tree) bool { return v.Profile.Share(t.Nodes[0].Counts) < leastRowToShow })
	if len(trees) == 0 {
		return false
	}
	v.Rule("Callers of the Hottest Frames" + firstEvent(v))
	for _, t := range trees {
		root := &t.Nodes[0]
		name, tail := callers.Name(root)
		head := v.InTable(0, root.Counts[0]) + "  "
		v.Line("%s", v.Paint(v.Heat(root.Counts), head+view.ShortFrame(v, root, name, layout.Width(head+tail))+tail))
		view.WriteTree(v, callers.Lines(t, view.LeastCaller, view.MostCallers), view.CallerIndent, sampleCell(v,
			root.Counts[0]))
		v.Line("")
	}
	numbers := "their shares of the frame's samples"
	if v.Options.Counts != counts.Percent {
		numbers = "their parts of the frame's samples"
	}
	v.Paragraph("", fmt.Sprintf("Below a frame are its callers, from the nearest to the outermost one, with %s. "+
		"A line without a number has the same samples as the line above; a - begins each of several callers. Callers with less than %.0f%% are left out, "+
		"and so are native frames outside of Java. %s", numbers, 100*view.LeastCaller, kindsLegend))
	v.Line("")
	return true
}

// kindsLegend explains the marks of frames.
const kindsLegend = ":12 is the line of the call, if it is always the same. [inlined] into its caller; [interpreted]; [stub] of HotSpot; " +
	"[libc.so.6]: a function of that library; [kernel]. [cut], [frozen] and [not walked] are in place of callers that are not known: beyond " +
	"the part of the stack that was copied, in the heap (virtual threads), or not found."

// firstEvent returns the name of the first event for a title, if there are several events.
func firstEvent(v *view.View) string {
	if len(v.Profile.Counters) < 2 {
		return ""
	}
	return " (" + v.Profile.Counters[0] + ")"
}

// writeCallTree writes the tree of calls from the threads, or from the method that the user has chosen, to the sampled
// code. The legend explains marks of frames.
func writeCallTree(v *view.View, legend string) {
	tree := v.Profile.Stacks.TopDown(calltree.Limits{Least: v.Options.Tree, FromJava: true, From: v.Options.TreeFrom})
	total := v.Profile.Accounts[0].Profiled
	v.Rule("Tree of Calls" + firstEvent(v))
	view.WriteTree(v, callers.Lines(tree, v.Options.Tree, mostTreeLines), "", sampleCell(v, total))
	v.Line("")
	v.Paragraph("",
		fmt.Sprintf("Below a frame is what it called. %s Calls with less than %.4g%% of the samples are left out, and so are native frames outside "+
			"of Java. %s", v.Explain(), 100*v.Options.Tree, legend))
	v.Line("")
}

// sampleCell returns a function that formats samples of the first event. Percentages are shares of a total.
func sampleCell(v *view.View, total int64) func(samples int64) string {
	return func(samples int64) string { return v.Cell(0, samples, amount.ShareOf(samples, total)) }
}

// byTable returns the table that divides the samples between the callers that the user has named.
func byTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Samples by Caller", more: "caller", all: true}
	if len(v.Profile.By) == 0 {
		return t
	}
	named := slices.Clone(v.Profile.By[:len(v.Profile.By)-1])
	slices.SortStableFunc(named, func(a, b profile.CallerTotal) int { return tally.Compare(a.Counts, b.Counts) })
	for _, b := range named {
		t.add(b.Counts, func() rankingRow { return rankingRow{name: b.Method} })
	}
	t.rest = []rankingRow{{counts: v.Profile.By[len(v.Profile.By)-1].Counts, name: "(none of these)"}}
	return t
}
