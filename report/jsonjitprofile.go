package report

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
	"github.com/gasm-profiler/gasm/report/schema"
)

// jitProfile converts a note of HotSpot's profile. It returns nil if there is none.
func jitProfile(n *jitprofile.Note) *schema.JITProfile {
	if n == nil {
		return nil
	}
	p := &schema.JITProfile{Method: n.Method, BCI: n.BCI, Line: n.Line, Bytecode: n.Bytecode, AllCallers: n.AllCallers,
		Others: n.Others, Incomplete: n.More, Failed: n.Failed, NullSeen: n.NullSeen, Inlined: n.Inlined,
		Types: each(n.Types, func(t *printassembly.ProfileType) schema.JITType {
			return schema.JITType{Class: t.Class, Count: t.Count}
		})}
	if n.IsBranch() {
		p.Taken, p.NotTaken = &n.Taken, &n.NotTaken
	}
	switch {
	case n.Dispatched:
		p.Call = "dispatched"
	case n.Direct:
		p.Call = "direct"
	}
	return p
}

// deoptimized converts the deoptimisations of methods.
func deoptimized(c *jitprofile.Code) (all []schema.Deoptimized) {
	if c == nil {
		return nil
	}
	for _, m := range c.Traps {
		d := schema.Deoptimized{Method: m.Method, Reasons: map[string]int{}}
		for _, t := range m.Traps {
			d.Reasons[t.Reason] = t.Count
		}
		all = append(all, d)
	}
	return all
}
