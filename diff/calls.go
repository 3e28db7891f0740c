package diff

import (
	"encoding/json"
	"html/template"
	"slices"

	"github.com/gasm-profiler/gasm/internal/htmlpage"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/report/schema"
)

// A Call is a node of a tree of calls: a method or a function, and the path of calls to it.
type Call struct {
	Parent int // index of its caller, which comes before it, or -1 for the root
	callKey
	Self    int64 // samples that end here
	Omitted int64 // samples of calls that are left out because they have too few
	Others  int   // how many calls are left out
}

// A callKey identifies a call among all calls of one caller.
type callKey struct {
	Kind         string // "java", or another of the kinds of schema.StackNode, or "" for the root
	Module, Name string
}

// maxHTMLCalls limits the calls on the page. A report has at most 10,000 for each trial.
const maxHTMLCalls = 100_000

// callsOf returns the tree of a profile's call stacks, with the samples of one event. It returns nil if there are no
// stacks, or if the report is damaged.
func callsOf(s *schema.Stacks, event string) []Call {
	if s == nil {
		return nil
	}
	calls := make([]Call, 0, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Parent >= i || (n.Parent < 0) != (i == 0) {
			return nil
		}
		c := Call{Parent: max(n.Parent, -1), callKey: callKey{Module: n.Module, Name: n.Name}, Self: n.Self.Of(event),
			Omitted: n.Omitted.Of(event), Others: n.Others}
		if len(n.Kinds) > 0 {
			c.Kind = n.Kinds[0]
		}
		if slices.Contains([]string{"compiled", "inlined", "interpreted"}, c.Kind) {
			c.Kind = "java"
		}
		calls = append(calls, c)
	}
	return calls
}

// A comparedCall is a call with the samples of both sides.
type comparedCall struct {
	Call
	b        Call // only its samples are set
	children []int
}

// compareCalls merges two trees. A call that is in both is in the result once, with the samples of both.
func compareCalls(a, b []Call) []comparedCall {
	var all []comparedCall
	type key struct {
		parent int
		callKey
	}
	index := map[key]int{}
	add := func(calls []Call, to func(*comparedCall) *Call) {
		number := make([]int, len(calls)) // for each call, its number in the result
		for i := range calls {
			c := &calls[i]
			k := key{-1, c.callKey}
			if c.Parent >= 0 {
				k.parent = number[c.Parent]
			}
			at, ok := index[k]
			if !ok {
				at = len(all)
				index[k] = at
				all = append(all, comparedCall{Call: Call{Parent: k.parent, callKey: c.callKey}})
				if k.parent >= 0 {
					all[k.parent].children = append(all[k.parent].children, at)
				}
			}
			number[i] = at
			side := to(&all[at])
			side.Self, side.Omitted, side.Others = side.Self+c.Self, side.Omitted+c.Omitted, max(side.Others, c.Others)
		}
	}
	add(a, func(c *comparedCall) *Call { return &c.Call })
	add(b, func(c *comparedCall) *Call { return &c.b })
	return all
}

// joinCalls returns the sums of two trees. It returns nil if one of them is missing, because the sums would lack its
// samples.
func joinCalls(a, b []Call) []Call {
	if a == nil || b == nil {
		return nil
	}
	compared := compareCalls(a, b)
	calls := make([]Call, len(compared))
	for i, c := range compared {
		calls[i] = c.Call
		calls[i].Self, calls[i].Omitted, calls[i].Others = c.Self+c.b.Self, c.Omitted+c.b.Omitted, max(c.Others, c.b.Others)
	}
	return calls
}

// callsData is the tree of calls of both sides, for the page's script. For the script, the samples of A and those of B
// are two events.
type callsData struct {
	htmlpage.Calls
	// A change of a share is noise if it is smaller than MinChange, or than Factor standard errors.
	MinChange float64 `json:"minChange"`
	Factor    float64 `json:"factor"`
}

// htmlCalls returns the tree of calls of both sides as JSON. room is the number of calls that the page may still have.
// htmlCalls returns "" if a side has no call stacks, or if there is no room for the tree.
func (c *Comparison) htmlCalls(room *int) template.JS {
	if len(c.A.Calls) == 0 || len(c.B.Calls) == 0 {
		return ""
	}
	calls := compareCalls(c.A.Calls, c.B.Calls)
	if *room -= len(calls); *room < 0 {
		return ""
	}
	text, err := json.Marshal(newCallsData(calls, &c.Noise))
	if err != nil {
		return "" // can't happen: these are strings and numbers
	}
	return template.JS(text)
}

// newCallsData returns the data of a tree.
func newCallsData(calls []comparedCall, noise *Noise) *callsData {
	w := htmlpage.NewCallWriter(2)
	frames := map[callKey]int{}
	htmlpage.DepthFirst(0, func(i int) []int { return calls[i].children }, func(i, depth int) {
		n := &calls[i]
		frame, ok := frames[n.callKey]
		if !ok {
			code := w.Code(layout.Escape(n.label()), layout.Escape(n.Module))
			frame = w.Frame(code, w.Kind(layout.Escape(n.Kind)), 0, 0, "")
			frames[n.callKey] = frame
		}
		w.Node(frame, depth)
		for side, c := range []*Call{&n.Call, &n.b} {
			if c.Self > 0 {
				w.Self(side, 0, int(c.Self))
			}
			if c.Omitted > 0 {
				w.Rest(side, 0, int(c.Omitted))
			}
		}
		if n.Omitted > 0 || n.b.Omitted > 0 {
			w.Others(max(n.Others, n.b.Others))
		}
	})
	return &callsData{w.Calls, noise.MinChange, noise.Factor}
}

// label returns the name of a call. If it has none, the label says in brackets what is known about it.
func (k *callKey) label() string {
	switch {
	case k.Kind == "":
		return "all samples"
	case k.Kind == "unwalked" && k.Name == "":
		return "[not walked]"
	case k.Name != "":
		return k.Name
	case k.Module != "":
		return "[" + k.Module + "]"
	case k.Kind == "thread":
		return "[no name]"
	}
	return "[" + k.Kind + "]"
}
