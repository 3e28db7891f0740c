package page

import (
	"github.com/gasm-profiler/gasm/profile/code"
)

// notInlined returns the table of the calls in hot code that were not inlined, or nil if the compilers' decisions were
// not recorded.
func (t *tableBuilder) notInlined() *table {
	if t.r.Calls == nil {
		return nil
	}
	out := t.start("not-inlined", "Calls not inlined in hot code",
		"self: samples in the basic block with the call; callee: samples in the callee's code that it has called, without what that calls",
		"callee", "call", "calls", "why", "to change it", "in", "JVM")
	out.Columns[len(t.totals)].Number = true
	for i := range t.r.Calls.NotInlined[:t.limit(len(t.r.Calls.NotInlined))] {
		c := &t.r.Calls.NotInlined[i]
		callee := cell{}
		if len(c.CalleeCounts.Values) > 0 {
			callee = t.count(c.CalleeCounts.Values[0], 0, nil)
		}
		out.Rows = append(out.Rows, row{Link: t.places.compilation(c.Method, c.CompileID),
			Cells: append(t.counts(c.Here.Values, nil), callee, cell{Text: site(&c.Frames[0]), Name: true},
				cell{Text: shown(c.Callee), Name: true}, cell{Text: shown(c.Reason)}, cell{Text: shown(c.Change)},
				cell{Text: shown(c.Method), Name: true}, t.jvmCell(c.PID))})
	}
	return t.cut(t.oneJVM(out), t.r.Calls.AllNotInlined)
}

// appendCallNote appends the reason why a call was not inlined. The side panel shows that text, too.
func appendCallNote(b []byte, l *code.Line) []byte {
	if l.Call == nil || l.Call.String() == "" {
		return b
	}
	if len(b) > 0 {
		b = append(b, ' ')
	}
	b = appendText(append(b, `<q class="jit">`...), l.Call.String())
	if change := l.Call.Change(); change != "" {
		b = appendText(b, "; to change it: "+change)
	}
	return append(b, "</q>"...)
}
