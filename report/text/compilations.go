package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// compilations writes the compilations of the hottest methods. These show whether a method was compiled again while it
// was measured, and why.
type compilations struct{ *view.View }

// writeCompilations writes the table of compilations.
func writeCompilations(v *view.View) {
	t := compilations{v}
	shown := t.telling()
	if len(shown) == 0 {
		return
	}
	discarded := slices.ContainsFunc(shown, func(c warmup.Version) bool { return c.Ended != nil })
	header, aligns := []string{"self", "made"}, []layout.Align{layout.Right, layout.Right}
	if discarded {
		header, aligns = append(header, "discarded"), append(aligns, layout.Right)
	}
	var rows [][]string
	for i := range shown {
		c := &shown[i]
		row := []string{t.InTable(0, c.Counts[0]), t.made(c)}
		if discarded {
			row = append(row, t.discarded(c))
		}
		rows = append(rows, append(row, c.Source+view.CompileID(c.CompileID)+view.Moved(c.Moved > 0)+t.InJVM(c.PID)+why(c)))
	}
	lines := layout.Table(append(header, ""), rows, append(aligns, layout.Left))
	t.Rule("Compilations of the Hottest Methods")
	t.Line("%s", lines[0])
	for i, line := range lines[1:] {
		if i == 0 || shown[i].Method != shown[i-1].Method {
			t.Line("%s", t.HeadingName(shown[i].Method, layout.ShortMethod, 0))
		}
		t.Line("%s", t.Cut(line))
	}
	t.EndRule()
	t.Paragraph("", t.note())
	t.Line("")
}

// telling returns the compilations that the table shows: those with samples, those that a trap ended, and those that
// were made or discarded within the window, which is the measured part of the run. If all compilations were made
// within the window, the last condition would choose all of them, so telling does not use it.
func (t compilations) telling() []warmup.Version {
	whole := t.wholeRun()
	return slices.DeleteFunc(slices.Clone(t.Profile.Compilations), func(c warmup.Version) bool {
		inside := !whole && (c.MadeInside || c.EndedInside)
		trapped := c.Ended != nil && c.Ended.Trap != ""
		return !t.Visible(c.Counts) && !inside && !trapped
	})
}

// wholeRun reports whether all compilations were made within the window.
func (t compilations) wholeRun() bool {
	return !slices.ContainsFunc(t.Profile.Compilations, func(c warmup.Version) bool { return !c.MadeInside })
}

// note returns the text below the table, which explains the table.
func (t compilations) note() string {
	note := "Times are in seconds since the JVM's start."
	if !t.wholeRun() && t.Profile.WindowSeconds > 0 {
		note = "Times are in seconds since the JVM's start; * is within the window."
	}
	if t.About.Code == capture.CodeCopied {
		note += " gasm looks at the code cache from time to time, so it often knows only between which times code was made: " +
			"--events compile says that more exactly."
	}
	if slices.ContainsFunc(t.Profile.Compilations, func(c warmup.Version) bool { return c.MadeBefore() }) {
		note += " Code that was there when gasm attached was made before."
	}
	if !slices.ContainsFunc(t.Profile.Compilations, func(c warmup.Version) bool { return c.Ended != nil }) {
		note += " The log does not say when code was discarded."
	}
	return note
}

// made returns when a compilation was made, as text: "1.234", or "1.234 to 1.484" if gasm does not know it exactly. It
// returns "before" if the code was there when gasm attached to the JVM.
func (t compilations) made(c *warmup.Version) string {
	if c.MadeBefore() {
		return "before "
	}
	if c.MadeByMillis > c.MadeMillis {
		return fmt.Sprintf("%.3f to ", float64(c.MadeMillis)/1000) + t.moment(c.MadeByMillis, c.MadeInside)
	}
	return t.moment(c.MadeMillis, c.MadeInside)
}

// moment formats a time since a JVM's start in seconds. If the time is inside the window and the window is not the
// whole run, it has a star: "12.345*".
func (t compilations) moment(millis int64, inside bool) string {
	text := fmt.Sprintf("%.3f", float64(millis)/1000)
	if inside && !t.wholeRun() {
		return text + "*"
	}
	return text + " "
}

// discarded returns the time at which HotSpot discarded a compilation, as text. From then on, threads no longer enter
// its code. It returns "" if HotSpot did not discard the compilation.
func (t compilations) discarded(c *warmup.Version) string {
	if c.Ended == nil {
		return ""
	}
	return t.moment(c.Ended.UptimeMillis, c.EndedInside)
}

// why returns the reason why a compilation was discarded, if the log has it: ": uncommon trap, unstable_if".
func why(c *warmup.Version) string {
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
