package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// Where events took less of the window than tellingShare, and nothing waited as long as
// tellingWait for a safepoint, a line in the overview says it all.
const (
	tellingShare = 0.01
	tellingWait  = 10e6 // ns; one frame of a picture on a screen takes 16 ms
)

// eventSums are the sums of a kind.
type eventSums struct {
	count                             int
	nanos, longest, wait, longestWait int64
}

func (r *textReport) eventSums(kind event.Kind) (s eventSums) {
	for _, t := range r.p.Happened {
		if t.Kind == kind {
			s.count += t.Count
			s.nanos += t.Nanos
			s.wait += t.WaitNanos
			s.longest, s.longestWait = max(s.longest, t.LongestNanos), max(s.longestWait, t.LongestWaitNanos)
		}
	}
	return s
}

// eventLine says in the overview what happened: the pauses and how long they took.
func (r *textReport) eventLine() {
	var parts []string
	if s := r.eventSums(event.GC); s.count > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s (longest %s)", layout.Plural(s.count, "GC pause"), millis(s.nanos), millis(s.longest)))
	}
	if s := r.eventSums(event.Safepoint); s.count > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s, of which %s to come to them (longest %s)",
			layout.Plural(s.count, "safepoint"), millis(s.nanos), millis(s.wait), millis(s.longestWait)))
	}
	parts = append(parts, r.siteLines()...)
	parts = append(parts, r.ownLine()...)
	parts = append(parts, r.plainLine()...)
	if len(parts) > 0 {
		r.field("Events", parts...)
	}
}

// plainKinds are the kinds that are in no table, or only where they took long; the last one is that of profile.OtherEvents.
var plainKinds = []event.Kind{event.ClassLoad, event.JNI, event.Park, event.Sleep, event.Thread, event.Probe, ""}

