package htmlpage

// Calls is a tree of calls in the form that the script [CallTree] reads. Most members are lists of small numbers,
// because a tree has many nodes. The numbers are in groups of a fixed length, unless a member's comment says otherwise.
// A [CallWriter] builds the tree.
type Calls struct {
	Kinds []string `json:"kinds"`
	Names []string `json:"names"`
	// Codes has two numbers for each method or function: the index of its name in Names, and 1 + the index of its
	// module there, or 0 for no module.
	Codes []int `json:"codes"`
	// Frames are the different frames. Each has five numbers: the index of its code, the index of its kind in Kinds,
	// flags, its line or 0, and 1 + the index in Places of the instruction that made the call, or 0.
	Frames []int    `json:"frames"`
	Places []string `json:"places"`
	// Nodes are in depth-first order: after each node come its children. A node has two numbers. The first is the index
	// of its frame. The second says where the node is: 0 if it is a child of the node before it, 1 if it is at the same
	// depth as the node before it, and 1 more for each level that it is nearer to the root.
	Nodes []int `json:"nodes"`
	// Self has a list for each event. The list says how many samples have a node as their innermost frame. Rest has
	// lists of the same form, for the samples in those children of a node that were left out of the tree. Nodes without
	// such samples are not in a list. For each other node, the list has the node's number minus the number of the
	// previous node in the list, then the number of parts into which the samples are divided, and then two numbers for
	// each part: its own number, and how many samples it has. In a report, a part is a slice of time in one group of
	// threads. A comparison has only part 0.
	Self [][]int `json:"self"`
	Rest [][]int `json:"rest"`
	// Others has two numbers for each node with children that were left out. The first is the node's number, minus the
	// number of the previous such node. The second is how many children were left out.
	Others []int `json:"others"`
}

// A CallWriter builds a [Calls]. The caller adds the nodes in depth-first order, and after each node its samples.
type CallWriter struct {
	Calls  Calls // what was added so far
	names  map[string]int
	kinds  map[string]int
	places map[string]int
	frames map[[5]int]int

	node, depth        int   // the number and the depth of the node that was added last
	lastSelf, lastRest []int // the last node in each list of Calls.Self and Calls.Rest
	lastOthers         int   // the last node in Calls.Others
}

// NewCallWriter returns a CallWriter for the samples of the given number of events.
func NewCallWriter(events int) *CallWriter {
	w := &CallWriter{names: map[string]int{}, kinds: map[string]int{}, places: map[string]int{}, frames: map[[5]int]int{},
		node: -1, depth: -1,
		lastSelf: make([]int, events), lastRest: make([]int, events)}
	w.Calls = Calls{Kinds: []string{}, Names: []string{}, Codes: []int{}, Frames: []int{}, Places: []string{},
		Nodes: []int{}, Others: []int{}}
	for range events {
		w.Calls.Self, w.Calls.Rest = append(w.Calls.Self, []int{}), append(w.Calls.Rest, []int{})
	}
	return w
}

// Kind returns the index of a kind of frames. It adds the kind if it is new.
func (w *CallWriter) Kind(name string) int { return intern(w.kinds, &w.Calls.Kinds, name) }

// Code adds a method or function, and returns its index. module is "" if it is not shown.
func (w *CallWriter) Code(label, module string) int {
	of := 0
	if module != "" {
		of = 1 + intern(w.names, &w.Calls.Names, module)
	}
	w.Calls.Codes = append(w.Calls.Codes, intern(w.names, &w.Calls.Names, label), of)
	return len(w.Calls.Codes)/2 - 1
}

// Frame returns the index of a frame. It adds the frame if it is new. line is 0 if it is unknown, and place is the id
// of the element that the frame leads to, or "".
func (w *CallWriter) Frame(code, kind, flags, line int, place string) int {
	at := 0
	if place != "" {
		at = 1 + intern(w.places, &w.Calls.Places, place)
	}
	key := [5]int{code, kind, flags, line, at}
	i, ok := w.frames[key]
	if !ok {
		i = len(w.frames)
		w.frames[key] = i
		w.Calls.Frames = append(w.Calls.Frames, key[:]...)
	}
	return i
}

// Node adds a node. depth is 0 for the root, which must be added first. For any other node, it is 1 more than the depth
// of the node's caller.
func (w *CallWriter) Node(frame, depth int) {
	w.Calls.Nodes = append(w.Calls.Nodes, frame, w.depth+1-depth)
	w.node, w.depth = w.node+1, depth
}

// Self adds samples of an event whose innermost frame is the last node. The arguments after the event come in pairs:
// the number of a part (see [Calls]), and the number of samples in that part.
func (w *CallWriter) Self(event int, parts ...int) {
	w.add(&w.Calls.Self[event], &w.lastSelf[event], parts)
}

// Rest is like Self, but adds samples in children of the last node that were left out of the tree.
func (w *CallWriter) Rest(event int, parts ...int) {
	w.add(&w.Calls.Rest[event], &w.lastRest[event], parts)
}

func (w *CallWriter) add(list *[]int, last *int, parts []int) {
	if len(parts) > 0 {
		*list = append(append(*list, w.node-*last, len(parts)/2), parts...)
		*last = w.node
	}
}

// Others notes how many children of the last node are left out.
func (w *CallWriter) Others(n int) {
	w.Calls.Others = append(w.Calls.Others, w.node-w.lastOthers, n)
	w.lastOthers = w.node
}

// DepthFirst calls the function visit for the root and then for everything below it. The argument depth is the distance
// from the root.
func DepthFirst[N any](root N, children func(N) []N, visit func(node N, depth int)) {
	type step struct {
		node  N
		depth int
	}
	for todo := []step{{root, 0}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(at.node, at.depth)
		below := children(at.node)
		for i := len(below) - 1; i >= 0; i-- {
			todo = append(todo, step{below[i], at.depth + 1})
		}
	}
}

// intern returns the index of a text in a list. It adds the text if it is new.
func intern(index map[string]int, list *[]string, text string) int {
	i, ok := index[text]
	if !ok {
		i = len(*list)
		index[text] = i
		*list = append(*list, text)
	}
	return i
}
