// Package events writes the parts of the text report that are not about samples of code: events, the places where
// threads waited or allocated, probed methods, and how threads spent wall-clock time.
package events

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// There is a table of events only if the events of one kind and name took at least tellingShare of the window (the time
// in which the JVM was measured), or had at least this share of the samples, or if one of these events took at least
// tellingWait. Otherwise a line in the overview is enough.
const (
	tellingShare = 0.01
	tellingWait  = 10e6 // ns; a screen shows a picture for 16 ms
)

// A Sum sums up the events of a kind. Times are in ns. Wait and LongestWait are the times until safepoints were
// reached.
type Sum struct {
	Count                             int
	nanos, longest, Wait, LongestWait int64
}

// ofTool returns a remark for events that Flight Recorder or an agent caused. The remark follows the name of the
// events. It is "" if the name already says the same.
func ofTool(t *events.Total) string {
	if !t.Tool || t.Name == events.OfTool {
		return ""
	}
	return " (not the program's)"
}

// SumOf sums up the events of a kind, without those that Flight Recorder or an agent caused.
func SumOf(p *profile.Profile, kind event.Kind) (s Sum) {
	for _, t := range p.Events {
		if t.Kind == kind && !t.Tool {
			s.Count += t.Count
			s.nanos += t.Nanos
			s.Wait += t.WaitNanos
			s.longest, s.LongestWait = max(s.longest, t.LongestNanos), max(s.LongestWait, t.LongestWaitNanos)
		}
	}
	return s
}

// Summary returns the lines of the overview about events, for example how many GC pauses there were and how long they
// took.
func Summary(v *view.View) (lines []string) {
	if s := SumOf(v.Profile, event.GC); s.Count > 0 {
		lines = append(lines, fmt.Sprintf("%s, %s (longest %s)", layout.Plural(s.Count, "GC pause"), Millis(s.nanos),
			Millis(s.longest)))
	}
	if s := SumOf(v.Profile, event.Safepoint); s.Count > 0 {
		reached := "how long it took to reach them is unknown" // HotSpot's USDT probes do not report it
		if s.Wait > 0 {
			reached = fmt.Sprintf("of which %s to reach them (longest %s)", Millis(s.Wait), Millis(s.LongestWait))
		}
		lines = append(lines, fmt.Sprintf("%s, %s, %s", layout.Plural(s.Count, "safepoint"), Millis(s.nanos), reached))
	}
	return slices.Concat(lines, siteSummary(v), ownEvents(v.Profile), plainEvents(v.Profile))
}

// maxOwn is the maximum number of types of the program's own events that the overview names.
const maxOwn = 3

// ownEvents returns the lines of the overview about the program's own events: a line for each type, up to maxOwn, and a
// line that counts the other types.
func ownEvents(p *profile.Profile) (lines []string) {
	n := 0
	for _, t := range p.Events {
		if t.Kind != event.Own {
			continue
		}
		if n++; n <= maxOwn {
			line := fmt.Sprintf("%d %s", t.Count, t.Name)
			if t.Nanos > 0 {
				line += fmt.Sprintf(", %s (longest %s)", Millis(t.Nanos), Millis(t.LongestNanos))
			}
			lines = append(lines, line)
		}
	}
	if n > maxOwn {
		lines = append(lines, layout.Plural(n-maxOwn, "more type")+" of the program's own events")
	}
	return lines
}

// plainKinds are the kinds of events that the overview only counts. The empty kind is that of events.Others.
var plainKinds = []event.Kind{event.ClassLoad, event.JNI, event.Sleep, event.Thread, event.Probe, ""}

// plainEvents returns a line of the overview that counts the events of plainKinds: "7 jni, 5 others".
func plainEvents(p *profile.Profile) []string {
	var counts []string
	for _, kind := range plainKinds {
		if s := SumOf(p, kind); s.Count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", s.Count, cmp.Or(string(kind), "others")))
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return []string{strings.Join(counts, ", ") + " (gasm events lists them)"}
}

// Millis formats a time as milliseconds, with three significant digits: "34.5 ms".
func Millis(nanos int64) string {
	decimals := 2
	switch {
	case nanos >= 100e6:
		decimals = 0
	case nanos >= 10e6:
		decimals = 1
	}
	return fmt.Sprintf("%.*f ms", decimals, float64(nanos)/1e6)
}

// IsTelling reports whether events belong in a table: they do if together they took at least tellingShare of the
// window, or if the longest of them took at least tellingWait.
func IsTelling(p *profile.Profile, nanos, longest int64) bool {
	return p.WindowSeconds > 0 && float64(nanos)/1e9 >= tellingShare*p.WindowSeconds || longest >= tellingWait
}

// Write writes the table of events by kind and name, with the samples that were taken during these events.
func Write(v *view.View) {
	telling := func(t events.Total) bool {
		return IsTelling(v.Profile, t.Nanos, t.LongestNanos) || v.Profile.Share(t.Counts) >= tellingShare
	}
	if !slices.ContainsFunc(v.Profile.Events, telling) {
		return
	}
	header, aligns := []string{}, []layout.Align{}
	for _, name := range v.Profile.Counters {
		header, aligns = append(header, name), append(aligns, layout.Right)
	}
	if len(v.Profile.Counters) == 1 {
		header[0] = "during"
	}
	header = append(header, "count", "total ms", "longest", "kind", "")
	aligns = append(aligns, layout.Right, layout.Right, layout.Right, layout.Left, layout.Left)
	shown := longestEvents(v.Profile.Events, v.Options.Top)
	var rows [][]string
	for i := range shown {
		t := &shown[i]
		var row []string
		for e, n := range t.Counts {
			row = append(row, v.InTable(e, n))
		}
		row = append(row, fmt.Sprint(t.Count), view.TableMillis(t.Nanos), view.TableMillis(t.LongestNanos))
		rows = append(rows, append(row, string(t.Kind), t.Name+ofTool(t)))
	}
	v.Rule("Events")
	for _, line := range layout.Table(header, rows, aligns) {
		v.Line("%s", v.Cut(line))
	}
	v.EndRule()
	note := "Kinds overlap: a GC pause, for example, lies within a safepoint."
	if more := len(v.Profile.Events) - len(shown); more > 0 {
		note += fmt.Sprintf(" %s with less time left out.", layout.Plural(more, "row"))
	}
	if text := v.Profile.Unrecorded(); text != "" {
		note += " What Flight Recorder or USDT has recorded is " + text + "."
	}
	v.Paragraph("", note)
	v.Line("")
}

// longestEvents returns the n totals with the longest times, or all if n is 0. The order of the totals stays the same.
func longestEvents(all []events.Total, n int) []events.Total {
	if n == 0 || len(all) <= n {
		return all
	}
	var nanos []int64
	for _, t := range all {
		nanos = append(nanos, t.Nanos)
	}
	slices.Sort(nanos)
	least := nanos[len(nanos)-n]
	var longest []events.Total
	for _, t := range all {
		if t.Nanos >= least && len(longest) < n {
			longest = append(longest, t)
		}
	}
	return longest
}
