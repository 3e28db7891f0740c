package text

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// The columns with numbers of samples in the table of JVMs.
const (
	takenSamples  = iota // of the JVM's whole run, even if they are in no profile
	samples              // in a profile; each of the columns below counts a part of these
	javaSamples          // in the code that HotSpot generates
	jitSamples           // of the JIT compilers' threads
	gcSamples            // of the garbage collector's threads
	nativeSamples        // in native code, of all other threads
	jvmCounts
)

// A jvmRow is the row of one JVM of the command. Its counts are those of the first event.
type jvmRow struct {
	pid       int // 0 in the row that sums up the JVMs that are left out
	jdk, name string
	profiled  bool // whether the JVM is in a profile
	counts    [jvmCounts]int64
}

// jvmTable writes a row for each JVM of the command, whether it is in a profile or not.
func (d *document) jvmTable() {
	all := d.allProfiled()
	if len(d.about.JVMs) < 2 || all == 0 {
		return
	}
	rows := d.jvmRows()
	title, jdk := "JVMs of the Command", sameJDK(rows)
	if jdk != "" {
		title += ", JDK " + jdk
	}
	d.Rule(title)
	rows = d.cutJVMs(rows)
	for _, line := range d.jvmLines(rows, all, jdk) {
		d.Line("%s", line)
	}
	d.EndRule()
	d.Line("%s", d.Paint(layout.Dim,
		"The first share is of the samples in all profiles; the others are of the JVM's own samples."))
	if slices.ContainsFunc(rows, func(row jvmRow) bool { return !row.profiled }) {
		d.Line("%s", d.Paint(layout.Dim, "- marks a JVM that is in no profile."))
	}
	d.Line("")
}

// cutJVMs keeps the first Options.Top rows, and sums up the other rows in a last one.
func (d *document) cutJVMs(rows []jvmRow) []jvmRow {
	more := len(rows) - d.opts.Top
	if d.opts.Top == 0 || more < 2 { // instead of a row that sums up one JVM, show that JVM
		return rows
	}
	rest := jvmRow{name: fmt.Sprintf("<...other %s...>", layout.Plural(more, "JVM"))}
	for _, row := range rows[d.opts.Top:] {
		rest.profiled = rest.profiled || row.profiled
		for i, n := range row.counts {
			rest.counts[i] += n
		}
	}
	return append(rows[:d.opts.Top], rest)
}

