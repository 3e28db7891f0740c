package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// The columns of the table of JVMs that count samples.
const (
	takenSamples  = iota // all of the JVM
	samples              // in the profiles; what follows is of these
	javaSamples          // in code of HotSpot's
	jitSamples           // of the JIT compilers' threads
	gcSamples            // of the collector's threads
	nativeSamples        // native code of all other threads
	jvmCounts
)

// A jvmRow is a JVM of the command with its samples of the first event.
type jvmRow struct {
	pid       int // 0 in the row of those that are left out
	jdk, name string
	profiled  bool // in a profile
	counts    [jvmCounts]int64
}

// jvmTable writes a row for each JVM of the command, whether it is in a profile or not.
func (r *textReport) jvmTable() {
	all := r.allProfiled()
	if len(r.about.JVMs) < 2 || all == 0 {
		return
	}
	rows := r.jvmRows()
	title, jdk := "JVMs of the Command", sameJDK(rows)
	if jdk != "" {
		title += ", JDK " + jdk
	}
	r.Rule(title)
	rows = r.cutJVMs(rows)
	for _, line := range r.jvmLines(rows, all, jdk) {
		r.Line("%s", line)
	}
	r.EndRule()
	r.Line("%s", r.Paint(layout.Dim, "The first share is of the samples in all profiles, the other shares are of the JVM's own."))
	if slices.ContainsFunc(rows, func(row jvmRow) bool { return !row.profiled }) {
		r.Line("%s", r.Paint(layout.Dim, "- is a JVM that is in no profile."))
	}
	r.Line("")
}

// cutJVMs keeps as many rows as a table has, and sums up the others in one row.
func (r *textReport) cutJVMs(rows []jvmRow) []jvmRow {
	more := len(rows) - r.o.Top
	if r.o.Top == 0 || more < 2 { // one more has room in the place of the sum
		return rows
	}
	rest := jvmRow{name: fmt.Sprintf("<...other %s...>", layout.Plural(more, "JVM"))}
	for _, row := range rows[r.o.Top:] {
		rest.profiled = rest.profiled || row.profiled
		for i, n := range row.counts {
			rest.counts[i] += n
		}
	}
	return append(rows[:r.o.Top], rest)
}

// jvmRows are all JVMs, those with the most samples in the profiles first.
func (r *textReport) jvmRows() []jvmRow {
	rows := make([]jvmRow, len(r.about.JVMs))
	at := map[int]int{}
	for i := range r.about.JVMs {
		j := &r.about.JVMs[i]
		rows[i] = jvmRow{pid: j.PID, jdk: shortVersion(j.Version), name: cmp.Or(r.measuredIn(j), knownAs(profile.Program(j.Main)), "?")}
		if i < len(r.ps.Taken) && len(r.ps.Taken[i]) > 0 {
			rows[i].counts[takenSamples] = r.ps.Taken[i][0]
		}
		at[j.PID] = i
	}
	for i := range r.ps.Trials {
		p := &r.ps.Trials[i]
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
		return cmp.Or(cmp.Compare(b.counts[samples], a.counts[samples]), cmp.Compare(b.counts[takenSamples], a.counts[takenSamples]))
	})
	return rows
}

// add adds what the JVM has of a profile.
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

// sameJDK is the version of all JVMs; "" where they differ.
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

// jvmColumns returns the columns before the program's. jdk is the JDK of all JVMs, "" if they differ; all is the number of
// samples of all JVMs.
func jvmColumns(rows []jvmRow, all int64, jdk string) []jvmColumn {
	var columns []jvmColumn
	if slices.ContainsFunc(rows, func(row jvmRow) bool { return row.counts[takenSamples] > row.counts[samples] }) {
		columns = append(columns, jvmColumn{"taken", func(row *jvmRow) string { return strconv.FormatInt(row.counts[takenSamples], 10) }})
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

// shareText returns the share that one of the row's counts has of a total, "" for none.
func (row *jvmRow) shareText(which int, total int64) string {
	if row.counts[which] == 0 {
		return ""
	}
	return shareOf(row.counts[which], total).String()
}

// pidText returns the process id, "" if it is unknown.
func (row *jvmRow) pidText() string {
	if row.pid == 0 {
		return ""
	}
	return strconv.Itoa(row.pid)
}

// jvmLines lays the table out. Columns in which all cells are empty are left out, and so is the JDK if all JVMs have the
// same one.
func (r *textReport) jvmLines(rows []jvmRow, all int64, jdk string) []string {
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
	aligns := slices.Repeat([]tw.Align{tw.AlignRight}, len(columns))
	width := r.programWidth(header, columns)
	programs := make([]string, len(rows))
	for i := range rows {
		programs[i] = rows[i].name
		if width > 0 {
			programs[i] = shortDotted(rows[i].name, width, r.Ellipsis())
		}
	}
	return layout.Table(append(header, "program"), transpose(append(columns, programs)), append(aligns, tw.AlignLeft))
}

// programWidth is how many columns are left for the last column of the table; 0 when there is
// no limit.
func (r *textReport) programWidth(header []string, before [][]string) int {
	if r.o.TableWidth == 0 {
		return 0
	}
	used := cellPadding
	for i, c := range before {
		used += max(columnWidth(c), layout.Width(header[i])) + cellPadding
	}
	const least = 20
	return max(r.o.TableWidth-used, least)
}

// shortDotted shortens a name with a class in it, "fork 1 of org.sample.Bench.run (size=1)": first
// the packages, from the left, then it leaves them out, then its middle.
func shortDotted(name string, width int, ellipsis string) string {
	end := strings.Index(name+" (", " (")
	start := strings.LastIndexByte(name[:end], ' ') + 1
	class := name[start:end]
	if strings.HasSuffix(class, ".jar") {
		return layout.ShortMiddle(name, width, ellipsis)
	}
	parts := strings.Split(class, ".")
	packages := 0
	for i, part := range parts[:len(parts)-1] {
		letter, size := utf8.DecodeRuneInString(part)
		if !unicode.IsLower(letter) {
			break
		}
		packages++
		if short := name[:start] + strings.Join(parts, ".") + name[end:]; layout.Width(short) > width {
			parts[i] = part[:size]
		}
	}
	short := name[:start] + strings.Join(parts, ".") + name[end:]
	if layout.Width(short) > width {
		short = name[:start] + strings.Join(parts[packages:], ".") + name[end:]
	}
	return layout.ShortMiddle(short, width, ellipsis)
}

// measuredIn says which fork of which trial a JVM is: "fork 2 of org.sample.Bench.measure";
// "" for a JVM that runs no trial.
func (r *textReport) measuredIn(j *capture.JVM) string {
	trials := r.trialsOf[j.PID]
	switch {
	case j.WarmupOf != "":
		return "warm-up of " + j.WarmupOf
	case len(trials) == 0:
		return ""
	}
	text := trials[0]
	if more := len(trials) - 1; more > 0 { // with -f 0
		text += fmt.Sprintf(" and %d more", more)
	}
	if j.Fork > 0 {
		text = fmt.Sprintf("fork %d of %s", j.Fork, text)
	}
	return text
}

// trialsByJVM gives the names of the trials that each JVM has windows of.
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

// shortVersion is "17.0.15+6" of "17.0.15+6-Debian-1deb12u1".
func shortVersion(version string) string {
	short, _, _ := strings.Cut(version, "-")
	return short
}
