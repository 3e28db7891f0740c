package events

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// WriteLocks writes the table of the places where threads waited for locks.
func WriteLocks(v *view.View) {
	count, total := writeWaits(v, "Locks", v.Profile.Locks)
	if count == 0 {
		return
	}
	v.Paragraph("", fmt.Sprintf("Threads waited %s for locks that others held: %s.%s", layout.Plural(count, "time"),
		Millis(total), waitsNote(v, v.Profile.Locks)))
	v.Line("")
	writeCallersOfWaits(v, "Callers of Locks", "waits", v.Profile.Locks)
}

// WriteParks writes the table of the places where threads waited for something other than a lock.
func WriteParks(v *view.View) {
	count, total := writeWaits(v, "Parks", v.Profile.Parks)
	if count == 0 {
		return
	}
	v.Paragraph("", fmt.Sprintf("Threads were parked, or in Object.wait, %s: %s. Waits for locks are not among them.%s",
		layout.Plural(count, "time"), Millis(total), waitsNote(v, v.Profile.Parks)))
	v.Line("")
	writeCallersOfWaits(v, "Callers of Parks", "waits", v.Profile.Parks)
}

// waited returns the number of waits, and their total and longest time in ns.
func waited(waits []sites.Wait) (count int, total, longest int64) {
	for i := range waits {
		count += waits[i].Count
		total += waits[i].Nanos
		longest = max(longest, waits[i].LongestNanos)
	}
	return count, total, longest
}

// writeWaits writes the table of places where threads waited. It returns the number of waits and their total time in
// ns.
func writeWaits(v *view.View, title string, waits []sites.Wait) (count int, total int64) {
	count, total, _ = waited(waits)
	if count == 0 {
		return 0, 0
	}
	var rows [][]string
	for i := range view.First(waits, v.Options.Top) {
		s := &waits[i]
		about := v.Short(s.Class, false)
		if s.Owner != "" {
			about += ", held by " + s.Owner
		}
		rows = append(rows, []string{amount.ShareOf(s.Nanos, total).String(), view.TableMillis(s.Nanos),
			view.TableMillis(s.LongestNanos),
			strconv.Itoa(s.Count), site(v, s.Frame), about})
	}
	v.Rule(title + unrecorded(v))
	writeSites(v, []string{"waited", "ms", "longest", "count", "", ""}, rows)
	return count, total
}

// waitsNote returns sentences about rows that are left out, and about the places.
func waitsNote(v *view.View, waits []sites.Wait) string {
	note := leftOut(len(waits) - len(view.First(waits, v.Options.Top)))
	if slices.ContainsFunc(waits, func(s sites.Wait) bool { return s.Frame.Method != "" }) {
		note += siteNote(v)
	}
	return note
}

// WriteAllocations writes the table of the places where the program allocates.
func WriteAllocations(v *view.View) {
	if len(v.Profile.Allocations) == 0 {
		return
	}
	total, events := allocated(v.Profile)
	shown := view.First(v.Profile.Allocations, v.Options.Top)
	note := leftOut(len(v.Profile.Allocations)-len(shown)) + siteNote(v)
	var rows [][]string
	for i := range shown {
		s := &shown[i]
		row := []string{allocationShare(s, total, events), view.Megabytes(s.Bytes), strconv.Itoa(s.Events), allocator(v, s),
			v.Short(s.Class, false) + allocCode(s.Code)}
		if total == 0 {
			row = slices.Delete(row, 1, 2) // the size is unknown
		}
		rows = append(rows, row)
	}
	v.Rule("Allocations" + unrecorded(v))
	if total == 0 {
		writeSites(v, []string{"share", "count", "", ""}, rows)
		v.Paragraph("", fmt.Sprintf("Shares are of %s, whose sizes are unknown.%s", layout.Plural(events, "allocation"),
			note))
	} else {
		writeSites(v, []string{"bytes", "MB", "events", "", ""}, rows)
		v.Paragraph("", fmt.Sprintf("Shares are of %s MB, from %s.%s", view.Megabytes(total), layout.Plural(events, "event"),
			note))
	}
	v.Line("")
	var places []place
	for i := range v.Profile.Allocations[:min(v.Options.SiteCallers, len(v.Profile.Allocations))] {
		s := &v.Profile.Allocations[i]
		places = append(places, place{allocationShare(s, total, events), allocator(v, s), v.Short(s.Class, false), s.Stacks})
	}
	of := "bytes"
	if total == 0 {
		of = "allocations"
	}
	writeSiteCallers(v, "Callers of Allocations", of, ofEvents, places)
}

