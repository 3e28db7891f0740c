package page

import (
	"strconv"

	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// probes returns the table of the probed methods, with their calls and times.
func (t *tableBuilder) probes() *table {
	out := t.eventTable("probes", "Probes",
		"calls of probed methods, inside and outside the window; for locks, how often they were taken; for allocations, the objects",
		[]string{"ms", "count", "exceptions", "p50 µs", "p90 µs", "p99 µs", "max µs"}, []string{"of", "method", "descriptor"})
	for i := range t.r.Probes[:t.limit(len(t.r.Probes))] {
		p := &t.r.Probes[i]
		out.Rows = append(out.Rows, row{Cells: []cell{millis(p.TotalMS), count64(p.Entries), count64(p.Exceptions),
			micros(p.P50), micros(p.P90), micros(p.P99), micros(p.MaxNS),
			{Text: probeKind(p)}, {Text: show.Text(p.Method), Name: true}, {Text: show.Text(p.Descriptor)}}})
	}
	return t.cut(out, len(t.r.Probes))
}

// probeKind returns the name of the things that a probe counts.
func probeKind(p *schema.Probe) string {
	switch p.Kind {
	case "lock":
		return "locks"
	case "alloc":
		return "objects"
	}
	return "calls"
}

// count64 returns a cell with a number.
func count64(n int64) cell { return number(strconv.FormatInt(n, 10), float64(n)) }

// micros returns a cell with a time in µs.
func micros(nanos int64) cell {
	return number(strconv.FormatFloat(float64(nanos)/1e3, 'f', 3, 64), float64(nanos))
}
