package page

import (
	"encoding/json"
	"html/template"
	"net/url"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
)

// Limits of the trees of calls in a page, for all of its profiles together. A node takes some 10 bytes, and a count 6.
const (
	leastCall  = 0.0001 // share of the samples that a node must have
	mostCalls  = 30_000 // nodes
	mostCounts = 80_000 // counts of a node, a part and an event
)

// callsData is a profile's tree of calls, from the threads to the sampled code. The script draws it as a flame graph.
// Most members are lists of small numbers, because a tree has many nodes. The numbers are in groups of a fixed length,
// unless a member's comment says otherwise.
type callsData struct {
	Kinds []string `json:"kinds"` // frameKinds
	Names []string `json:"names"`
	Codes []int    `json:"codes"` // of each method or function: its name, and 1 + its module, as indexes in Names; 0 for no module
	// Frames are the different frames. Each is the index of its code, the index of its kind in frameKinds, flags, its
	// line or 0, and 1 + the index in Places of the instruction that made the call, or 0.
	Frames []int    `json:"frames"`
	Places []string `json:"places"`
	// Nodes has two numbers for each node: the index of its frame, and 1 + how many levels nearer to the root it is
	// than the node before it, so 0 for a child of that node. The nodes are in depth-first order: after each node come
	// its children.
	Nodes []int `json:"nodes"`
	// Self has, for each event, the samples that end at a node. Rest has those of children that are left out. Each node
	// that has such samples is in the list: the difference between its number and that of the node before it in the
	// list, the number of its parts, and then the number and the samples of each part.
	Self [][]int `json:"self"`
	Rest [][]int `json:"rest"`
	// Others has each node of which children are left out: the difference between its number and that of the node
	// before it in the list, and the number of these children.
	Others []int `json:"others"`
}

// frameKinds are the kinds of frames. The style sheet has the colour of each.
var frameKinds = []string{"root", "thread", "c2", "c1", "compiled", "interpreter", "stub", "vm", "native", "kernel", "unresolved", "cut", "frozen", "unwalked"}

// Flags of a frame.
const (
	guessedFrame  = 1 << iota // the method is a guess; see calltree.Node.Guessed
	inlinedFrame              // most samples are in inlined frames
	someCompiled              // some frames are of methods that were compiled by themselves
	someInlined               // some frames are of inlined methods
	someInterpred             // some frames are of interpreted methods
)

// calls returns a profile's tree of calls as JSON, or "" if the profile has none.
func (b *builder) calls(p *profile.Profile, at *places) template.JS {
	if p.Stacks == nil {
		return ""
	}
	profiles := len(b.in.Profiles.Trials)
	limits := calltree.Limits{Least: leastCall, Nodes: max(mostCalls/profiles, 500), FromJava: true, Details: true}
	tree := p.Stacks.TopDown(limits)
	for countsOf(tree) > max(mostCounts/profiles, 1000) && limits.Nodes > 100 {
		limits.Nodes = min(limits.Nodes, len(tree.Nodes)) / 2
		tree = p.Stacks.TopDown(limits)
	}
	w := callsWriter{at: at, tree: tree, compiled: compilationsOf(p, b.in.Profiles.Capture.JVMs), names: map[string]int{}, codes: map[calltree.Code]int{}, frames: map[[5]int]int{}, places: map[string]int{}}
	w.data.Kinds, w.data.Places, w.data.Others = frameKinds, []string{}, []int{}
	w.node(0)
	for e := range p.Counters {
		w.data.Self = append(w.data.Self, w.counts(e, func(n *calltree.Node) []calltree.PartCounts { return n.SelfParts }))
		w.data.Rest = append(w.data.Rest, w.counts(e, func(n *calltree.Node) []calltree.PartCounts { return n.OmittedParts }))
	}
	w.others()
	text, err := json.Marshal(w.data)
	if err != nil {
		return "" // can't happen: these are strings and numbers
	}
	return template.JS(text)
}