// allocated returns the number of bytes that the program allocated, and the number of events that recorded them.
func allocated(p *profile.Profile) (bytes int64, events int) {
	for i := range p.Allocations {
		bytes = addBytes(bytes, p.Allocations[i].Bytes)
		events += p.Allocations[i].Events
	}
	return bytes, events
}

// allocationShare returns the share of a place in all bytes or, if no sizes are known, in all events.
func allocationShare(s *sites.Alloc, bytes int64, events int) string {
	if bytes == 0 {
		return amount.ShareOf(int64(s.Events), int64(events)).String()
	}
	return amount.ShareOf(s.Bytes, bytes).String()
}

// allocator returns the place of an allocation: a place in the program or, if that is unknown, the JVM's code that
// allocates for it.
func allocator(v *view.View, s *sites.Alloc) string {
	if s.Frame.Method == "" && s.Code != nil {
		return fmt.Sprintf("(%s: %s)", s.Code.Source, v.Short(s.Code.Method, false))
	}
	return site(v, s.Frame)
}

// allocCode describes the instruction that allocates: ", 0x7efc…: call   0x… (c2, level 4, compile id 7)".
func allocCode(c *sites.AllocCode) string {
	if c == nil || c.Text == "" {
		return ""
	}
	return fmt.Sprintf(", %#x: %s (%s, compile id %d)", c.PC, c.Text, c.Source, c.CompileID)
}

// addBytes returns the sum of two numbers of bytes, but at most 2^62, so that it can't overflow.
func addBytes(a, b int64) int64 {
	const most = 1 << 62
	return min(a, most-min(b, most)) + b
}

// siteNote returns a sentence that says what the places in a table are. It returns "" if they are simply the innermost
// frames of the stacks.
func siteNote(v *view.View) string {
	if v.Profile.Sites != event.SiteOwn {
		return ""
	}
	return " Places are the innermost frames outside the JDK (--sites innermost: in the JDK too)."
}

// unrecorded returns a remark that says how long nothing was recorded at the start: " (without the first 2.5 s)". It
// returns "" if that time was short.
func unrecorded(v *view.View) string {
	if text := v.Profile.Unrecorded(); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// leftOut returns a sentence about n rows that a table does not show. It returns "" if n is 0.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s left out.", layout.Plural(n, "more row"))
}

// site returns a place in the program as text: "java.util.HashMap::resize:705".
func site(v *view.View, f event.Frame) string {
	if f.Method == "" {
		return "(no stack)"
	}
	name := v.Short(f.Method, false)
	if f.Line > 0 {
		name += ":" + strconv.Itoa(f.Line)
	}
	return name
}

// writeSites writes a table whose last two columns are text.
func writeSites(v *view.View, header []string, rows [][]string) {
	aligns := make([]layout.Align, len(header))
	for i := range aligns {
		if aligns[i] = layout.Right; i >= len(header)-2 {
			aligns[i] = layout.Left
		}
	}
	for _, line := range layout.Table(header, rows, aligns) {
		v.Line("%s", v.Cut(line))
	}
	v.EndRule()
}

// siteSummary returns the lines of the overview about waits and allocations: how long threads waited, and where the
// program allocates most.
func siteSummary(v *view.View) (lines []string) {
	for _, kind := range []struct {
		waits []sites.Wait
		name  string
	}{{v.Profile.Locks, "%s for a lock"}, {v.Profile.Parks, "%s for something else"}} {
		if count, total, longest := waited(kind.waits); count > 0 {
			lines = append(lines, fmt.Sprintf(kind.name+", %s (longest %s)", layout.Plural(count, "wait"), Millis(total),
				Millis(longest)))
		}
	}
	if bytes, _ := allocated(v.Profile); bytes > 0 {
		line := view.Megabytes(bytes) + " MB allocated" + unrecorded(v)
		if top := v.Profile.Allocations[0].Frame; top.Method != "" {
			line += ", most at " + site(v, top)
		}
		lines = append(lines, line)
	}
	return lines
}
