// Package view has what each part of the text report needs: the options, the page, the profile, and how numbers and
// names are written.
package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/counts"
)

// A View has everything that is needed to write the report about one profile: the page, the options, the profile, and
// the formats of amounts and names.
type View struct {
	*layout.Page
	counts.Format
	shortNames
	Profile *profile.Profile
	Options Options
	About   *capture.Description
	Warmth  []string // lines that say when the JVMs became warm
}

// New returns the view of a profile of a capture.
func New(page *layout.Page, o Options, ps *profile.Profiles, p *profile.Profile) *View {
	return &View{
		Page:       page,
		Format:     counts.Of(p, o.Counts, ps.Capture.Frequency),
		Profile:    p,
		shortNames: shortNames{ellipsis: page.Ellipsis()},
		Options:    o, About: &ps.Capture,
		Warmth: amount.WarmthSummary(amount.Warmths(ps, p)),
	}
}

// JVM returns the capture's description of a JVM. If there is none, only its PID is set.
func (v *View) JVM(pid int) capture.JVM {
	if i := slices.IndexFunc(v.About.JVMs, func(j capture.JVM) bool { return j.PID == pid }); i >= 0 {
		return v.About.JVMs[i]
	}
	return capture.JVM{PID: pid}
}

// ForkName returns the name of a JVM in the heading of a column: "fork 2" if JMH has numbered it, else "pid 4711".
func (v *View) ForkName(pid int) string {
	if j := v.JVM(pid); j.Fork > 0 {
		return "fork " + strconv.Itoa(j.Fork)
	}
	return "pid " + strconv.Itoa(pid)
}

// InJVM returns the name of a row's JVM: ", fork 2". It returns "" if the profile has only one JVM.
func (v *View) InJVM(pid int) string {
	if len(v.Profile.PIDs) < 2 {
		return ""
	}
	return ", " + v.ForkName(pid)
}

// Narrow reports whether the terminal has too few columns for details that can be left out.
func (v *View) Narrow() bool {
	return v.Options.TableWidth > 0 && v.Options.TableWidth < layout.RuleWidth
}

// Cut shortens a line to the width of the terminal. It returns the line unchanged if the output is not a terminal.
func (v *View) Cut(line string) string {
	if v.Width > 0 {
		return layout.CutEnd(line, v.Width, v.Ellipsis())
	}
	return line
}

// HeadingName returns a name for a heading. If the output is a terminal, the function short shortens the name so that
// the heading fits on one line. The parameter others is the width of the rest of that line, in characters.
func (v *View) HeadingName(name string, short func(name string, width int, ellipsis string) string, others int) string {
	if v.Width == 0 {
		return name
	}
	return short(name, max(v.Width-others, LeastName), v.Ellipsis())
}

// LabelWidth is the width of the labels in the header, with the blanks after them.
const LabelWidth = len("Other JVMs: ")

// Labelled writes one field of the header, with a line for each value.
func (v *View) Labelled(name string, values ...string) { v.Field(LabelWidth, name, values...) }

// InJVMs returns a text that names the JVMs of the profile in which a piece of code has samples: ", in forks 1, 3".
// pids are the ids of these JVMs. InJVMs returns "" if the profile has only one JVM.
func (v *View) InJVMs(pids []int) string {
	n, all, trial := len(pids), len(v.Profile.PIDs), v.Profile.Trial != ""
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
	switch forks := v.forkNumbers(pids); len(forks) {
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

// maxForksNamed is the maximum number of forks or JVMs that a heading names. If there are more, it only counts them.
const maxForksNamed = 4

// forkNumbers returns the fork numbers that JMH gave to JVMs, or nil if one of them has no number.
func (v *View) forkNumbers(pids []int) []string {
	var numbers []string
	for _, pid := range pids {
		j := v.JVM(pid)
		if v.Profile.Trial == "" || j.Fork == 0 {
			return nil
		}
		numbers = append(numbers, strconv.Itoa(j.Fork))
	}
	return numbers
}
