package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// eventTable returns a table without rows. The columns with numbers come before the columns with texts. The first
// column is marked as sorted.
func (t *tableBuilder) eventTable(id, title, note string, numbers, texts []string) *table {
	out := &table{ID: "p" + strconv.Itoa(t.b.listingProfile(t.p)) + "-" + id, Title: title, Note: note}
	for i, name := range numbers {
		out.Columns = append(out.Columns, column{Name: name, Number: true, Sorted: i == 0})
	}
	for _, name := range texts {
		out.Columns = append(out.Columns, column{Name: name})
	}
	return out
}

// number returns a cell that shows a text and is sorted by a value.
func number(text string, value float64) cell {
	return cell{Text: text, Sort: strconv.FormatFloat(value, 'f', -1, 64)}
}

// millis returns a cell with a time in ms. For a time of 0, which means unknown, the cell shows "-".
func millis(ms float64) cell {
	if ms == 0 {
		return number("-", 0)
	}
	return number(fmt.Sprintf("%.2f", ms), ms)
}

// events returns the table of events, with a row for each kind and name.
func (t *tableBuilder) events() *table {
	out := t.eventTable("events", "Events", "kinds overlap: a GC pause, for example, lies within a safepoint",
		[]string{"samples during", "count", "ms", "longest"}, []string{"kind", "name"})
	out.Columns[0].Sorted = false // rows are ordered by kind
	for _, e := range t.r.Events[:t.limit(len(t.r.Events))] {
		var during int64
		if len(e.Samples.Values) > 0 {
			during = e.Samples.Values[0]
		}
		out.Rows = append(out.Rows, row{Cells: []cell{number(strconv.FormatInt(during, 10), float64(during)),
			number(strconv.Itoa(e.Count), float64(e.Count)),
			millis(e.TotalMS), millis(e.LongestMS), {Text: show.Text(e.Kind)}, {Text: show.Text(e.Name), Name: true}}})
	}
	return t.cut(out, len(t.r.Events))
}

// locks returns the table of places where threads waited for locks.
func (t *tableBuilder) locks() *table {
	out := t.eventTable("locks", strings.TrimSpace("Locks "+t.p.Unrecorded()),
		"where threads waited for locks that others held", []string{"ms", "longest", "count"},
		[]string{"at", "lock", "held by"})
	return t.waits(out, t.r.Locks, t.p.Locks)
}

// parks returns the table of places where threads waited for something other than a lock.
func (t *tableBuilder) parks() *table {
	out := t.eventTable("parks", strings.TrimSpace("Parks "+t.p.Unrecorded()),
		"where threads were parked, or in Object.wait, without those that waited for a lock",
		[]string{"ms", "longest", "count"}, []string{"at", "waited for", ""})
	return t.waits(out, t.r.Parks, t.p.Parks)
}

// waits adds the rows of places where threads waited to the table out, and returns the table.
func (t *tableBuilder) waits(out *table, waits []schema.Lock, of []sites.Wait) *table {
	for i, l := range waits[:t.limit(len(waits))] {
		out.Rows = append(out.Rows, row{Link: t.siteLink(l.At),
			Cells: []cell{millis(l.TotalMS), millis(l.LongestMS), number(strconv.Itoa(l.Count), float64(l.Count)),
				{Text: site(l.At), Name: true, Callers: t.callers(of[i].Stacks)}, {Text: show.Text(l.Class)},
				{Text: show.Text(l.Owner)}}})
	}
	return t.cut(out, len(waits))
}

// allocations returns the table of places where the program allocates.
func (t *tableBuilder) allocations() *table {
	out := t.eventTable("allocations", strings.TrimSpace("Allocations "+t.p.Unrecorded()),
		"how much the program allocated, estimated from samples if not each allocation was recorded",
		[]string{"MB", "events"}, []string{"at", "class"})
	sized := slices.ContainsFunc(t.r.Allocations, func(a schema.Allocation) bool { return a.Bytes > 0 })
	for i, a := range t.r.Allocations[:t.limit(len(t.r.Allocations))] {
		megabytes := number("-", 0) // the size is unknown
		if sized {
			megabytes = number(fmt.Sprintf("%.1f", float64(a.Bytes)/1e6), float64(a.Bytes))
		}
		out.Rows = append(out.Rows, row{Link: t.siteLink(a.At),
			Cells: []cell{megabytes, number(strconv.Itoa(a.Events), float64(a.Events)),
				{Text: allocator(&a), Name: true, Callers: t.callers(t.p.Allocations[i].Stacks)}, {Text: show.Text(a.Class)}}})
	}
	return t.cut(out, len(t.r.Allocations))
}

// allocator returns the text for the place of an allocation. This is a place in the program or, if that is unknown,
// the code in the JVM that allocated.
func allocator(a *schema.Allocation) string {
	if a.At == nil && a.Code != nil {
		return show.Text(a.Code.Source + ": " + a.Code.Name)
	}
	return site(a.At)
}

// site returns the text for a place in the program: "java.util.HashMap::resize:705".
func site(f *schema.Frame) string {
	if f == nil {
		return "(no stack)"
	}
	text := show.Text(f.Method)
	if f.Line > 0 {
		text += ":" + strconv.Itoa(f.Line)
	}
	return text
}

// siteLink returns the link to the code of a place, or "" if its code is not in the page.
func (t *tableBuilder) siteLink(f *schema.Frame) string {
	if f == nil {
		return ""
	}
	return t.places.line(f.Method, f.Line)
}
