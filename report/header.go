package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// maxJVMLines is how many JVMs of one trial are listed before the rest is only counted.
const maxJVMLines = 6

// labelWidth is the width of the labels in the header block, with the blanks behind them.
const labelWidth = len("Other JVMs: ")

// field writes one line of the header block, with lines below it where there are several values.
func (r *textReport) field(name string, values ...string) { r.Field(labelWidth, name, values...) }

// capture writes what holds for all profiles.
func (r *textReport) capture(ps []profile.Profile) {
	r.field("gasm", nonEmpty(r.o.Gasm)...)
	r.field("Command", commandLines(r.about.Command, r.Columns(layout.RuleWidth)-labelWidth, r.Ellipsis())...)
	if r.about.Attached {
		r.field("Attached", "to "+layout.Plural(len(r.about.JVMs), "running JVM"))
	}
	r.field("Sampler", nonEmpty(r.about.SamplerText())...)
	r.field("Chosen", nonEmpty(r.ps.Chosen)...)
	if r.single || r.allProfiled() == 0 { // else the table of JVMs has them
		_, others := divide(r.about.JVMs, ps)
		r.field("Other JVMs", r.listed(len(others), func(i int) string { return r.otherJVM(others[i]) })...)
	}
	if !r.single {
		r.writeNotes()
	}
	if len(ps) == 0 {
		r.Line("There is no profile: the capture has no JVM.")
	}
}

// writeNotes writes what could be better. Short notes that follow one another share a line.
func (r *textReport) writeNotes() {
	const mark, between = "note: ", "; "
	line := ""
	for _, n := range r.notes {
		switch {
		case line == "":
			line = n
		case layout.Width(mark+line+between+n) <= r.Columns(layout.RuleWidth):
			line += between + n
		default:
			r.Paragraph(mark, line)
			line = n
		}
	}
	if line != "" {
		r.Paragraph(mark, line)
	}
}

// listed describes JVMs, by their place among n. It only counts those that are too many for a header.
func (r *textReport) listed(n int, describe func(i int) string) []string {
	more := n - maxJVMLines
	if more == 1 {
		more = 0 // the line about one more has room for that one
	}
	var lines []string
	for i := range n - max(more, 0) {
		lines = append(lines, describe(i))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("%s %d more", r.Ellipsis(), more))
	}
	return lines
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// divide parts the JVMs into those that a profile is of, and the others: JMH's own process, Maven, Gradle.
func divide(jvms []capture.JVM, ps []profile.Profile) (profiled, others []*capture.JVM) {
	pids := map[int]bool{}
	for i := range ps {
		for _, pid := range ps[i].PIDs {
			pids[pid] = true
		}
	}
	for i := range jvms {
		if j := &jvms[i]; pids[j.PID] {
			profiled = append(profiled, j)
		} else {
			others = append(others, j)
		}
	}
	return profiled, others
}

// jvm gives what the capture knows of a process.
func (r *textReport) jvm(pid int) capture.JVM {
	if i := slices.IndexFunc(r.about.JVMs, func(j capture.JVM) bool { return j.PID == pid }); i >= 0 {
		return r.about.JVMs[i]
	}
	return capture.JVM{PID: pid}
}

// otherJVM describes a JVM that is in no profile.
func (r *textReport) otherJVM(j *capture.JVM) string {
	text := j.String()
	if trial := r.measuredIn(j); trial != "" {
		text = fmt.Sprintf("%s, pid %d", trial, j.PID)
	}
	return text + " (not profiled)"
}

// jvms describes the JVMs of the current profile.
func (r *textReport) jvms() []string {
	return r.listed(len(r.p.PIDs), func(i int) string {
		j := r.jvm(r.p.PIDs[i])
		return j.String()
	})
}

// summary writes what holds for the current profile.
func (r *textReport) summary() {
	p := r.p
	r.field("JVMs", r.jvms()...)
	if r.single { // else the heading has it
		r.field("Trial", nonEmpty(p.Trial)...)
	}
	if p.WindowSeconds > 0 {
		r.field("Measured", fmt.Sprintf("%.2f s in %s", p.WindowSeconds, layout.Plural(len(p.PIDs), "JVM")))
	}
	if p.Score != nil {
		text := p.Score.String()
		if r.o.ASCII {
			text = strings.ReplaceAll(text, "±", "+-")
		}
		r.field("Score", text)
	}
	var samples []string
	for e, a := range p.Accounts {
		text := samplesOf(&a)
		if len(p.Events) > 1 {
			text = p.Events[e] + ": " + text
		}
		samples = append(samples, text)
	}
	r.field("Samples", samples...)
	if r.o.Counts == Norm { // the tables are of no use without
		r.field("Counts", strings.TrimSuffix(strings.TrimPrefix(r.countsUnit(), "Event counts are "), "."))
	}
	if r.single {
		r.writeNotes()
	}
	for _, w := range p.Warnings {
		if r.o.ASCII {
			w = strings.ReplaceAll(w, "±", "+-")
		}
		r.Paragraph("warning: ", w)
	}
	r.Line("")
}

// samplesOf says how many samples all shares are of.
func samplesOf(a *profile.Account) string {
	if a.Profiled == a.Total {
		return fmt.Sprintf("%d", a.Total)
	}
	return fmt.Sprintf("%d here, of %d taken: the account at the end has the others", a.Profiled, a.Total)
}

// nothing says why the profile is empty, as far as the account tells.
func (r *textReport) nothing() {
	var reasons []string
	for e, a := range r.p.Accounts {
		text := "the sampler took none"
		if a.Total > 0 {
			text = fmt.Sprintf("of the %d taken, %d are of other processes, %d lie outside the measurement window, "+
				"and %d were lost", a.Total, a.Others(), a.OutsideWindow, a.Lost)
		}
		if len(r.p.Events) > 1 {
			text = r.p.Events[e] + ": " + text
		}
		reasons = append(reasons, text)
	}
	if len(reasons) == 0 { // not even an event was seen
		reasons = []string{"the sampler took none"}
	}
	r.Paragraph("", "No samples in the profile: "+strings.Join(reasons, "; ")+".")
	r.Line("")
}
