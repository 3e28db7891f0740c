package text

import (
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
)

// A view has everything that is needed to write the report about one profile: the page, the options, the profile, and
// the formats of amounts and names.
type view struct {
	*layout.Page
	amounts
	shortNames
	opts   Options
	about  *capture.Description
	warmth []string // lines that say when the JVMs became warm
	// row is called before the row of an instruction is written, with the index of its line. It may be nil.
	row func(line int)
}

// view returns the view of a profile.
func (d *document) view(p *profile.Profile) *view {
	return &view{
		Page:       d.Page,
		amounts:    amounts{p: p, unit: d.opts.Counts, frequency: d.about.Frequency},
		shortNames: shortNames{ellipsis: d.Ellipsis()},
		opts:       d.opts, about: d.about,
		warmth: amount.WarmthSummary(amount.Warmths(d.ps, p)),
	}
}

// jvm returns the capture's description of a JVM. If there is none, only its PID is set.
func (v *view) jvm(pid int) capture.JVM {
	if i := slices.IndexFunc(v.about.JVMs, func(j capture.JVM) bool { return j.PID == pid }); i >= 0 {
		return v.about.JVMs[i]
	}
	return capture.JVM{PID: pid}
}

// forkName returns the name of a JVM in the heading of a column: "fork 2" if JMH has numbered it, else "pid 4711".
func (v *view) forkName(pid int) string {
	if j := v.jvm(pid); j.Fork > 0 {
		return "fork " + strconv.Itoa(j.Fork)
	}
	return "pid " + strconv.Itoa(pid)
}

// inJVM returns the name of a row's JVM: ", fork 2". It returns "" if the profile has only one JVM.
func (v *view) inJVM(pid int) string {
	if len(v.p.PIDs) < 2 {
		return ""
	}
	return ", " + v.forkName(pid)
}

// source returns a frame's line of source. It returns the zero SourceLine if the line is not known.
func (v *view) source(f printassembly.Frame) SourceLine {
	if v.opts.Source == nil || f.Line <= 0 {
		return SourceLine{}
	}
	if f.File != "" && v.opts.NativeSource == nil {
		return SourceLine{}
	}
	if f.File != "" {
		return v.opts.NativeSource(f.File, f.Line)
	}
	return v.opts.Source(f.Method, f.Line)
}

// narrow reports whether the terminal has too few columns for details that can be left out.
func (v *view) narrow() bool { return v.opts.TableWidth > 0 && v.opts.TableWidth < layout.RuleWidth }

// cut shortens a line to the width of the terminal. It returns the line unchanged if the output is not a terminal.
func (v *view) cut(line string) string {
	if v.Width > 0 {
		return layout.CutEnd(line, v.Width, v.Ellipsis())
	}
	return line
}

// headingName returns a name for a heading. If the output is a terminal, the function short shortens the name so that
// the heading fits on one line. others is the width of the rest of that line, in characters.
func (v *view) headingName(name string, short func(name string, width int, ellipsis string) string, others int) string {
	if v.Width == 0 {
		return name
	}
	return short(name, max(v.Width-others, leastName), v.Ellipsis())
}

// field writes one field of the header, with a line for each value.
func (v *view) field(name string, values ...string) { v.Field(labelWidth, name, values...) }
