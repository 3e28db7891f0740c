package callstack

// An interner maps frames and nodes to their numbers. Its caller passes the number that a new frame or node would get.
type interner struct {
	frames map[Frame]FrameID
	nodes  map[uint64]ID // by node.key
}

func newInterner() interner { return interner{map[Frame]FrameID{}, map[uint64]ID{}} }

// A FrameID identifies a frame in a Writer or a Tree.
type FrameID uint32

// noFrame is the FrameID of a frame that is not interned because there are MaxNodes nodes or frames already.
const noFrame = FrameID(1<<32 - 1)

// A node is a stack: a frame on top of the stack of its caller.
type node struct {
	parent ID
	frame  FrameID
}

// key returns both parts of a node as one number, because a map finds a number faster than a struct.
func (n node) key() uint64 { return uint64(n.parent)<<32 | uint64(n.frame) }

// frame returns the number of a frame. A new frame gets the number next. If there is no room for it, frame returns
// noFrame.
func (x *interner) frame(f *Frame, next int) (id FrameID, isNew bool) {
	if id, known := x.frames[*f]; known {
		return id, false
	}
	if len(x.nodes) >= MaxNodes || len(x.frames) >= MaxNodes {
		return noFrame, false
	}
	x.frames[*f] = FrameID(next)
	return FrameID(next), true
}

// node returns the number of a node. A new node gets the number next. If there is no room for it, or if its parent is
// NoRoom or its frame is noFrame, node returns NoRoom.
func (x *interner) node(n node, next int) (id ID, isNew bool) {
	if n.parent == NoRoom || n.frame == noFrame {
		return NoRoom, false
	}
	if id, known := x.nodes[n.key()]; known {
		return id, false
	}
	if len(x.nodes) >= MaxNodes {
		return NoRoom, false
	}
	x.nodes[n.key()] = ID(next)
	return ID(next), true
}
