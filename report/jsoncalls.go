package report

import (
	"github.com/gasm-profiler/gasm/profile/callsites"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/report/schema"
)

// calls converts the calls in hot code.
func (p jsonProfile) calls() *schema.Calls {
	t := p.Calls
	if t == nil {
		return nil
	}
	return &schema.Calls{Pieces: t.Pieces, Early: t.Early, Inlined: t.Inlined, Refused: t.Outcomes[decisions.Refused],
		Virtual: t.Outcomes[decisions.Virtual],
		Rest:    t.Outcomes[decisions.Rest], Reversed: t.Outcomes[decisions.Reversed], Unknown: t.Outcomes[decisions.Unknown],
		NotInlined: each(t.Sites, p.call), AllNotInlined: t.AllSites}
}

// callText returns what is known about the call at a line, or "".
func callText(l *code.Line) string {
	if l.Call == nil {
		return ""
	}
	return l.Call.Reason()
}

func (p jsonProfile) call(s *callsites.Site) schema.Call {
	c := schema.Call{Source: s.Source, Method: s.Method, CompileID: s.CompileID, PID: s.PID, Addr: schema.Address(s.Lo),
		Frames: each(s.Frames, p.frame),
		Callee: s.Call.Callee, Outcome: s.Outcome.String(), Reasons: s.Reasons, Inlined: s.Inlined, CalleeSize: s.Size,
		Reason: s.Reason(), Change: s.Change(), Receivers: jitProfile(s.Note), Here: p.counts(s.Around)}
	if s.Callee != nil {
		c.CalleeCounts = p.counts(s.Callee)
	}
	return c
}
