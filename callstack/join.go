package callstack

// Append adds the stacks of another tree, with other IDs: the stack that has the ID i in the other tree has the ID
// offset+i in t. The argument limit is the maximum number of nodes of t. If t would have more, Append adds nothing and
// returns false.
func (t *Tree) Append(other *Tree, limit int) (offset ID, ok bool) {
	if len(t.nodes)+len(other.nodes) > limit {
		return 0, false
	}
	offset, frames := ID(len(t.nodes)), FrameID(len(t.frames))
	t.frames = append(t.frames, other.frames...)
	for _, n := range other.nodes {
		if n.parent != 0 {
			n.parent += offset
		}
		t.nodes = append(t.nodes, node{n.parent, n.frame + frames})
	}
	return offset, true
}
