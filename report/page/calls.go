package page

import (
	"encoding/json"
	"html/template"
	"net/url"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/htmlpage"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/report/page/show"
)

// Limits of the trees of calls in a page, for all of its profiles together. In the page, a node takes about 10 bytes,
// and a count 6.
const (
	leastCall  = 0.0001 // share of the samples that a node must have
	mostCalls  = 30_000 // nodes
	mostCounts = 80_000 // counts: one for each node, part (time slice and thread group) and event
)

// frameKinds are the kinds of frames. The style sheet has the colour of each.
var frameKinds = []string{"root", "thread", "c2", "c1", "compiled", "interpreter", "stub", "vm", "native", "kernel",
	"unresolved", "cut", "frozen", "unwalked"}

// Flags of a frame.
const (
	guessedFrame  = 1 << iota // the method is a guess; see calltree.Node.Guessed
	inlinedFrame              // most samples are in inlined frames
	someCompiled              // some frames are of compiled methods that were not inlined
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
	w := newCallsWriter(tree, len(p.Counters), at, compilationsOf(p, b.in.Profiles.Capture.JVMs).kindOf)
	return w.json()
}

// newCallsWriter returns a callsWriter for a tree.
func newCallsWriter(tree *calltree.Tree, counters int, at *places, kind func(*calltree.Node) int) *callsWriter {
	w := &callsWriter{CallWriter: htmlpage.NewCallWriter(counters), at: at, tree: tree, codes: map[calltree.Code]int{},
		kind: kind}
	for _, kind := range frameKinds {
		w.Kind(kind)
	}
	return w
}

// json returns the tree as JSON.
func (w *callsWriter) json() template.JS {
	tree := w.tree
	htmlpage.DepthFirst(0, func(i int32) []int32 { return tree.Nodes[i].Children }, w.node)
	text, err := json.Marshal(w.Calls)
	if err != nil {
		return "" // can't happen: these are strings and numbers
	}
	return template.JS(text)
}

// countsOf returns the number of counts in a tree. A node has a count for each part (time slice and thread group) and
// event with samples.
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

// A callsWriter writes a profile's tree of calls, from the threads to the sampled code. The script draws it as a flame
// graph.
type callsWriter struct {
	*htmlpage.CallWriter
	at    *places
	tree  *calltree.Tree
	kind  func(*calltree.Node) int // returns the index of a node's kind in frameKinds
	codes map[calltree.Code]int
}

// node adds node i of the tree, with its counts. depth is its distance from the root.
func (w *callsWriter) node(i int32, depth int) {
	n := &w.tree.Nodes[i]
	w.Node(w.frame(n), depth)
	for e := range w.Calls.Self {
		w.Self(e, counts(n.SelfParts, e)...)
		w.Rest(e, counts(n.OmittedParts, e)...)
	}
	if len(n.OmittedParts) > 0 {
		w.Others(n.Others)
	}
}

// counts returns a pair of numbers for each part (time slice and thread group) that has samples of the event: the
// number of the part, and the number of its samples.
func counts(parts []calltree.PartCounts, event int) (list []int) {
	for _, part := range parts {
		if n := part.Counts[event]; n > 0 {
			list = append(list, part.Part, int(n))
		}
	}
	return list
}

// frame returns the index of a node's frame in the page, and adds the frame if it is new.
func (w *callsWriter) frame(n *calltree.Node) int {
	flags, place := 0, ""
	for _, flag := range []struct {
		bit int
		set bool
	}{{guessedFrame, n.Guessed}, {someCompiled, n.Kinds&(1<<callstack.Compiled) != 0}, {someInlined,
		n.Kinds&(1<<callstack.Inlined) != 0},
		{someInterpred, n.Kinds&(1<<callstack.Interpreted) != 0}} {
		if flag.set {
			flags |= flag.bit
		}
	}
	if f := n.Frame; f != nil && f.Kind.Java() {
		if f.Kind == callstack.Inlined {
			flags |= inlinedFrame
		}
		place = w.at.call(f)
	}
	return w.Frame(w.code(n), w.kind(n), flags, max(n.Line, 0), place)
}

// code returns the index of a node's code in the page, and adds the code if it is new.
func (w *callsWriter) code(n *calltree.Node) int {
	if n.Parent < 0 { // the root has no name, but the script must not take it for a thread without a name
		return w.Code("all samples", "")
	}
	i, ok := w.codes[n.Code]
	if !ok {
		module := ""
		if n.Kind == callstack.Native && n.Module != stateModule {
			module = show.Text(n.Module)
		}
		i = w.Code(show.Text(n.Label()), module)
		w.codes[n.Code] = i
	}
	return i
}

// callsLink returns the link to the callers and callees of a method or function, or "" if the profile has no call
// stacks.
func (t *tableBuilder) callsLink(name string) string {
	if t.p.Stacks == nil || name == "" {
		return ""
	}
	return "g=sandwich&m=" + strings.ReplaceAll(url.QueryEscape(show.Text(name)), "+", "%20")
}
