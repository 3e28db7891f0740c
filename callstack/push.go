package callstack

// A pushed is an index of the frames and nodes that Tree.Push has added.
type pushed struct {
	frames map[Frame]uint32
	nodes  map[node]ID
}

// Push returns the ID of the stack that has the frame f on top of the stack parent. It adds the stack to the tree, unless
// an earlier Push has added the same one. It returns NoRoom if Push has added MaxNodes already, or if parent is NoRoom.
//
// Frames that the tree has returned before a Push must not be used after it.
func (t *Tree) Push(parent ID, f Frame) ID {
	if parent == NoRoom {
		return NoRoom
	}
	if t.pushed.nodes == nil {
		t.pushed = pushed{map[Frame]uint32{}, map[node]ID{}}
	}
	number, known := t.pushed.frames[f]
	if known {
		if id, ok := t.pushed.nodes[node{parent, number}]; ok {
			return id
		}
	}
	if len(t.pushed.nodes) >= MaxNodes {
		return NoRoom
	}
	if !known {
		t.frames = append(t.frames, f)
		number = uint32(len(t.frames))
		t.pushed.frames[f] = number
	}
	t.nodes = append(t.nodes, node{parent, number})
	id := ID(len(t.nodes))
	t.pushed.nodes[node{parent, number}] = id
	return id
}
