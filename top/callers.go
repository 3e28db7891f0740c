package top

import (
	"cmp"
	"slices"
	"strings"
)

// A Caller is a line of a tree of callers.
type Caller struct {
	Depth int // 0 for the method whose callers the tree shows
	Name  string
	Amount
	Leaf bool // it has no callers in the tree
}

type callerNode struct {
	name string
	Amount
	callers map[string]*callerNode
}

const (
	leastCaller = 0.01 // least share of the tree's samples that a caller needs to be shown
	maxCallers  = 400  // lines
	callerDepth = 64
)

// Callers returns the tree of the callers of a method, in which inlined methods count as methods of their own. ok is
// false if no samples of the scope are in the method.
func (p *Picture) Callers(s Scope, method string) (tree []Caller, ok bool) {
	root := &callerNode{name: method, callers: map[string]*callerNode{}}
	for i := range p.entries {
		e := &p.entries[i]
		if !p.in(e, s) {
			continue
		}
		var at *callerNode
		depth := 0
		p.frames(e, func(name string, _ int) bool {
			if at == nil {
				if name != method {
					return true
				}
				at = root
			} else if name == at.name {
				return true // a method that calls itself counts only once
			} else {
				next := at.callers[name]
				if next == nil {
					next = &callerNode{name: name, callers: map[string]*callerNode{}}
					at.callers[name] = next
				}
				at = next
			}
			at.add(e)
			depth++
			return depth < callerDepth
		})
	}
	if root.Count == 0 && root.Now == 0 {
		return nil, false
	}
	least := leastCaller * root.Count
	var walk func(n *callerNode, depth int)
	walk = func(n *callerNode, depth int) {
		if len(tree) >= maxCallers {
			return
		}
		at := len(tree)
		tree = append(tree, Caller{Depth: depth, Name: n.name, Amount: n.Amount})
		var callers []*callerNode
		for _, c := range n.callers {
			if c.Count >= least {
				callers = append(callers, c)
			}
		}
		slices.SortFunc(callers, func(a, b *callerNode) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.name, b.name))
		})
		tree[at].Leaf = len(callers) == 0
		for _, c := range callers {
			below := depth + 1
			if len(callers) == 1 && depth > 0 { // a chain of single callers is not indented further
				below = depth
			}
			walk(c, below)
		}
	}
	walk(root, 0)
	return tree, true
}
