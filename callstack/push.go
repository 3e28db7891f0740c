package callstack

// Push returns the ID of the stack that consists of the frame f on top of another stack, whose ID is parent. It adds
// the stack to the tree, unless an earlier Push has added the same one. It returns NoRoom if the stack is new and Push
// has added MaxNodes nodes already, or if parent is NoRoom.
//
// A frame that the tree has returned must not be used after the next Push, because Push may copy all frames to a larger
// array.
func (t *Tree) Push(parent ID, f Frame) ID {
	if t.pushed.nodes == nil {
		t.pushed = newInterner()
	}
	frame, isNew := t.pushed.frame(&f, len(t.frames)+1)
	if isNew {
		t.frames = append(t.frames, f)
	}
	n := node{parent, frame}
	id, isNew := t.pushed.node(n, len(t.nodes)+1)
	if isNew {
		t.nodes = append(t.nodes, n)
	}
	return id
}
