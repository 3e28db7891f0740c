package report

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// What of the probes a report has at most, beside a row for each.
const (
	maxDistributions = 4
	maxProbeThreads  = 4
	distributionBar  = 40 // columns
)

// probeTable says what the probes have counted: a row for each, and then how long calls took.
func (r *textReport) probeTable() {
	if len(r.p.Probes) == 0 {
		return
	}
	r.Rule("Probes")
	r.callTable()
	r.lockAndAllocationTable()
	r.EndRule()
	r.Paragraph("", "All calls while the JVM was recorded, in or out of the window. Times of outermost calls are in the total; a percentile is exact to a thirty-second.")
	shown := 0
	for i := range r.p.Probes {
		if p := &r.p.Probes[i]; p.Kind == rings.Method && p.Returns+p.Throws > 1 && shown < maxDistributions {
			r.distribution(p)
			shown++
		}
	}
	r.Line("")
}

func (r *textReport) callTable() {
	var rows [][]string
	methods := r.probesOfKinds(rings.Method)
	for _, p := range r.topProbes(methods) {
		rows = append(rows, []string{strconv.FormatInt(p.Entries, 10), strconv.FormatInt(p.Throws, 10), fmt.Sprintf("%.3f", float64(p.Nanos)/1e6),
			duration(p.Percentile(0.5)), duration(p.Percentile(0.9)), duration(p.Percentile(0.99)), duration(p.MaxNanos), probeName(p, methods)})
	}
	right := tw.AlignRight
	r.probeRows([]string{"calls", "thrown", "total ms", "p50", "p90", "p99", "max", ""}, rows, []tw.Align{right, right, right, right, right, right, right, tw.AlignLeft}, len(methods))
}

func (r *textReport) lockAndAllocationTable() {
	var rows [][]string
	others := r.probesOfKinds(rings.Lock, rings.Alloc)
	for _, p := range r.topProbes(others) {
		released := ""
		what := "allocations in "
		if p.Kind == rings.Lock {
			released, what = strconv.FormatInt(p.Returns, 10), "locks in "
		}
		rows = append(rows, []string{strconv.FormatInt(p.Entries, 10), released, what + probeName(p, others)})
	}
	r.probeRows([]string{"count", "released", ""}, rows, []tw.Align{tw.AlignRight, tw.AlignRight, tw.AlignLeft}, len(others))
}

func (r *textReport) probeRows(header []string, rows [][]string, aligns []tw.Align, all int) {
	if len(rows) == 0 {
		return
	}
	for _, line := range layout.Table(header, rows, aligns) {
		if r.Width > 0 {
			line = layout.CutEnd(line, r.Width, r.Ellipsis())
		}
		r.Line("%s", line)
	}
	if more := all - len(rows); more > 0 {
		r.Line("%s", layout.Plural(more, "row")+" left out")
	}
}

func (r *textReport) probesOfKinds(kinds ...rings.SiteKind) (probes []*profile.Probe) {
	for i := range r.p.Probes {
		if slices.Contains(kinds, r.p.Probes[i].Kind) {
			probes = append(probes, &r.p.Probes[i])
		}
	}
	return probes
}

func (r *textReport) topProbes(probes []*profile.Probe) []*profile.Probe {
	if r.o.Top > 0 && len(probes) > r.o.Top {
		return probes[:r.o.Top]
	}
	return probes
}

// probeName has the descriptor only where another probe's method has the same name.
func probeName(p *profile.Probe, all []*profile.Probe) string {
	same := func(q *profile.Probe) bool {
		return q.Method == p.Method && q.Kind == p.Kind && q.Descriptor != p.Descriptor
	}
	if slices.ContainsFunc(all, same) {
		return p.Method + p.Descriptor
	}
	return p.Method
}

// duration writes a time with three digits that count: "310 ns", "1.25 µs".
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

// distribution shows how long the calls of a method took, in powers of two, and the threads that made them.
func (r *textReport) distribution(p *profile.Probe) {
	rows := powersOfTwo(p)
	var most, total int64
	for _, row := range rows {
		most, total = max(most, row.count), total+row.count
	}
	r.Line("")
	r.Line("%s", p.Method)
	for _, row := range rows {
		bar := strings.Repeat(r.Glyph("█", "#"), int((distributionBar*row.count+most-1)/most))
		r.Line("%10s  %10d  %6.2f%%  %s", duration(row.lo), row.count, 100*float64(row.count)/float64(total), bar)
	}
	if len(p.Threads) < 2 {
		return
	}
	var threads []string
	for _, t := range p.Threads[:min(len(p.Threads), maxProbeThreads)] {
		threads = append(threads, fmt.Sprintf("%s %d calls, %.3f ms", t.Name, t.Entries, float64(t.Nanos)/1e6))
	}
	if more := len(p.Threads) - len(threads); more > 0 {
		threads = append(threads, layout.Plural(more, "thread")+" more")
	}
	r.Paragraph("", "threads: "+strings.Join(threads, "; "))
}

// A powerOfTwo counts calls that took from lo to twice as long.
type powerOfTwo struct{ lo, count int64 }

// powersOfTwo sums up a histogram, from the shortest call to the longest.
func powersOfTwo(p *profile.Probe) (rows []powerOfTwo) {
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
