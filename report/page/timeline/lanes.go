package timeline

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/history"
)

// laneHeight is the height of a lane of events below the samples, in the units of the drawing.
const laneHeight = 5

// lanes maps kinds of events to the name and the CSS class of the kind's lane. The class sets the colour.
var lanes = map[event.Kind]struct{ class, name string }{
	event.GC: {"kernel", "GC pauses"}, event.Safepoint: {"out", "safepoints"}, event.Concurrent: {"kernel",
		"concurrent collections"},
	event.Compilation: {"c1", "compilations"}, event.Lock: {"native", "waiting for locks"},
	event.Own: {"c2", "the program's own events"},
}

// drawLanes draws a lane below the samples for each kind of event. A lane consists of bins (short intervals of time).
// The more of its time the events took, the darker a bin is.
func drawLanes(out *strings.Builder, j *history.JVM) {
	for i, lane := range j.Lanes {
		about := lanes[lane.Kind]
		fmt.Fprintf(out, `<g class="f-%s"><title>%s</title>`, about.class, template.HTMLEscapeString(about.name))
		y := height + i*laneHeight + 1
		for bin, share := range lane.Shares {
			if share > 0 {
				fmt.Fprintf(out, `<rect x="%d" y="%d" width="1" height="%d" fill-opacity="%.2f"/>`, bin, y, laneHeight-1,
					0.25+0.75*share)
			}
		}
		out.WriteString("</g>")
	}
}

// laneLegend returns a note that names the lanes from the top down, or "" if no JVM has lanes.
func laneLegend(jvms []history.JVM) template.HTML {
	var names []string
	seen := map[event.Kind]bool{}
	for i := range jvms {
		for _, lane := range jvms[i].Lanes {
			if !seen[lane.Kind] {
				seen[lane.Kind] = true
				names = append(names, template.HTMLEscapeString(lanes[lane.Kind].name))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return template.HTML(`<p class="note">Below the samples, from the top: ` + strings.Join(names, ", ") + `.</p>`)
}
