package report

import (
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Limits of the tree of calls in the JSON report: the least share of the samples that a node needs, and the number of
// nodes. A node takes about 200 bytes.
const (
	leastStack = 0.001
	mostStacks = 10_000
)

// stacks converts the call stacks. It returns nil if the profile has none.
func (p jsonProfile) stacks() *schema.Stacks {
	if p.Profile.Stacks == nil {
		return nil
	}
	tree := p.Profile.Stacks.TopDown(calltree.Limits{Least: leastStack, Nodes: mostStacks})
	return &schema.Stacks{Least: leastStack, Nodes: each(tree.Nodes, p.stackNode)}
}

func (p jsonProfile) stackNode(n *calltree.Node) schema.StackNode {
	out := schema.StackNode{Parent: int(n.Parent), Kinds: []string{}, Name: n.Name, Module: n.Module, Line: max(n.Line, 0),
		Guessed: n.Guessed,
		Counts:  p.counts(n.Counts), Self: p.some(n.Self), Omitted: p.some(n.Omitted), Others: n.Others}
	for k := callstack.Compiled; n.Parent >= 0 && k <= callstack.Unwalked; k++ {
		if n.Kinds&(1<<k) != 0 {
			out.Kinds = append(out.Kinds, k.String())
		}
	}
	if n.Parent >= 0 && n.Kind == calltree.Thread {
		out.Kinds = []string{"thread"}
	}
	return out
}

// some converts counts. If all of them are 0, the result is the zero Counts, which the report leaves out.
func (p jsonProfile) some(c tally.Counts) schema.Counts {
	if slices.ContainsFunc(c, func(n int64) bool { return n > 0 }) {
		return p.counts(c)
	}
	return schema.Counts{}
}