// countsOf returns the number of counts that a tree has, by node, part and event.
func countsOf(tree *calltree.Tree) (n int) {
	for i := range tree.Nodes {
		for _, list := range [][]calltree.PartCounts{tree.Nodes[i].SelfParts, tree.Nodes[i].OmittedParts} {
			for _, part := range list {
				n += len(part.Counts)
			}
		}
	}
	return n
}

// A callsWriter makes the data of a tree of calls.
type callsWriter struct {
	at       *places
	tree     *calltree.Tree
	compiled compilations
	data     callsData
	names    map[string]int
	codes    map[calltree.Code]int
	frames   map[[5]int]int
	places   map[string]int
	order    []int32 // the nodes in the order of the data
}

// node adds a node and everything below it.
func (w *callsWriter) node(root int32) {
	type step struct {
		node  int32
		depth int
	}
	before := -1 // the depth of the node before
	for todo := []step{{root, 0}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := &w.tree.Nodes[at.node]
		w.data.Nodes = append(w.data.Nodes, w.frame(n), before+1-at.depth)
		w.order = append(w.order, at.node)
		before = at.depth
		for i := len(n.Children) - 1; i >= 0; i-- {
			todo = append(todo, step{n.Children[i], at.depth + 1})
		}
	}
}

// counts returns the samples of an event in the form of callsData.Self.
func (w *callsWriter) counts(event int, of func(*calltree.Node) []calltree.PartCounts) []int {
	list, last := []int{}, 0
	for i, node := range w.order {
		var counts []int
		for _, part := range of(&w.tree.Nodes[node]) {
			if n := part.Counts[event]; n > 0 {
				counts = append(counts, part.Part, int(n))
			}
		}
		if len(counts) > 0 {
			list = append(append(list, i-last, len(counts)/2), counts...)
			last = i
		}
	}
	return list
}

// others fills callsData.Others.
func (w *callsWriter) others() {
	last := 0
	for i, node := range w.order {
		if n := &w.tree.Nodes[node]; len(n.OmittedParts) > 0 {
			w.data.Others = append(w.data.Others, i-last, n.Others)
			last = i
		}
	}
}

// frame returns the number of a node's frame.
func (w *callsWriter) frame(n *calltree.Node) int {
	kind, flags, place := w.compiled.kindOf(n), 0, 0
	for bit, set := range map[int]bool{guessedFrame: n.Guessed, someCompiled: n.Kinds&(1<<callstack.Compiled) != 0,
		someInlined: n.Kinds&(1<<callstack.Inlined) != 0, someInterpred: n.Kinds&(1<<callstack.Interpreted) != 0} {
		if set {
			flags |= bit
		}
	}
	if f := n.Frame; f != nil && f.Kind.Java() {
		if f.Kind == callstack.Inlined {
			flags |= inlinedFrame
		}
		if id := w.at.call(f); id != "" {
			place = intern(w.places, &w.data.Places, id) + 1
		}
	}
	key := [5]int{w.code(n), kind, flags, max(n.Line, 0), place}
	i, ok := w.frames[key]
	if !ok {
		i = len(w.frames)
		w.frames[key] = i
		w.data.Frames = append(w.data.Frames, key[:]...)
	}
	return i
}

// code returns the number of a node's code.
func (w *callsWriter) code(n *calltree.Node) int {
	i, ok := w.codes[n.Code]
	if ok {
		return i
	}
	label, module := n.Label(), 0
	if n.Parent < 0 {
		label = "all samples"
	}
	if n.Kind == callstack.Native && n.Module != "" {
		module = intern(w.names, &w.data.Names, shown(n.Module)) + 1
	}
	if i = len(w.data.Codes) / 2; n.Parent >= 0 { // the root is not a thread without a name
		w.codes[n.Code] = i
	}
	w.data.Codes = append(w.data.Codes, intern(w.names, &w.data.Names, shown(label)), module)
	return i
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

// callsLink returns the link to the callers and callees of a method or function, or "" if the profile has no call stacks.
func (t *tableBuilder) callsLink(name string) string {
	if t.p.Stacks == nil || name == "" {
		return ""
	}
	return "g=sandwich&m=" + strings.ReplaceAll(url.QueryEscape(shown(name)), "+", "%20")
}
