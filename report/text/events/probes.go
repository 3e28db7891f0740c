package events

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/probes"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// Limits for the distributions that follow the tables of probes.
const (
	maxDistributions = 4  // the maximum number of methods whose distribution of times is shown
	maxProbeThreads  = 4  // the maximum number of threads that are named for each of these methods
	distributionBar  = 40 // the length of the longest bar, in columns
)

// probeTables writes the tables and distributions of the probes.
type probeTables struct{ *view.View }

// WriteProbes writes tables with a row for each probe, and then the distributions of how long calls took.
func WriteProbes(v *view.View) {
	t := probeTables{v}
	if len(t.Profile.Probes) == 0 {
		return
	}
	t.Rule("Probes")
	t.callTable()
	t.lockAndAllocationTable()
	t.EndRule()
	t.Paragraph("",
		"These are all calls during the recording, inside and outside the window. The total has the time of outermost calls only. Percentiles are exact to 1/32.")
	shown := 0
	for i := range t.Profile.Probes {
		if p := &t.Profile.Probes[i]; p.Kind == rings.Method && p.Returns+p.Throws > 1 && shown < maxDistributions {
			t.distribution(p)
			shown++
		}
	}
	t.Line("")
}

// callTable writes the table of probed methods.
func (t probeTables) callTable() {
	var rows [][]string
	methods := t.ofKinds(rings.Method)
	for _, p := range view.First(methods, t.Options.Top) {
		rows = append(rows, []string{strconv.FormatInt(p.Entries, 10), strconv.FormatInt(p.Throws, 10),
			fmt.Sprintf("%.3f", float64(p.Nanos)/1e6),
			duration(p.Percentile(0.5)), duration(p.Percentile(0.9)), duration(p.Percentile(0.99)), duration(p.MaxNanos),
			probeName(p, methods)})
	}
	right := layout.Right
	t.rows([]string{"calls", "thrown", "total ms", "p50", "p90", "p99", "max", ""}, rows,
		[]layout.Align{right, right, right, right, right, right, right, layout.Left}, len(methods))
}

// lockAndAllocationTable writes the table of probed locks and allocations.
func (t probeTables) lockAndAllocationTable() {
	var rows [][]string
	others := t.ofKinds(rings.Lock, rings.Alloc)
	for _, p := range view.First(others, t.Options.Top) {
		released := ""
		what := "allocations in "
		if p.Kind == rings.Lock {
			released, what = strconv.FormatInt(p.Returns, 10), "locks in "
		}
		rows = append(rows, []string{strconv.FormatInt(p.Entries, 10), released, what + probeName(p, others)})
	}
	t.rows([]string{"count", "released", ""}, rows, []layout.Align{layout.Right, layout.Right, layout.Left}, len(others))
}

// rows writes a table. The parameter all is the number of rows that the table would have without a limit. If that is
// more than the table has, a line below the table says how many rows are left out.
func (t probeTables) rows(header []string, rows [][]string, aligns []layout.Align, all int) {
	if len(rows) == 0 {
		return
	}
	for _, line := range layout.Table(header, rows, aligns) {
		t.Line("%s", t.Cut(line))
	}
	if more := all - len(rows); more > 0 {
		t.Line("%s", layout.Plural(more, "row")+" left out")
	}
}

// ofKinds returns the probes of these kinds.
func (t probeTables) ofKinds(kinds ...rings.SiteKind) (probes []*probes.Probe) {
	for i := range t.Profile.Probes {
		if slices.Contains(kinds, t.Profile.Probes[i].Kind) {
			probes = append(probes, &t.Profile.Probes[i])
		}
	}
	return probes
}

// probeName returns the name of a probe's method. The descriptor is added only if another probe's method has the same
// name.
func probeName(p *probes.Probe, all []*probes.Probe) string {
	same := func(q *probes.Probe) bool {
		return q.Method == p.Method && q.Kind == p.Kind && q.Descriptor != p.Descriptor
	}
	if slices.ContainsFunc(all, same) {
		return p.Method + p.Descriptor
	}
	return p.Method
}

// duration formats a time with three significant digits: "310 ns", "1.25 µs".
func duration(nanos int64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if v := float64(nanos) / u.size; v >= 1 {
			decimals := 2
			if v >= 10 {
				decimals = 1
			}
			if v >= 100 {
				decimals = 0
			}
			return fmt.Sprintf("%.*f %s", decimals, v, u.name)
		}
	}
	return fmt.Sprintf("%d ns", nanos)
}

// distribution writes how long the calls of a method took, in powers of two, and which threads made them.
func (t probeTables) distribution(p *probes.Probe) {
	rows := powersOfTwo(p)
	var most, total int64
	for _, row := range rows {
		most, total = max(most, row.count), total+row.count
	}
	t.Line("")
	t.Line("%s", p.Method)
	for _, row := range rows {
		bar := strings.Repeat(t.Glyph("█", "#"), int((distributionBar*row.count+most-1)/most))
		t.Line("%10s  %10d  %6.2f%%  %s", duration(row.lo), row.count, 100*float64(row.count)/float64(total), bar)
	}
	if len(p.Threads) < 2 {
		return
	}
	var threads []string
	for _, thread := range p.Threads[:min(len(p.Threads), maxProbeThreads)] {
		threads = append(threads, fmt.Sprintf("%s %d calls, %.3f ms", thread.Name, thread.Entries, float64(thread.Nanos)/1e6))
	}
	if more := len(p.Threads) - len(threads); more > 0 {
		threads = append(threads, layout.Plural(more, "more thread"))
	}
	t.Paragraph("", "threads: "+strings.Join(threads, "; "))
}

// A powerOfTwo counts the calls that took lo or longer, but less than twice as long.
type powerOfTwo struct{ lo, count int64 }

// powersOfTwo returns the rows of a probe's histogram, from the shortest to the longest calls. A row between two others
// is included even if it has no calls.
func powersOfTwo(p *probes.Probe) (rows []powerOfTwo) {
	counts := map[int]int64{}
	first, last := 64, -1
	for i, n := range p.Histogram {
		if n == 0 {
			continue
		}
		lo, _ := rings.BucketRange(i)
		power := bits.Len64(uint64(lo))
		counts[power] += n
		first, last = min(first, power), max(last, power)
	}
	for power := first; power <= last; power++ {
		lo := int64(0)
		if power > 0 {
			lo = 1 << (power - 1)
		}
		rows = append(rows, powerOfTwo{lo, counts[power]})
	}
	return rows
}
