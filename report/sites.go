package report

import (
	"fmt"
	"strconv"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// lockTable lists where threads waited for locks.
func (r *textReport) lockTable() {
	if len(r.p.Locks) == 0 {
		return
	}
	var total int64
	count := 0
	for i := range r.p.Locks {
		total += r.p.Locks[i].Nanos
		count += r.p.Locks[i].Count
	}
	shown := first(r.p.Locks, r.o.Top)
	var rows [][]string
	for i := range shown {
		s := &shown[i]
		about := r.short(s.Class, false)
		if s.Owner != "" {
			about += ", had by " + s.Owner
		}
		rows = append(rows, []string{shareOf(s.Nanos, total).String(), fmt.Sprintf("%.2f", float64(s.Nanos)/1e6), fmt.Sprintf("%.2f", float64(s.LongestNanos)/1e6),
			strconv.Itoa(s.Count), r.site(s.Frame), about})
	}
	r.Rule("Locks")
	r.siteTable([]string{"waited", "ms", "longest", "count", "", ""}, rows)
	r.Paragraph("", fmt.Sprintf("Threads waited %s for locks that others had, %s.%s", layout.Plural(count, "time"), millis(total), leftOut(len(r.p.Locks)-len(shown))))
	r.Line("")
}

// allocationTable lists where the program allocates.
func (r *textReport) allocationTable() {
	if len(r.p.Allocations) == 0 {
		return
	}
	var total int64
	events := 0
	for i := range r.p.Allocations {
		total = addBytes(total, r.p.Allocations[i].Bytes)
		events += r.p.Allocations[i].Events
	}
	shown := first(r.p.Allocations, r.o.Top)
	var rows [][]string
	for i := range shown {
		s := &shown[i]
		share := shareOf(s.Bytes, total)
		if total == 0 {
			share = shareOf(int64(s.Events), int64(events))
		}
		rows = append(rows, []string{share.String(), megabytes(s.Bytes), strconv.Itoa(s.Events), r.allocator(s), r.short(s.Class, false) + r.allocCode(s.Code)})
	}
	r.Rule("Allocations")
	of := "bytes"
	if total == 0 {
		of = "share"
	}
	r.siteTable([]string{of, "MB", "events", "", ""}, rows)
	if total == 0 {
		r.Paragraph("", fmt.Sprintf("Of %s; nothing told of how many bytes.%s", layout.Plural(events, "allocation"), leftOut(len(r.p.Allocations)-len(shown))))
		r.Line("")
		return
	}
	r.Paragraph("", fmt.Sprintf("Of %s MB that %s stand for.%s", megabytes(total), layout.Plural(events, "event"), leftOut(len(r.p.Allocations)-len(shown))))
	r.Line("")
}

// allocator is the place of an allocation: the program's own, or what of the JVM allocates for it.
func (r *textReport) allocator(s *profile.AllocSite) string {
	if s.Frame.Method == "" && s.Code != nil {
		return fmt.Sprintf("(%s: %s)", s.Code.Source, r.short(s.Code.Method, false))
	}
	return r.site(s.Frame)
}

// allocCode is the instruction that allocates.
func (r *textReport) allocCode(c *profile.AllocCode) string {
	if c == nil || c.Text == "" {
		return ""
	}
	return fmt.Sprintf(", %#x: %s (%s, compile id %d)", c.PC, c.Text, c.Source, c.CompileID)
}

func addBytes(a, b int64) int64 {
	const most = 1 << 62
	return min(a, most-min(b, most)) + b
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// first are the first n of a list; all with 0.
func first[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	return list[:min(len(list), n)]
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s left out.", layout.Plural(n, "more row"))
}

// site is a place in the program: "java.util.HashMap::resize:705".
func (r *textReport) site(f event.Frame) string {
	if f.Method == "" {
		return "(no stack)"
	}
	name := r.short(f.Method, false)
	if f.Line > 0 {
		name += ":" + strconv.Itoa(f.Line)
	}
	return name
}

// siteTable writes rows whose last two columns are text.
func (r *textReport) siteTable(header []string, rows [][]string) {
	aligns := make([]tw.Align, len(header))
	for i := range aligns {
		if aligns[i] = tw.AlignRight; i >= len(header)-2 {
			aligns[i] = tw.AlignLeft
		}
	}
	for _, line := range layout.Table(header, rows, aligns) {
		if r.Width > 0 {
			line = layout.CutEnd(line, r.Width, r.Ellipsis())
		}
		r.Line("%s", line)
	}
	r.EndRule()
}

// siteLines say in the overview how long threads waited for locks, and how much is allocated where most is.
func (r *textReport) siteLines() (parts []string) {
	if s := r.eventSums(event.Lock); s.count > 0 {
		parts = append(parts, fmt.Sprintf("%s for a lock, %s (longest %s)", layout.Plural(s.count, "wait"), millis(s.nanos), millis(s.longest)))
	}
	var bytes int64
	for i := range r.p.Allocations {
		bytes = addBytes(bytes, r.p.Allocations[i].Bytes)
	}
	if bytes > 0 {
		parts = append(parts, fmt.Sprintf("%s MB allocated, most at %s", megabytes(bytes), r.site(r.p.Allocations[0].Frame)))
	}
	return parts
}

// ownLine says in the overview how often the program told of its own events.
func (r *textReport) ownLine() (parts []string) {
	own := func(t profile.EventTotal) bool { return t.Kind == event.Own }
	n := 0
	for _, t := range r.p.Happened {
		if own(t) {
			if n++; n <= maxOwn {
				parts = append(parts, fmt.Sprintf("%d %s, %s (longest %s)", t.Count, t.Name, millis(t.Nanos), millis(t.LongestNanos)))
			}
		}
	}
	if n > maxOwn {
		parts = append(parts, layout.Plural(n-maxOwn, "more type")+" of the program's own events")
	}
	return parts
}

// maxOwn is how many types of the program's own events the overview names.
const maxOwn = 3
