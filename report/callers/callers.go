// Package callers formats trees of calls as lines of text.
//
// A path on which each frame has only one caller is a column of lines. Where a path branches, the lines below are
// indented, and each branch begins with a "-". So a deep stack stays narrow:
//
//	100.00%  java.util.HashMap::get:557
//	 98.28%  org.acme.Users::find:88
//	 68.97%  - org.acme.Router::route:21 [inlined]
//	           org.acme.Server::handle:40
//	 25.86%  - org.acme.Batch::step:12
//
// A line has no share if it has the same samples as the line above.
package callers

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
)

// A Line is a line of a tree: a node, or a text about nodes that are left out.
type Line struct {
	Node    *calltree.Node // nil if nodes are left out here
	Omitted int            // the number of children that are left out, if Node is nil; 0 if the rest of a path is left out
	Samples int64          // of the first event
	Indent  int            // in columns
	Branch  bool           // the line begins one of several branches
	Same    bool           // the line has the same samples as the line above
	// Times is the number of consecutive frames that the line shows. It is more than 1 if a method calls itself. Samples
	// are then those of the first of these frames. Times is 0 if Node is nil.
	Times int
}

// decay reduces the weight of a node compared with its parent when Lines chooses nodes. Without it, Lines would choose
// the whole hottest path before the first node of the second hottest path.
const decay = 0.93

// Lines returns lines for the nodes below the root of a tree. The parameter most limits their number, so nodes with few
// samples are left out. The children of a node that are left out share one line, if together they have at least the
// share least of the root's samples.
func Lines(tree *calltree.Tree, least float64, most int) []Line {
	w := writer{tree: tree, least: least * float64(samples(&tree.Nodes[0])), kept: keep(tree, most)}
	w.children(0, 0)
	if len(w.lines) > most {
		w.lines = w.lines[:most]
	}
	return w.lines
}

// samples returns the number of samples that a node's line shows: those of the first event.
func samples(n *calltree.Node) int64 {
	if len(n.Counts) == 0 {
		return 0
	}
	return n.Counts[0]
}

// recursive reports whether a node is a frame of the same method as its parent, and at the same line.
func recursive(tree *calltree.Tree, n *calltree.Node) bool {
	if n.Parent < 0 {
		return false
	}
	parent := &tree.Nodes[n.Parent]
	return n.Name != "" && n.Name == parent.Name && n.Module == parent.Module && n.Line == parent.Line && !n.Mark()
}

// keep chooses nodes for at most the given number of lines, and returns for each node whether it was chosen. The
// parent of a chosen node is chosen, too. A method that calls itself takes one line.
func keep(tree *calltree.Tree, most int) []bool {
	weights, order, kept := make([]float64, len(tree.Nodes)), make([]int, len(tree.Nodes)), make([]bool, len(tree.Nodes))
	depths := make([]int, len(tree.Nodes))
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		switch order[i] = i; {
		case recursive(tree, n):
			depths[i] = depths[n.Parent]
		case n.Parent >= 0:
			depths[i] = depths[n.Parent] + 1
		}
		weights[i] = float64(samples(n)) * math.Pow(decay, float64(depths[i]))
	}
	// A parent weighs at least as much as its child, and has a lower index. So it comes before the child.
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case weights[a] > weights[b]:
			return -1
		case weights[a] < weights[b]:
			return 1
		}
		return 0
	})
	lines := 0
	for _, i := range order {
		if kept[i] = true; !recursive(tree, &tree.Nodes[i]) {
			lines++
		}
		if lines > most { // the root has no line
			break
		}
	}
	return kept
}

// A writer makes the lines of a tree.
type writer struct {
	tree  *calltree.Tree
	least float64
	kept  []bool
	lines []Line
}

// children adds the lines below a node.
func (w *writer) children(i int32, indent int) {
	for { // along a path without branches
		n := &w.tree.Nodes[i]
		var shown []int32
		rest := Line{Omitted: n.Others}
		if len(n.Omitted) > 0 {
			rest.Samples = n.Omitted[0]
		}
		for _, c := range n.Children {
			if w.kept[c] {
				shown = append(shown, c)
			} else {
				rest.Omitted++
				rest.Samples += samples(&w.tree.Nodes[c])
			}
		}
		restShown := rest.Samples > 0 && float64(rest.Samples) >= w.least
		switch {
		case len(shown) == 0 && restShown && len(n.Children) > 0:
			w.lines = append(w.lines, Line{Indent: indent, Same: true, Samples: rest.Samples}) // the path goes on
			return
		case len(shown) == 0:
			return
		case len(shown) == 1 && !restShown:
			i = shown[0]
			w.add(n, &w.tree.Nodes[i], indent)
			continue
		}
		for _, c := range shown {
			child := &w.tree.Nodes[c]
			w.lines = append(w.lines, Line{Node: child, Samples: samples(child), Indent: indent, Branch: true, Times: 1})
			w.children(c, indent+bulletWidth)
		}
		if restShown {
			rest.Indent, rest.Branch = indent, true
			w.lines = append(w.lines, rest)
		}
		return
	}
}

// add adds the line of the only child of a node. If the child is a frame of the same method, add only counts it in the
// line that the method already has.
func (w *writer) add(n, child *calltree.Node, indent int) {
	last := len(w.lines) - 1
	if last >= 0 && recursive(w.tree, child) && w.lines[last].Node != nil {
		w.lines[last].Times++
		return
	}
	same := last >= 0 && w.lines[last].Samples == samples(child) && w.lines[last].Node != nil
	w.lines = append(w.lines, Line{Node: child, Samples: samples(child), Indent: indent, Same: same, Times: 1})
}

// bulletWidth is the width of the "- " before a branch.
const bulletWidth = 2

// Name returns the name of a node's code. If the name is a guess, a mark comes before it. The result tail is what the
// line shows after the name: the line number, if all of the node's frames are at the same line, and the kind of code,
// such as [inlined]. For compiled methods, tail has no kind.
func Name(n *calltree.Node) (name, tail string) {
	name = n.Label()
	if n.Guessed {
		name = printassembly.GuessMark + name
	}
	if n.Line > 0 {
		tail = ":" + strconv.Itoa(n.Line)
	}
	switch {
	case n.Mark() || n.Name == "":
	case n.Kind == callstack.Native:
		tail += " [" + strings.Trim(n.Module, "[]") + "]"
	case n.Kind == calltree.Thread:
		tail += " [thread]"
	case n.Kind == callstack.Stub || n.Kind == callstack.Kernel:
		tail += " [" + n.Kind.String() + "]"
	case n.Only(callstack.Inlined) || n.Only(callstack.Interpreted):
		for _, k := range []callstack.Kind{callstack.Inlined, callstack.Interpreted} {
			if n.Only(k) {
				tail += " [" + k.String() + "]"
			}
		}
	}
	return name, tail
}
