package report

import (
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/loops"
	"github.com/gasm-profiler/gasm/report/schema"
)

// loop converts a loop, and what is known about it.
func (p jsonProfile) loop(l *profile.HotLoop) schema.Loop {
	f := l.Facts
	out := schema.LoopFacts{Innermost: f.Innermost, Vector: f.Vector, Scalar: f.Scalar, Unrolled: f.Unrolled,
		Copied:      f.Copied,
		RangeChecks: f.RangeChecks, Polls: f.Polls, Calls: f.Calls, Spills: f.Spills, Reloads: f.Reloads,
		NoBound: f.Unbounded}
	if b := f.Bound; b != nil {
		out.Bound = &schema.LoopBound{Chain: b.Cycles, ChainNewest: b.Newest, Ports: b.Ports, Busiest: b.Busiest,
			Instructions: b.Instructions, UsualPath: b.Usual,
			Links: each(b.Chain, func(l *loops.Link) schema.ChainLink {
				return schema.ChainLink{Addr: schema.Address(l.Addr), Name: l.Name}
			})}
	}
	if m := f.Modelled; m != nil {
		out.Modelled = &schema.Modelled{Tool: m.Tool, Verdict: m.Verdict, Text: m.Text}
	}
	facts := &out
	if !f.Known {
		facts = nil
	}
	return schema.Loop{Source: l.Source, Method: l.Method, CompileID: l.CompileID, Number: l.Number, Inside: l.Parent,
		Depth:  l.Depth,
		Begins: schema.Address(l.Head), Instructions: l.Lines, Counts: p.counts(l.Counts), Facts: facts}
}
