package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	// Up to maxForkColumns JVMs have a column each. For more JVMs there are the least,
	// the median and the most.
	maxForkColumns = 6
	// leastForkShare is the share that a method must have in one of the JVMs to be in
	// the table.
	leastForkShare = 200 // 2 %
	maxForkRows    = 10
)

// A forkRow is something that the JVMs of a trial have different shares of.
type forkRow struct {
	source, name string
	counts       []int64 // by JVM, of the first event
}

// forkTable compares the JVMs of a profile by the shares of the hottest methods in each.
// When a benchmark runs in one of two ways, the columns show which JVM ran in which way.
func (r *textReport) forkTable() {
	var jvms []profile.JVMShare
	var at []int // their places in Shares
	repeats := r.repeating()
	for i, s := range r.p.Shares {
		if s.Counts[0] > 0 && repeats(s.PID) {
			jvms, at = append(jvms, s), append(at, i)
		}
	}
	uncompared := func(m profile.Method) bool { return m.PerJVM == nil }
	if len(jvms) < 2 || slices.ContainsFunc(r.p.Methods, uncompared) {
		return
	}
	header, columns := []string{}, [][]string{}
	rows := r.forkRows(jvms, at)
	if len(jvms) <= maxForkColumns {
		for i, s := range jvms {
			header = append(header, r.forkName(s.PID))
			columns = append(columns, r.forkColumn(rows, jvms, func(shares []share) share { return shares[i] }))
		}
	} else {
		header, columns = []string{"least", "median", "most"}, [][]string{
			r.forkColumn(rows, jvms, slices.Min[[]share]),
			r.forkColumn(rows, jvms, func(shares []share) share {
				sorted := slices.Sorted(slices.Values(shares))
				return sorted[len(sorted)/2]
			}),
			r.forkColumn(rows, jvms, slices.Max[[]share]),
		}
	}
	spread := r.forkColumn(rows, jvms, func(shares []share) share { return slices.Max(shares) - slices.Min(shares) })
	columns = append(columns, spread)
	header = append(header, "spread", "", "")
	var sources, names []string
	for _, row := range rows {
		sources = append(sources, row.source)
		names = append(names, r.short(row.name, false))
	}
	columns = append(columns, sources, names)
	aligns := slices.Repeat([]tw.Align{tw.AlignRight}, len(columns)-1)
	r.Rule("Forks Compared (each JVM's own 100%)")
	for _, line := range layout.Table(header, transpose(columns), append(aligns, tw.AlignLeft)) {
		r.Line("%s", line)
	}
	r.EndRule()
	r.forkSamples(jvms)
	r.Line("")
}

// repeating tells of each JVM whether it does the same as the hottest one: it is a fork of
// a benchmark or, when there is no benchmark, a JVM of the same main class.
func (r *textReport) repeating() func(pid int) bool {
	oneProgram := r.p.Program != "" && r.p.Program != profile.OtherPrograms
	if r.p.Trial != "" || oneProgram || len(r.p.Shares) == 0 {
		return func(int) bool { return true }
	}
	mains := map[int]string{}
	for _, j := range r.about.JVMs {
		mains[j.PID] = profile.Program(j.Main)
	}
	hottest := slices.MaxFunc(r.p.Shares, func(a, b profile.JVMShare) int { return cmp.Compare(a.Counts[0], b.Counts[0]) })
	main := mains[hottest.PID]
	return func(pid int) bool { return main != "" && mains[pid] == main }
}

// forkName is the heading of a JVM's column: JMH's number, or the process id.
func (r *textReport) forkName(pid int) string {
	if j := r.jvm(pid); j.Fork > 0 {
		return "fork " + strconv.Itoa(j.Fork)
	}
	return "pid " + strconv.Itoa(pid)
}

// maxForksNamed is how many forks or JVMs of a region are named.
const maxForksNamed = 4

// inJVMs tells in which of the profile's JVMs code was seen; nothing where there is one JVM.
func (r *textReport) inJVMs(pids []int) string {
	n, all, trial := len(pids), len(r.p.PIDs), r.p.Trial != ""
	switch {
	case n < 2 && all < 2:
		return ""
	case n > 1 && trial && n == all:
		return fmt.Sprintf(", in %d forks", n)
	case n > maxForksNamed && trial:
		return fmt.Sprintf(", in %d of %d forks", n, all)
	case n > maxForksNamed:
		return fmt.Sprintf(", in %d of %d JVMs", n, all)
	}
	switch forks := r.forkNumbers(pids); len(forks) {
	case 0:
	case 1:
		return ", in fork " + forks[0]
	default:
		return ", in forks " + strings.Join(forks, ", ")
	}
	var list []string
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	if n == 1 {
		return ", in pid " + list[0]
	}
	return fmt.Sprintf(", in %d JVMs (pids %s)", n, strings.Join(list, ", "))
}

// forkNumbers gives JMH's numbers of JVMs; nil where one has none.
func (r *textReport) forkNumbers(pids []int) []string {
	var numbers []string
	for _, pid := range pids {
		j := r.jvm(pid)
		if r.p.Trial == "" || j.Fork == 0 {
			return nil
		}
		numbers = append(numbers, strconv.Itoa(j.Fork))
	}
	return numbers
}

// forkRows are the hottest methods, hottest first, and a row for native code.
func (r *textReport) forkRows(jvms []profile.JVMShare, at []int) []forkRow {
	var rows []forkRow
	for _, m := range r.p.Methods {
		if len(rows) == maxForkRows {
			break
		}
		row := forkRow{source: m.Source, name: m.Name}
		hot := false
		for i, k := range at {
			n := m.PerJVM[k][0]
			row.counts = append(row.counts, n)
			hot = hot || shareOf(n, jvms[i].Counts[0]) >= leastForkShare
		}
		if hot {
			rows = append(rows, row)
		}
	}
	native := forkRow{name: "<native code and kernel>"}
	for _, s := range jvms {
		native.counts = append(native.counts, s.Native[0])
	}
	return append(rows, native)
}

// forkColumn makes a column: for each row the number that the function makes of the row's
// shares in the JVMs.
func (r *textReport) forkColumn(rows []forkRow, jvms []profile.JVMShare, number func([]share) share) []string {
	var cells []string
	for _, row := range rows {
		shares := make([]share, len(jvms))
		for i := range jvms {
			shares[i] = shareOf(row.counts[i], jvms[i].Counts[0])
		}
		cells = append(cells, layout.PadLeft(number(shares).String(), len("100.00%")))
	}
	return cells
}

// forkSamples says which spread is only chance, for the JVM with the fewest samples.
func (r *textReport) forkSamples(jvms []profile.JVMShare) {
	least := jvms[0].Counts[0]
	for _, s := range jvms {
		least = min(least, s.Counts[0])
	}
	r.Line("%s", r.Paint(layout.Dim, fmt.Sprintf("Each JVM has %d samples or more, with which a spread of up to %.1f points may be chance.",
		least, 100*chance(least))))
}

// chance is how far apart two shares are by chance when both are really a half, of n
// samples each: less than this in 99 of 100 cases.
func chance(n int64) float64 {
	return 2.58 * math.Sqrt(2*0.25/float64(n))
}
