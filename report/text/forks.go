package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

const (
	// Up to maxForkColumns JVMs have a column each. If there are more JVMs, there are three columns: the smallest, the
	// median and the largest of a method's shares in the JVMs.
	maxForkColumns = 6
	maxForkRows    = 10
)

// leastForkShare is the smallest share with which a method is in the table. It must have this share in at least one of
// the JVMs.
const leastForkShare amount.Share = 200 // 2 %

// A forkRow is a method, or all native code, whose shares in the JVMs of a trial are compared.
type forkRow struct {
	source, name string
	counts       []int64 // samples of the first event, by the index in forks.jvms
}

// forks is the table that compares those JVMs of a profile that do the same work.
type forks struct {
	*view.View
	jvms []profile.JVMShare
	at   []int // for each of jvms, its index in the profile's Shares
}

// writeForks writes the shares of the hottest methods in each JVM. If the forks of a benchmark behave differently, for
// example because the JIT compiler made different decisions, the columns show which fork behaved how.
func writeForks(v *view.View) {
	f := &forks{View: v}
	repeats := f.repeating()
	for i, s := range f.Profile.Shares {
		if s.Counts[0] > 0 && repeats(s.PID) {
			f.jvms, f.at = append(f.jvms, s), append(f.at, i)
		}
	}
	jvms := f.jvms
	uncompared := func(m profile.Method) bool { return m.PerJVM == nil }
	if len(jvms) < 2 || slices.ContainsFunc(f.Profile.Methods, uncompared) {
		return
	}
	header, columns := []string{}, [][]string{}
	rows := f.rows()
	if len(jvms) <= maxForkColumns {
		for i, s := range jvms {
			header = append(header, f.ForkName(s.PID))
			columns = append(columns, f.column(rows, func(shares []amount.Share) amount.Share { return shares[i] }))
		}
	} else {
		header, columns = []string{"least", "median", "most"}, [][]string{
			f.column(rows, slices.Min[[]amount.Share]),
			f.column(rows, func(shares []amount.Share) amount.Share {
				sorted := slices.Sorted(slices.Values(shares))
				return sorted[len(sorted)/2]
			}),
			f.column(rows, slices.Max[[]amount.Share]),
		}
	}
	spread := f.column(rows, func(shares []amount.Share) amount.Share { return slices.Max(shares) - slices.Min(shares) })
	columns = append(columns, spread)
	header = append(header, "spread", "", "")
	var sources, names []string
	for _, row := range rows {
		sources = append(sources, row.source)
		names = append(names, f.Short(row.name, false))
	}
	columns = append(columns, sources, names)
	aligns := slices.Repeat([]layout.Align{layout.Right}, len(columns)-1)
	f.Rule("Forks Compared (shares of each JVM's own samples)")
	for _, line := range layout.Table(header, transpose(columns), append(aligns, layout.Left)) {
		f.Line("%s", line)
	}
	f.EndRule()
	f.explainChance()
	f.Line("")
}

// repeating returns a function that reports whether a JVM does the same work as the hottest one: both are forks of one
// benchmark or, if there is no benchmark, JVMs with the same main class.
func (f *forks) repeating() func(pid int) bool {
	oneProgram := f.Profile.Program != "" && f.Profile.Program != windows.OtherPrograms
	if f.Profile.Trial != "" || oneProgram || len(f.Profile.Shares) == 0 {
		return func(int) bool { return true }
	}
	mains := map[int]string{}
	for _, j := range f.About.JVMs {
		mains[j.PID] = windows.Program(j.Main)
	}
	hottest := slices.MaxFunc(f.Profile.Shares, func(a, b profile.JVMShare) int {
		return cmp.Compare(a.Counts[0],
			b.Counts[0])
	})
	main := mains[hottest.PID]
	return func(pid int) bool { return main != "" && mains[pid] == main }
}

// rows returns a row for each of the hottest methods, the hottest one first, and a last row for native code.
func (f *forks) rows() []forkRow {
	var rows []forkRow
	for _, m := range f.Profile.Methods {
		if len(rows) == maxForkRows {
			break
		}
		row := forkRow{source: m.Source, name: m.Name}
		hot := false
		for i, k := range f.at {
			n := m.PerJVM[k][0]
			row.counts = append(row.counts, n)
			hot = hot || amount.ShareOf(n, f.jvms[i].Counts[0]) >= leastForkShare
		}
		if hot {
			rows = append(rows, row)
		}
	}
	native := forkRow{name: "<native code and kernel>"}
	for _, s := range f.jvms {
		native.counts = append(native.counts, s.Native[0])
	}
	return append(rows, native)
}

// column returns a column of the table. For each row, it calls the function number with the row's shares in the JVMs.
// The cell shows the share that number returns.
func (f *forks) column(rows []forkRow, number func([]amount.Share) amount.Share) []string {
	var cells []string
	for _, row := range rows {
		shares := make([]amount.Share, len(f.jvms))
		for i := range f.jvms {
			shares[i] = amount.ShareOf(row.counts[i], f.jvms[i].Counts[0])
		}
		cells = append(cells, layout.PadLeft(number(shares).String(), len("100.00%")))
	}
	return cells
}

// explainChance writes how large a spread may be by chance. It uses the JVM with the fewest samples.
func (f *forks) explainChance() {
	least := f.jvms[0].Counts[0]
	for _, s := range f.jvms {
		least = min(least, s.Counts[0])
	}
	f.Line("%s", f.Paint(layout.Dim,
		fmt.Sprintf("Each JVM has at least %d samples, so a spread of up to %.1f percentage points may be chance.",
			least, 100*chance(least))))
}

// chance returns the difference between two measured shares that may be due to chance alone. It assumes n samples for
// each share, and that both shares are really one half. In 99 of 100 cases, the difference is smaller.
func chance(n int64) float64 {
	return 2.58 * math.Sqrt(2*0.25/float64(n))
}

// fitForkNames limits the length of names in all tables, so that the table of forks fits the width of the report. If
// that table has so many columns of numbers that names would become unreadable, fitForkNames sets no limit.
func fitForkNames(v *view.View) {
	const column, source = len(" 100.00% "), len(" c2, level 4, osr ")
	columns := min(len(v.Profile.Shares), maxForkColumns) + 1
	width := max(v.Options.TableWidth-columns*column-source-view.CellPadding, view.LeastName)
	if width < view.ReadableName {
		return
	}
	for _, m := range v.Profile.Methods[:min(len(v.Profile.Methods), maxForkRows)] {
		v.Fit(m.Name, false, width)
	}
}
