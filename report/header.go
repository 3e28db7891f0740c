package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// maxJVMLines is how many JVMs of one trial are listed before the rest is only counted.
const maxJVMLines = 6

// field writes one line of the header block, with lines below it where there are several values.
func (r *textReport) field(name string, values ...string) {
	const column = len("Other JVMs: ")
	for i, v := range values {
		label := ""
		if i == 0 {
			label = name + ":"
		}
		r.line("%s%s", layout.PadRight(label, column), v)
	}
}

// note writes a wrapped paragraph that starts with a mark: "note: …".
func (r *textReport) note(mark, text string) {
	for i, line := range layout.Wrap(text, r.columns(textWidth)-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		r.line("%s%s", mark, line)
	}
}

// capture writes what holds for all profiles.
func (r *textReport) capture(ps []profile.Profile) {
	h := r.header
	r.field("gasm", nonEmpty(h.GasmVersion)...)
	r.field("Command", commandLines(h.Command, r.columns(textWidth)-len("Other JVMs: "), r.glyphs.ellipsis)...)
	r.field("Sampler", nonEmpty(h.samplerText())...)
	r.field("Other JVMs", r.listed(h.unprofiled(ps))...)
	if !r.single {
		r.notes()
	}
	if len(ps) == 0 {
		r.line("There is no profile: the capture has no JVM.")
	}
}

// notes writes what the sampler said.
func (r *textReport) notes() {
	for _, n := range r.header.Notes {
		r.note("note: ", n)
	}
}

// listed cuts a list of JVMs that is too long for a header.
func (r *textReport) listed(lines []string) []string {
	if more := len(lines) - maxJVMLines; more > 1 { // the line about one more has room for that one
		return append(lines[:maxJVMLines], fmt.Sprintf("%s %d more", r.glyphs.ellipsis, more))
	}
	return lines
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// samplerText is "perf, cycles and instructions at 1001 Hz".
func (h Header) samplerText() string {
	text := h.Sampler
	if len(h.Events) > 0 {
		text += ", " + strings.Join(h.Events, " and ")
	}
	if h.Frequency > 0 {
		text += fmt.Sprintf(" at %d Hz", h.Frequency)
	}
	return strings.TrimPrefix(text, ", ")
}

// unprofiled lists the JVMs that no profile has samples of: JMH's own process, Maven, Gradle.
func (h Header) unprofiled(ps []profile.Profile) []string {
	var lines []string
	for _, j := range h.JVMs {
		if !slices.ContainsFunc(ps, func(p profile.Profile) bool { return slices.Contains(p.PIDs, j.PID) }) {
			lines = append(lines, j.text()+" (not profiled)")
		}
	}
	return lines
}

// text is "fork 2, pid 25190, Workload, 17.0.15+6" with what is known.
func (j JVM) text() string {
	var parts []string
	if j.Fork > 0 {
		parts = append(parts, "fork "+strconv.Itoa(j.Fork))
	}
	parts = append(parts, "pid "+strconv.Itoa(j.PID))
	parts = append(parts, nonEmpty(j.Main)...)
	return strings.Join(append(parts, nonEmpty(j.Version)...), ", ")
}

// jvms describes the JVMs of the current profile.
func (r *textReport) jvms() []string {
	var lines []string
	for _, pid := range r.p.PIDs {
		i := slices.IndexFunc(r.header.JVMs, func(j JVM) bool { return j.PID == pid })
		if i < 0 {
			lines = append(lines, JVM{PID: pid}.text())
			continue
		}
		lines = append(lines, r.header.JVMs[i].text())
	}
	return lines
}

// trialHeading separates the profiles of several trials.
func (r *textReport) trialHeading(number, of int) {
	title := fmt.Sprintf("Trial %d of %d", number, of)
	if r.p.Trial != "" {
		title += ": " + r.p.Trial
	}
	text := "====[" + title + "]"
	r.line("")
	r.line("")
	r.line("%s", r.paint(bold, text+strings.Repeat("=", max(r.columns(ruleWidth)-utf8.RuneCountInString(text), 4))))
}

// summary writes what holds for the current profile.
func (r *textReport) summary() {
	p := r.p
	r.field("JVMs", r.listed(r.jvms())...)
	if r.single { // else the heading has it
		r.field("Trial", nonEmpty(p.Trial)...)
	}
	if p.WindowSeconds > 0 {
		r.field("Window", fmt.Sprintf("%.2f s in %s", p.WindowSeconds, layout.Plural(len(p.PIDs), "JVM")))
	}
	var samples []string
	for e, a := range p.Accounts {
		text := fmt.Sprintf("%d in the profile, %d taken", a.Profiled, a.Total)
		if len(p.Events) > 1 {
			text = p.Events[e] + ": " + text
		}
		samples = append(samples, text)
	}
	r.field("Samples", samples...)
	if r.Counts == Norm { // the tables are of no use without
		r.field("Counts", strings.TrimSuffix(strings.TrimPrefix(r.countsUnit(), "Event counts are "), "."))
	}
	if r.single {
		r.notes()
	}
	for _, w := range p.Warnings {
		r.note("warning: ", w)
	}
	r.line("")
}

// nothing says why the profile is empty, as far as the account tells.
func (r *textReport) nothing() {
	var reasons []string
	for e, a := range r.p.Accounts {
		text := "the sampler took none"
		if a.Total > 0 {
			text = fmt.Sprintf("of the %d taken, %d are of other processes, %d lie outside the measurement window, "+
				"and %d were lost", a.Total, a.OtherProcess, a.OutsideWindow, a.Lost)
		}
		if len(r.p.Events) > 1 {
			text = r.p.Events[e] + ": " + text
		}
		reasons = append(reasons, text)
	}
	if len(reasons) == 0 { // not even an event was seen
		reasons = []string{"the sampler took none"}
	}
	for _, line := range layout.Wrap("No samples in the profile: "+strings.Join(reasons, "; ")+".", r.columns(textWidth)) {
		r.line("%s", line)
	}
	r.line("")
}
