package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

// compilations writes the compilations of the hottest methods. They show whether a method was compiled again while it
// was measured, and why.
type compilations struct{ *view }

// writeCompilations writes the table of compilations.
func writeCompilations(v *view) {
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
		row := []string{t.inTable(0, c.Counts[0]), t.made(c)}
		if discarded {
			row = append(row, t.discarded(c))
		}
		rows = append(rows, append(row, c.Source+compileID(c.CompileID)+moved(c.Moved > 0)+t.inJVM(c.PID)+why(c)))
	}
	lines := layout.Table(append(header, ""), rows, append(aligns, layout.Left))
	t.Rule("Compilations of the Hottest Methods")
	t.Line("%s", lines[0])
	for i, line := range lines[1:] {
		if i == 0 || shown[i].Method != shown[i-1].Method {
			t.Line("%s", t.headingName(shown[i].Method, layout.ShortMethod, 0))
		}
		t.Line("%s", t.cut(line))
	}
	t.EndRule()
	t.Paragraph("", t.note())
	t.Line("")
}

// telling returns the compilations that the table shows: those with samples, those that a trap ended, and those that
// were made or discarded within the window, which is the measured part of the run. If the window is the whole run, the
// table leaves out the compilations that only belong to the last group, because every compilation belongs to it.
func (t compilations) telling() []warmup.Version {
	whole := t.wholeRun()
	return slices.DeleteFunc(slices.Clone(t.p.Compilations), func(c warmup.Version) bool {
		inside := !whole && (c.MadeInside || c.EndedInside)
		trapped := c.Ended != nil && c.Ended.Trap != ""
		return !t.visible(c.Counts) && !inside && !trapped
	})
}

// wholeRun reports whether all compilations were made within the window.
func (t compilations) wholeRun() bool {
	return !slices.ContainsFunc(t.p.Compilations, func(c warmup.Version) bool { return !c.MadeInside })
}

// note returns the text below the table, which explains the table.
func (t compilations) note() string {
	note := "Times are in seconds since the JVM's start."
	if !t.wholeRun() && t.p.WindowSeconds > 0 {
		note = "Times are in seconds since the JVM's start; * is within the window."
	}
	if t.about.Code == capture.CodeCopied {
		note +=
			" Code was made at that time or soon after it: gasm looks at the code cache from time to time, and more seldom (each 2.6 s) if nothing changes there."
	}
	if slices.ContainsFunc(t.p.Compilations, func(c warmup.Version) bool { return c.MadeBefore() }) {
		note += " Code that was there when gasm attached was made before."
	}
	if !slices.ContainsFunc(t.p.Compilations, func(c warmup.Version) bool { return c.Ended != nil }) {
		note += " The log does not say when code was discarded."
	}
	return note
}

// made returns the time at which a compilation was made, as text. It returns "before" if the code was there when gasm
// attached to the JVM.
func (t compilations) made(c *warmup.Version) string {
	if c.MadeBefore() {
		return "before "
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