// jvmRows returns the rows of all JVMs. JVMs with the most samples in the profiles come first.
func (d *document) jvmRows() []jvmRow {
	trials := trialsByJVM(d.about.Trials)
	rows := make([]jvmRow, len(d.about.JVMs))
	at := map[int]int{}
	for i := range d.about.JVMs {
		j := &d.about.JVMs[i]
		rows[i] = jvmRow{pid: j.PID, jdk: shortVersion(j.Version),
			name: cmp.Or(measuredIn(j, trials), names.Program(windows.Program(j.Main)), "?")}
		if i < len(d.ps.Taken) && len(d.ps.Taken[i]) > 0 {
			rows[i].counts[takenSamples] = d.ps.Taken[i][0]
		}
		at[j.PID] = i
	}
	for i := range d.ps.Trials {
		p := &d.ps.Trials[i]
		for _, pid := range p.PIDs {
			if k, ok := at[pid]; ok {
				rows[k].profiled = true
			}
		}
		for _, s := range p.Shares {
			if k, ok := at[s.PID]; ok && len(s.Counts) > 0 {
				rows[k].add(&s)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b jvmRow) int {
		return cmp.Or(cmp.Compare(b.counts[samples], a.counts[samples]),
			cmp.Compare(b.counts[takenSamples], a.counts[takenSamples]))
	})
	return rows
}

// add adds the samples that one profile has of the row's JVM.
func (row *jvmRow) add(s *profile.JVMShare) {
	row.counts[samples] += s.Counts[0]
	if s.Java == nil {
		return
	}
	row.counts[javaSamples] += s.Java[0]
	row.counts[jitSamples] += s.JIT[0]
	row.counts[gcSamples] += s.GC[0]
	row.counts[nativeSamples] += s.Counts[0] - s.Java[0] - s.JIT[0] - s.GC[0]
}

// sameJDK returns the version of all JVMs, or "" if the versions differ.
func sameJDK(rows []jvmRow) string {
	jdk := ""
	for i, row := range rows {
		if i > 0 && row.jdk != jdk {
			return ""
		}
		jdk = row.jdk
	}
	return jdk
}

// A jvmColumn is a column of the table of JVMs.
type jvmColumn struct {
	name string
	cell func(row *jvmRow) string
}

// jvmColumns returns all columns except the last one, which has the program. The parameter all is the number of samples
// of all JVMs. jdk is the version of their JDK, or "" if the versions differ.
func jvmColumns(rows []jvmRow, all int64, jdk string) []jvmColumn {
	var columns []jvmColumn
	if slices.ContainsFunc(rows, func(row jvmRow) bool { return row.counts[takenSamples] > row.counts[samples] }) {
		columns = append(columns, jvmColumn{"taken",
			func(row *jvmRow) string { return strconv.FormatInt(row.counts[takenSamples], 10) }})
	}
	columns = append(columns,
		jvmColumn{"samples", (*jvmRow).samplesText},
		jvmColumn{"share", func(row *jvmRow) string { return row.shareText(samples, all) }},
		jvmColumn{"Java", func(row *jvmRow) string { return row.shareText(javaSamples, row.counts[samples]) }},
		jvmColumn{"JIT", func(row *jvmRow) string { return row.shareText(jitSamples, row.counts[samples]) }},
		jvmColumn{"GC", func(row *jvmRow) string { return row.shareText(gcSamples, row.counts[samples]) }},
		jvmColumn{"native", func(row *jvmRow) string { return row.shareText(nativeSamples, row.counts[samples]) }},
		jvmColumn{"pid", (*jvmRow).pidText},
	)
	if jdk == "" {
		columns = append(columns, jvmColumn{"JDK", func(row *jvmRow) string { return row.jdk }})
	}
	return columns
}

func (row *jvmRow) samplesText() string {
	if !row.profiled {
		return "-"
	}
	return strconv.FormatInt(row.counts[samples], 10)
}

// shareText returns the share that one of the row's counts has of a total. It returns "" if the count is 0.
func (row *jvmRow) shareText(which int, total int64) string {
	if row.counts[which] == 0 {
		return ""
	}
	return amount.ShareOf(row.counts[which], total).String()
}

// pidText returns the process id, or "" if it is unknown.
func (row *jvmRow) pidText() string {
	if row.pid == 0 {
		return ""
	}
	return strconv.Itoa(row.pid)
}

// jvmLines returns the lines of the table. A column whose cells are all empty is left out. The column of the JDK is
// left out if all JVMs have the same one.
func (d *document) jvmLines(rows []jvmRow, all int64, jdk string) []string {
	var header []string
	var columns [][]string
	for _, c := range jvmColumns(rows, all, jdk) {
		cells := make([]string, len(rows))
		for i := range rows {
			cells[i] = c.cell(&rows[i])
		}
		if columnWidth(cells) > 0 {
			header, columns = append(header, c.name), append(columns, cells)
		}
	}
	aligns := slices.Repeat([]layout.Align{layout.Right}, len(columns))
	width := d.programWidth(header, columns)
	programs := make([]string, len(rows))
	for i := range rows {
		programs[i] = rows[i].name
		if width > 0 {
			programs[i] = view.ShortDotted(rows[i].name, width, d.Ellipsis())
		}
	}
	return layout.Table(append(header, "program"), transpose(append(columns, programs)), append(aligns, layout.Left))
}

// programWidth returns the maximum width of the last column of the table. It returns 0 if there is no limit.
func (d *document) programWidth(header []string, before [][]string) int {
	if d.opts.TableWidth == 0 {
		return 0
	}
	used := view.CellPadding
	for i, c := range before {
		used += max(columnWidth(c), layout.Width(header[i])) + view.CellPadding
	}
	const least = 20
	return max(d.opts.TableWidth-used, least)
}

// measuredIn returns the fork and the trial that a JVM runs: "fork 2 of org.sample.Bench.measure". It returns "" if
// the JVM runs no trial. trialsOf has the names of each JVM's trials, by process id.
func measuredIn(j *capture.JVM, trialsOf map[int][]string) string {
	trials := trialsOf[j.PID]
	switch {
	case j.WarmupOf != "":
		return "warm-up of " + j.WarmupOf
	case len(trials) == 0:
		return ""
	}
	text := trials[0]
	if more := len(trials) - 1; more > 0 { // with JMH's -f 0, one JVM runs all trials
		text += fmt.Sprintf(" and %d more", more)
	}
	if j.Fork > 0 {
		text = fmt.Sprintf("fork %d of %s", j.Fork, text)
	}
	return text
}

// trialsByJVM returns, by process id, the names of the trials in which each JVM was measured.
func trialsByJVM(trials []capture.Trial) map[int][]string {
	names := map[int][]string{}
	for i := range trials {
		if trials[i].Name == "" {
			continue
		}
		for _, pid := range trials[i].PIDs() {
			names[pid] = append(names[pid], trials[i].Name)
		}
	}
	return names
}

// shortVersion shortens a JDK's version: "17.0.15+6-Debian-1deb12u1" becomes "17.0.15+6".
func shortVersion(version string) string {
	short, _, _ := strings.Cut(version, "-")
	return short
}
