package callstack

// An interner knows the numbers of frames and of nodes. Its user says which number comes next.
type interner struct {
	frames map[Frame]FrameID
	nodes  map[uint64]ID // by node.key
}

func newInterner() interner { return interner{map[Frame]FrameID{}, map[uint64]ID{}} }

// A FrameID stands for a frame in a Writer or a Tree.
type FrameID uint32

// noFrame is the FrameID of a frame that is not interned because there are MaxNodes already.
const noFrame = FrameID(1<<32 - 1)

// A node is a frame on top of another stack.
type node struct {
	parent ID
	frame  FrameID
}

// key returns both parts of a node as one number, which is looked up faster.
func (n node) key() uint64 { return uint64(n.parent)<<32 | uint64(n.frame) }

// frame returns the number of a frame, or noFrame if the frame is new and there is no room for it. The number of a new
// frame is next.
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

// node returns the number of a node, or NoRoom if the node is new and there is no room for it, or if there was none for
// its parent or its frame. The number of a new node is next.
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
