package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// compilationTable lists the versions of the hottest methods, so that one sees whether a
// method was compiled anew while it was measured, and why.
func (r *textReport) compilationTable() {
	shown := r.tellingCompilations()
	if len(shown) == 0 {
		return
	}
	left := slices.ContainsFunc(shown, func(c profile.Compilation) bool { return c.Ended != nil })
	header, aligns := []string{"self", "made"}, []tw.Align{tw.AlignRight, tw.AlignRight}
	if left {
		header, aligns = append(header, "left"), append(aligns, tw.AlignRight)
	}
	var rows [][]string
	for i := range shown {
		c := &shown[i]
		row := []string{r.tableAmount(0, c.Counts[0], shareOf(c.Counts[0], r.p.Accounts[0].Profiled)), r.moment(c.MadeMillis, c.MadeInside)}
		if left {
			row = append(row, r.left(c))
		}
		rows = append(rows, append(row, c.Source+compileID(c.CompileID)+r.inJVM(c.PID)+why(c)))
	}
	lines := layout.Table(append(header, ""), rows, append(aligns, tw.AlignLeft))
	r.Rule("Compilations of the Hottest Methods")
	r.Line("%s", lines[0])
	for i, line := range lines[1:] {
		if i == 0 || shown[i].Method != shown[i-1].Method {
			r.Line("%s", r.headingName(shown[i].Method, layout.ShortMethod, 0))
		}
		if r.Width > 0 {
			line = layout.CutEnd(line, r.Width, r.Ellipsis())
		}
		r.Line("%s", line)
	}
	r.EndRule()
	r.Paragraph("", r.compilationNote())
	r.Line("")
}

// tellingCompilations are those with samples, those that were made or left while samples were
// taken, and those that a trap ended. When the window is the whole run, the second ones are
// all, and do not count.
func (r *textReport) tellingCompilations() []profile.Compilation {
	whole := r.wholeRun()
	return slices.DeleteFunc(slices.Clone(r.p.Compilations), func(c profile.Compilation) bool {
		inside := !whole && (c.MadeInside || c.EndedInside)
		trapped := c.Ended != nil && c.Ended.Trap != ""
		return !r.visible(c.Counts) && !inside && !trapped
	})
}

// wholeRun tells whether all compilations are within the window.
func (r *textReport) wholeRun() bool {
	return !slices.ContainsFunc(r.p.Compilations, func(c profile.Compilation) bool { return !c.MadeInside })
}

// compilationNote explains the table.
func (r *textReport) compilationNote() string {
	note := "Times are in seconds of the JVM's life."
	if !r.wholeRun() && r.p.WindowSeconds > 0 {
		note = "Times are in seconds of the JVM's life, * is within the window."
	}
	if !slices.ContainsFunc(r.p.Compilations, func(c profile.Compilation) bool { return c.Ended != nil }) {
		note += " When code was left is not in the log."
	}
	return note
}

// moment is a time of a JVM's life in seconds, marked where it is inside a window.
func (r *textReport) moment(millis int64, inside bool) string {
	text := fmt.Sprintf("%.3f", float64(millis)/1000)
	if inside && !r.wholeRun() {
		return text + "*"
	}
	return text + " "
}

// left is when a compilation was left; nothing for one that was not.
func (r *textReport) left(c *profile.Compilation) string {
	if c.Ended == nil {
		return ""
	}
	return r.moment(c.Ended.UptimeMillis, c.EndedInside)
}

// why says why a compilation was left, as far as the log tells: ": uncommon trap, unstable_if".
func why(c *profile.Compilation) string {
	if c.Ended == nil {
		return ""
	}
	var parts []string
	for _, reason := range []string{c.Ended.Reason, c.Ended.Trap} {
		if reason != "" {
			parts = append(parts, reason)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// inJVM names the JVM of a row where there are several.
func (r *textReport) inJVM(pid int) string {
	if len(r.p.PIDs) < 2 {
		return ""
	}
	return ", " + r.forkName(pid)
}