// plainLine says in the overview how many events of other kinds there were.
func (r *textReport) plainLine() (parts []string) {
	var counts []string
	for _, kind := range plainKinds {
		if s := r.eventSums(kind); s.count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", s.count, cmp.Or(string(kind), "others")))
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return []string{strings.Join(counts, ", ") + " (gasm events lists them)"}
}

// millis writes a time in ms, with three digits that count.
func millis(nanos int64) string {
	return fmt.Sprintf("%.*f ms", millisDecimals(nanos), float64(nanos)/1e6)
}

func millisDecimals(nanos int64) int {
	switch {
	case nanos >= 100e6:
		return 0
	case nanos >= 10e6:
		return 1
	}
	return 2
}

// isTelling tells whether a time is long enough to be told of in a table.
func (r *textReport) isTelling(nanos, longest int64) bool {
	return r.p.WindowSeconds > 0 && float64(nanos)/1e9 >= tellingShare*r.p.WindowSeconds || longest >= tellingWait
}

// eventTable lists what happened, by kind and name, with the samples that were taken meanwhile.
func (r *textReport) eventTable() {
	telling := func(t profile.EventTotal) bool {
		return r.isTelling(t.Nanos, t.LongestNanos) || r.p.Share(t.Counts) >= tellingShare
	}
	if !slices.ContainsFunc(r.p.Happened, telling) {
		return
	}
	header, aligns := []string{}, []tw.Align{}
	for _, name := range r.p.Events {
		header, aligns = append(header, name), append(aligns, tw.AlignRight)
	}
	if len(r.p.Events) == 1 {
		header[0] = "during"
	}
	header = append(header, "count", "total ms", "longest", "kind", "")
	aligns = append(aligns, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignLeft, tw.AlignLeft)
	var rows [][]string
	shown := r.p.Happened
	if r.o.Top > 0 {
		shown = r.longestEvents(r.o.Top)
	}
	for i := range shown {
		t := &shown[i]
		var row []string
		for e, n := range t.Counts {
			row = append(row, r.tableAmount(e, n, shareOf(n, r.p.Accounts[e].Profiled)))
		}
		row = append(row, fmt.Sprint(t.Count), fmt.Sprintf("%.2f", float64(t.Nanos)/1e6), fmt.Sprintf("%.2f", float64(t.LongestNanos)/1e6))
		rows = append(rows, append(row, string(t.Kind), t.Name))
	}
	r.Rule("Events")
	for _, line := range layout.Table(header, rows, aligns) {
		if r.Width > 0 {
			line = layout.CutEnd(line, r.Width, r.Ellipsis())
		}
		r.Line("%s", line)
	}
	r.EndRule()
	note := "Kinds overlap: a pause of the collector is inside a safepoint."
	if more := len(r.p.Happened) - len(shown); more > 0 {
		note += fmt.Sprintf(" %s that took less time left out.", layout.Plural(more, "row"))
	}
	r.Paragraph("", note)
	r.Line("")
}

// longestEvents are the n totals that took longest, in the order that all have.
func (r *textReport) longestEvents(n int) []profile.EventTotal {
	if len(r.p.Happened) <= n {
		return r.p.Happened
	}
	var nanos []int64
	for _, t := range r.p.Happened {
		nanos = append(nanos, t.Nanos)
	}
	slices.Sort(nanos)
	least := nanos[len(nanos)-n]
	var longest []profile.EventTotal
	for _, t := range r.p.Happened {
		if t.Nanos >= least && len(longest) < n {
			longest = append(longest, t)
		}
	}
	return longest
}

// Of the code that ran while threads waited for a safepoint.
const (
	maxDelays     = 5
	maxDelayLines = 3
)

// delayTable says what ran while threads waited for others to come to a safepoint, with the
// hottest instructions.
func (r *textReport) delayTable() {
	s := r.eventSums(event.Safepoint)
	if len(r.p.Delays) == 0 || !r.isTelling(s.wait, s.longestWait) {
		return
	}
	var total int64
	for _, d := range r.p.Delays {
		total += d.Counts[0]
	}
	r.Rule("Time to Safepoint")
	r.Paragraph("", fmt.Sprintf("Threads waited %s for others to come to %s, at most %s. These ran meanwhile:",
		millis(s.wait), layout.Plural(s.count, "safepoint"), millis(s.longestWait)))
	for i := range r.p.Delays[:min(len(r.p.Delays), maxDelays)] {
		d := &r.p.Delays[i]
		tail := compileID(d.CompileID) + r.regionNumber(d)
		name := d.Method
		if d.Native && name == "" {
			name = "(no symbol)"
		}
		r.Line("%s  %s", r.tableAmount(0, d.Counts[0], shareOf(d.Counts[0], total)),
			d.Source+", "+r.headingName(name, layout.ShortMethod, layout.Width(d.Source+tail)+11)+tail)
		for _, l := range d.Lines[:min(len(d.Lines), maxDelayLines)] {
			line := fmt.Sprintf("   0x%x: %s", l.Lo, l.Text)
			if len(l.Frames) > 0 {
				line += fmt.Sprintf("  ; %s@%d (line %d)", l.Frames[0].Method, l.Frames[0].BCI, l.Frames[0].Line)
			}
			if r.Width > 0 {
				line = layout.CutEnd(line, r.Width-9, r.Ellipsis())
			}
			r.Line("%s  %s", r.tableAmount(0, l.Counts[0], shareOf(l.Counts[0], total)), line)
		}
	}
	r.EndRule()
	r.Paragraph("", "Shares are of the samples that application threads had between the request and the arrival of the last one.")
	r.Line("")
}

// regionNumber names the annotated region that a delay is in, if it is annotated.
func (r *textReport) regionNumber(d *profile.Delay) string {
	if d.Region < 0 {
		return ""
	}
	region := &r.p.Regions[d.Region]
	for i, h := range r.annotated() {
		if h.region != nil && h.region.Lo == region.Lo && h.region.Method == region.Method && h.region.CompileID == region.CompileID {
			return fmt.Sprintf(", region %d", i+1)
		}
	}
	return ""
}

// eventText describes an event: where it was, and its arguments, "cause=G1 Evacuation Pause".
func eventText(e *event.Event) string {
	var parts []string
	if len(e.Frames) > 0 {
		parts = append(parts, fmt.Sprintf("at %s:%d", e.Frames[0].Method, e.Frames[0].Line))
	}
	for _, a := range e.Args {
		parts = append(parts, a.Name+"="+a.Value)
	}
	return strings.Join(parts, ", ")
}
