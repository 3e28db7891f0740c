package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/text/view"
)

const (
	// leastLoop is the smallest share of the profile's samples with which a loop is in the report.
	leastLoop = 0.01
	maxLoops  = 10
)

// writeLoops writes what is known about the hottest loops. It leaves out loops that contain other loops, because the
// inner loops have the samples.
func writeLoops(v *view.View) {
	var hot []*profile.HotLoop
	for i := range v.Profile.HotLoops {
		l := &v.Profile.HotLoops[i]
		if l.Facts.Innermost && len(hot) < min(maxLoops, v.Options.Top) && v.Profile.Share(l.Counts) >= leastLoop &&
			v.Visible(l.Counts) {
			hot = append(hot, l)
		}
	}
	if len(hot) == 0 {
		return
	}
	v.Rule("Hottest Loops")
	for _, l := range hot {
		writeLoop(v, l)
	}
	v.EndRule()
	bounded := func(l *profile.HotLoop) bool { return l.Facts.Bound != nil }
	if slices.ContainsFunc(hot, bounded) {
		v.Paragraph("",
			"No faster than: with every load in the L1 cache and every jump predicted, on Zen to Zen 5 or Skylake and later. "+
				"A chain is of instructions that wait for one another, from round to round; chains through memory are not followed.")
	}
	v.Line("")
}

// writeLoop writes what is known about a loop.
func writeLoop(v *view.View, l *profile.HotLoop) {
	where := fmt.Sprintf(", loop %d at 0x%x, %s", l.Number, l.Head, layout.Plural(l.Lines, "instruction"))
	counts := v.Cells(l.Counts)
	start := counts + "  "
	v.Line("%s%s%s", start, v.HeadingName(l.Method, layout.ShortMethod, layout.Width(start)+layout.Width(where)), where)
	indent := strings.Repeat(" ", layout.Width(start))
	v.Paragraph(indent, l.Facts.Words())
	if limit := l.Facts.Limit(); limit != "" {
		v.Paragraph(indent, limit)
	}
	if m := l.Facts.Modelled; m != nil {
		v.Paragraph(indent, m.Tool+": "+m.Verdict)
	}
}
