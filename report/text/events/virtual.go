package events

import (
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// writeVirtual writes the places of virtual threads that were not mounted on a thread.
func writeVirtual(v *view.View) {
	list := v.Profile.Waits.Virtual
	if len(list) == 0 && v.Profile.Waits.VirtualSum.Counts == 0 {
		return
	}
	var rows [][]string
	for i := range view.First(list, v.Options.Top) {
		p := &list[i]
		rows = append(rows, []string{fmt.Sprintf("%.1f", p.Mean), strconv.Itoa(p.Most), p.State.String(), site(v, p.Frame),
			v.Short(p.For, false)})
	}
	v.Rule("Virtual Threads")
	if len(rows) > 0 {
		writeLeft(v, []string{"mean", "most", "state", "at", "for"}, 2, rows)
	}
	v.Paragraph("",
		"How many virtual threads were not mounted on a thread of the kernel; the mean and the largest of the counts during the recording."+
			virtualCounts(&v.Profile.Waits.VirtualSum)+leftOut(len(list)-len(view.First(list, v.Options.Top))))
	v.Line("")
}

// virtualCounts returns sentences that say how virtual threads were counted.
func virtualCounts(s *waits.VirtualSum) string {
	if s.Counts == 0 {
		return ""
	}
	text := fmt.Sprintf(" They were counted %s.", layout.Plural(s.Counts, "time"))
	whole := func(n float64) string { return fmt.Sprintf("%.0f", n) }
	switch {
	case s.Counts == s.Moved:
	case s.Looked < s.Threads:
		text += fmt.Sprintf(" On average, %s of %s virtual threads were looked at, chosen at random, so the numbers are estimates.",
			whole(s.Looked), whole(s.Threads))
	default:
		text += fmt.Sprintf(" On average, there were %s virtual threads, and all were looked at.", whole(s.Threads))
	}
	if s.Mounted > 0 {
		text += fmt.Sprintf(" Of those, %.1f were mounted.", s.Mounted)
	}
	if s.Unread > 0 {
		text += fmt.Sprintf(" %.1f could not be read, or changed each time while they were read.", s.Unread)
	}
	if s.Untracked > 0 {
		text += fmt.Sprintf(" Another %s can't be looked at, because the JVM has no list of them (-Djdk.trackAllThreads=false).",
			whole(s.Untracked))
	}
	if s.Moved > 0 {
		text += fmt.Sprintf(" %s found no places, because the collector moved objects.", layout.Plural(s.Moved, "count"))
	}
	return text
}
