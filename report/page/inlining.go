package page

import (
	"cmp"

	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/report/page/show"
)

// notInlined returns the table of the calls in hot code that were not inlined, or nil if the compilers' decisions were
// not recorded.
func (t *tableBuilder) notInlined() *table {
	if t.r.Calls == nil {
		return nil
	}
	out := t.start("not-inlined", "Calls not inlined in hot code",
		"self: samples in the basic block with the call; callee: samples in the callee's code that it has called, without what that calls",
		"callee", "call", "why", "to change it", "calls", "in", "JVM")
	out.Columns[len(t.totals)].Number = true
	for i := range t.r.Calls.NotInlined[:t.limit(len(t.r.Calls.NotInlined))] {
		c := &t.r.Calls.NotInlined[i]
		callee := cell{}
		if len(c.CalleeCounts.Values) > 0 {
			callee = t.count(c.CalleeCounts.Values[0], 0, nil)
		}
		link := cmp.Or(t.places.instruction(c.Source, c.Method, c.CompileID, uint64(c.Addr)),
			t.places.compilation(c.Method, c.CompileID))
		out.Rows = append(out.Rows, row{Link: link,
			Cells: append(t.counts(c.Here.Values, nil), callee, cell{Text: site(&c.Frames[0]), Name: true},
				cell{Text: show.Text(c.Reason)}, cell{Text: show.Text(c.Change)}, cell{Text: show.Text(c.Callee), Name: true},
				cell{Text: show.Text(c.Method), Name: true}, t.jvmCell(c.PID))})
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
	b = show.Append(append(b, `<q class="jit">`...), l.Call.String())
	if change := l.Call.Change(); change != "" {
		b = show.Append(b, "; to change it: "+change)
	}
	return append(b, "</q>"...)
}
