package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/callsites"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// inliningSummary returns the lines of the overview about the calls in hot code.
func inliningSummary(v *view.View) []string {
	t := v.Profile.Calls
	if t == nil || t.Calls() == 0 {
		return nil
	}
	text := fmt.Sprintf("of %s in hot code: %d inlined", layout.Plural(t.Calls(), "call"), t.Inlined)
	for _, o := range []struct {
		decisions.Outcome
		text string
	}{{decisions.Refused, "%d refused"}, {decisions.Virtual, "%d virtual"}, {decisions.Rest,
		"%d for other receivers than those inlined"},
		{decisions.Reversed, "%d called although to be inlined"}, {decisions.Unknown, "%d of which nothing is known"}} {
		if n := t.Outcomes[o.Outcome]; n > 0 {
			text += ", " + fmt.Sprintf(o.text, n)
		}
	}
	return []string{text}
}

// writeNotInlined writes the calls in hot code that were not inlined, why they were not, and what would change that.
func writeNotInlined(v *view.View) {
	t := v.Profile.Calls
	if t == nil || len(t.Sites) == 0 {
		return
	}
	v.Rule("Calls Not Inlined in Hot Code")
	head := layout.PadLeft("here", amountWidth) + "  "
	if t.Sites[0].Callee != nil {
		head += layout.PadLeft("callee", amountWidth) + "  "
	}
	v.Line("%s", head)
	list := view.First(t.Sites, v.Options.Top)
	for i := range list {
		writeSite(v, &list[i])
	}
	v.EndRule()
	note := "here: samples in the basic block with the call. "
	if t.Sites[0].Callee != nil {
		note += "callee: samples in the code of the callee that it has called, without what that calls. "
	}
	note += "The reasons are the compiler's; receivers are those that HotSpot counted while it profiled the method. "
	if t.Early > 0 {
		note +=
			fmt.Sprintf("%d of %d pieces of code were compiled before the recording, or in its first second, or their recording is not complete: some decisions about them may be missing. ", t.Early, t.Pieces)
	}
	if more := t.AllSites - len(list); more > 0 {
		note += layout.Plural(more, "more call") + "."
	}
	v.Paragraph("", note)
	v.Line("")
}

// amountWidth is the width of a column of shares.
const amountWidth = len("100.00%")

// writeSite writes a call: its place, its callee, the reason why it was not inlined, and what would change that.
func writeSite(v *view.View, s *callsites.Site) {
	amounts := v.InTable(0, s.Around[0]) + "  "
	if s.Callee != nil {
		amounts += v.InTable(0, s.Callee[0]) + "  "
	}
	place := s.At() + " calls " + cmp.Or(s.Call.Callee, "a method")
	v.Line("%s%s", v.Paint(v.Heat(s.Counts), amounts), v.Cut(place))
	blanks := strings.Repeat(" ", layout.Width(amounts)+2)
	in := ""
	if s.Frames[0].Method != s.Method {
		const most = 40
		in = fmt.Sprintf(" (in %s%s)", layout.ShortMethod(s.Method, most, v.Ellipsis()),
			view.CompileID(s.CompileID)+v.InJVM(s.PID))
	}
	texts := []string{s.Reason() + in}
	if change := s.Change(); change != "" {
		texts = append(texts, "to change it: "+change)
	}
	const least = 40
	for _, text := range texts {
		for i, line := range layout.Wrap(text, max(v.Columns(layout.RuleWidth)-len(blanks)-2, least)) {
			if i > 0 {
				line = "  " + line
			}
			v.Line("%s%s", blanks, line)
		}
	}
}
