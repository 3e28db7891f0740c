package text

import (
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/report/amount"
)

// writeLocks writes the table of the places where threads waited for locks.
func writeLocks(v *view) {
	if len(v.p.Locks) == 0 {
		return
	}
	var total int64
	count := 0
	for i := range v.p.Locks {
		total += v.p.Locks[i].Nanos
		count += v.p.Locks[i].Count
	}
	shown := first(v.p.Locks, v.opts.Top)
	var rows [][]string
	for i := range shown {
		s := &shown[i]
		about := v.short(s.Class, false)
		if s.Owner != "" {
			about += ", held by " + s.Owner
		}
		rows = append(rows, []string{amount.ShareOf(s.Nanos, total).String(), fmt.Sprintf("%.2f", float64(s.Nanos)/1e6), fmt.Sprintf("%.2f", float64(s.LongestNanos)/1e6),
			strconv.Itoa(s.Count), site(v, s.Frame), about})
	}
	v.Rule("Locks" + unrecorded(v))
	writeSites(v, []string{"waited", "ms", "longest", "count", "", ""}, rows)
	v.Paragraph("", fmt.Sprintf("Threads waited %s for locks that others held: %s.%s", layout.Plural(count, "time"), millis(total), leftOut(len(v.p.Locks)-len(shown))+siteNote(v)))
	v.Line("")
}

// writeAllocations writes the table of the places where the program allocates.
func writeAllocations(v *view) {
	if len(v.p.Allocations) == 0 {
		return
	}
	var total int64
	events := 0
	for i := range v.p.Allocations {
		total = addBytes(total, v.p.Allocations[i].Bytes)
		events += v.p.Allocations[i].Events
	}
	shown := first(v.p.Allocations, v.opts.Top)
	var rows [][]string
	for i := range shown {
		s := &shown[i]
		share := amount.ShareOf(s.Bytes, total)
		if total == 0 {
			share = amount.ShareOf(int64(s.Events), int64(events))
		}
		rows = append(rows, []string{share.String(), megabytes(s.Bytes), strconv.Itoa(s.Events), allocator(v, s), v.short(s.Class, false) + allocCode(s.Code)})
	}
	v.Rule("Allocations" + unrecorded(v))
	of := "bytes"
	if total == 0 {
		of = "share"
	}
	writeSites(v, []string{of, "MB", "events", "", ""}, rows)
	if total == 0 {
		v.Paragraph("", fmt.Sprintf("From %s; their size is unknown.%s", layout.Plural(events, "allocation"), leftOut(len(v.p.Allocations)-len(shown))))
		v.Line("")
		return
	}
	v.Paragraph("", fmt.Sprintf("Shares are of %s MB, from %s.%s", megabytes(total), layout.Plural(events, "event"), leftOut(len(v.p.Allocations)-len(shown))+siteNote(v)))
	v.Line("")
}

// allocator returns the place of an allocation: a place in the program or, if that is unknown, the JVM's code that
// allocates for it.
func allocator(v *view, s *sites.Alloc) string {
	if s.Frame.Method == "" && s.Code != nil {
		return fmt.Sprintf("(%s: %s)", s.Code.Source, v.short(s.Code.Method, false))
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

// megabytes formats a number of bytes as a number of MB.
func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// first returns the first n elements of a list, or all if n is 0.
func first[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	return list[:min(len(list), n)]
}

// siteNote returns a sentence that says what the places in a table are. It returns "" if they are simply the innermost
// frames of the stacks.
func siteNote(v *view) string {
	if v.p.Sites != event.SiteOwn {
		return ""
	}
	return " Places are the innermost frames outside the JDK (--sites innermost: in the JDK too)."
}

// unrecorded returns a remark that says how long nothing was recorded at the start: " (without the first 2.5 s)". It
// returns "" if that time was short.
func unrecorded(v *view) string {
	if text := v.p.Unrecorded(); text != "" {
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
func site(v *view, f event.Frame) string {
	if f.Method == "" {
		return "(no stack)"
	}
	name := v.short(f.Method, false)
	if f.Line > 0 {
		name += ":" + strconv.Itoa(f.Line)
	}
	return name
}

// writeSites writes a table whose last two columns are text.
func writeSites(v *view, header []string, rows [][]string) {
	aligns := make([]layout.Align, len(header))
	for i := range aligns {
		if aligns[i] = layout.Right; i >= len(header)-2 {
			aligns[i] = layout.Left
		}
	}
	for _, line := range layout.Table(header, rows, aligns) {
		v.Line("%s", v.cut(line))
	}
	v.EndRule()
}

// siteSummary returns the lines of the overview about locks and allocations: how long threads waited, and where the
// program allocates most.
func siteSummary(v *view) (lines []string) {
	if s := sumOf(v.p, event.Lock); s.count > 0 {
		lines = append(lines, fmt.Sprintf("%s for a lock, %s (longest %s)", layout.Plural(s.count, "wait"), millis(s.nanos), millis(s.longest)))
	}
	var bytes int64
	for i := range v.p.Allocations {
		bytes = addBytes(bytes, v.p.Allocations[i].Bytes)
	}
	if bytes > 0 {
		line := megabytes(bytes) + " MB allocated" + unrecorded(v)
		if top := v.p.Allocations[0].Frame; top.Method != "" {
			line += ", most at " + site(v, top)
		}
		lines = append(lines, line)
	}
	return lines
}
