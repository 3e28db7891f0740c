package text

import (
	"fmt"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/events"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// Limits of the table of delays, which shows the code that ran while threads waited for a safepoint.
const (
	maxDelays     = 5 // the maximum number of methods
	maxDelayLines = 3 // the maximum number of instructions of each method
)

// writeDelays writes which code ran while threads waited for other threads to reach a safepoint. It also writes the
// hottest instructions of that code.
func writeDelays(v *view.View) {
	s := events.SumOf(v.Profile, event.Safepoint)
	if len(v.Profile.Delays) == 0 || !events.IsTelling(v.Profile, s.Wait, s.LongestWait) {
		return
	}
	var total int64
	for _, d := range v.Profile.Delays {
		total += d.Counts[0]
	}
	v.Rule("Time to Safepoint")
	v.Paragraph("", fmt.Sprintf("Threads waited %s for others to reach %s (longest %s), while this code ran:",
		events.Millis(s.Wait), layout.Plural(s.Count, "safepoint"), events.Millis(s.LongestWait)))
	for i := range v.Profile.Delays[:min(len(v.Profile.Delays), maxDelays)] {
		writeDelay(v, &v.Profile.Delays[i], total)
	}
	v.EndRule()
	v.Paragraph("", "Shares are of application threads' samples between the request and the last thread's arrival.")
	v.Line("")
}

// writeDelay writes one method with its hottest instructions. total is the number of samples of all methods.
func writeDelay(v *view.View, d *delays.Delay, total int64) {
	tail := view.CompileID(d.CompileID) + regionNumber(v.Profile, d)
	name := d.Method
	if d.Native && name == "" {
		name = "(no symbol)"
	}
	v.Line("%s  %s", delayAmount(v, d.Counts, total),
		d.Source+", "+v.HeadingName(name, layout.ShortMethod, layout.Width(d.Source+tail)+11)+tail)
	for _, l := range d.Lines[:min(len(d.Lines), maxDelayLines)] {
		line := fmt.Sprintf("   0x%x: %s", l.Lo, l.Text)
		if len(l.Frames) > 0 {
			line += fmt.Sprintf("  ; %s@%d (line %s)", l.Frames[0].Name(), l.Frames[0].BCI, l.Frames[0].LineText())
		}
		if v.Width > 0 {
			line = layout.CutEnd(line, v.Width-9, v.Ellipsis())
		}
		v.Line("%s  %s", delayAmount(v, l.Counts, total), line)
	}
}

// delayAmount formats samples of the first event. Percentages are shares of total, the samples of all methods.
func delayAmount(v *view.View, c tally.Counts, total int64) string {
	return v.Cell(0, c[0], amount.ShareOf(c[0], total))
}

// regionNumber returns the number of the annotated region that contains the code of a delay: ", region 2". It returns
// "" if no annotated region contains it.
func regionNumber(p *profile.Profile, d *delays.Delay) string {
	if d.Region < 0 {
		return ""
	}
	region := &p.Regions[d.Region]
	for i, h := range hotspots(p) {
		if h.region != nil && h.region.Lo == region.Lo && h.region.Method == region.Method &&
			h.region.CompileID == region.CompileID {
			return fmt.Sprintf(", region %d", i+1)
		}
	}
	return ""
}
