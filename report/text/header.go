package text

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// maxJVMLines is the maximum number of JVMs that the header lists. If there are more, the header only says how many
// more.
const maxJVMLines = 6

// field writes one field of the header, with a line for each value.
func (d *document) field(name string, values ...string) { d.Field(view.LabelWidth, name, values...) }

// header writes the fields that apply to all profiles.
func (d *document) header(gasm string) {
	d.field("gasm", nonEmpty(gasm)...)
	d.field("Command", names.CommandLines(d.about.Command, d.Columns(layout.RuleWidth)-view.LabelWidth, d.Ellipsis())...)
	if d.about.Attached {
		d.field("Attached", "to "+layout.Plural(len(d.about.JVMs), "running JVM"))
	}
	d.field("Sampler", nonEmpty(d.about.SamplerText())...)
	d.field("Chosen", nonEmpty(d.ps.Chosen)...)
	if d.single() || d.allProfiled() == 0 { // otherwise the table of JVMs has the other JVMs
		others := d.notProfiled()
		d.field("Other JVMs", d.listed(len(others), func(i int) string { return d.otherJVM(others[i]) })...)
	}
	if !d.single() {
		d.writeNotes()
	}
	if len(d.ps.Trials) == 0 {
		d.Line("There is no profile: the capture has no JVM.")
	}
}

// writeNotes writes the notes. Short notes that follow one another share a line.
func (d *document) writeNotes() {
	const mark, between = "note: ", "; "
	line := ""
	for _, n := range d.notes {
		switch {
		case line == "":
			line = n
		case layout.Width(mark+line+between+n) <= d.Columns(layout.RuleWidth):
			line += between + n
		default:
			d.Paragraph(mark, line)
			line = n
		}
	}
	if line != "" {
		d.Paragraph(mark, line)
	}
}

// listed returns a line for each of n JVMs. If there are too many for the header, a last line says how many were left
// out.
func (d *document) listed(n int, describe func(i int) string) []string {
	more := n - maxJVMLines
	if more == 1 {
		more = 0 // the line that would say "1 more" can describe that JVM instead
	}
	var lines []string
	for i := range n - max(more, 0) {
		lines = append(lines, describe(i))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("%s %d more", d.Ellipsis(), more))
	}
	return lines
}

// nonEmpty returns a list of one string, or nil for an empty string.
func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// notProfiled returns the JVMs that no profile is about, for example JMH's own process, Maven or Gradle.
func (d *document) notProfiled() (others []*capture.JVM) {
	profiled := map[int]bool{}
	for i := range d.ps.Trials {
		for _, pid := range d.ps.Trials[i].PIDs {
			profiled[pid] = true
		}
	}
	for i := range d.about.JVMs {
		if j := &d.about.JVMs[i]; !profiled[j.PID] {
			others = append(others, j)
		}
	}
	return others
}

// otherJVM describes a JVM that no profile is about.
func (d *document) otherJVM(j *capture.JVM) string {
	text := j.String()
	if trial := measuredIn(j, trialsByJVM(d.about.Trials)); trial != "" {
		text = fmt.Sprintf("%s, pid %d", trial, j.PID)
	}
	return text + " (not profiled)"
}

// summary writes the fields that apply to one profile.
func (d *document) summary(v *view.View) {
	p := v.Profile
	d.field("JVMs", d.listed(len(p.PIDs), func(i int) string {
		j := v.JVM(p.PIDs[i])
		return j.String()
	})...)
	if d.single() { // otherwise the profile's heading has the trial
		d.field("Trial", nonEmpty(p.Trial)...)
	}
	if p.WindowSeconds > 0 {
		d.field("Measured", fmt.Sprintf("%.2f s in %s", p.WindowSeconds, layout.Plural(len(p.PIDs), "JVM")))
	}
	if p.Score != nil {
		text := p.Score.String()
		if d.opts.ASCII {
			text = strings.ReplaceAll(text, "±", "+-")
		}
		d.field("Score", text)
	}
	var samples, stacks []string
	for e, a := range p.Accounts {
		text := samplesOf(&a)
		if len(p.Counters) > 1 {
			text = p.Counters[e] + ": " + text
		}
		samples = append(samples, text)
		if a.Stacks() > 0 {
			text = amount.StackShares(&a, func(n, all int64) string { return amount.ShareOf(n, all).String() })
			if len(p.Counters) > 1 {
				text = p.Counters[e] + ": " + text
			}
			stacks = append(stacks, layout.Wrap(text, d.Columns(layout.RuleWidth)-view.LabelWidth)...)
		}
	}
	d.field("Samples", samples...)
	d.field("Stacks", stacks...)
	if d.opts.Counts == counts.Norm { // the tables are hard to read without the unit
		d.field("Counts", v.PerOperation())
	}
	if d.single() {
		d.writeNotes()
	}
	for _, w := range p.Warnings {
		if d.opts.ASCII {
			w = strings.ReplaceAll(w, "±", "+-")
		}
		d.Paragraph("warning: ", w)
	}
	d.Line("")
}

// samplesOf returns how many samples the profile has. If the sampler took more, the text also says how many it took.
func samplesOf(a *profile.Account) string {
	if a.Profiled == a.Total {
		return fmt.Sprintf("%d", a.Total)
	}
	return fmt.Sprintf("%d in this profile, of %d taken (see the account at the end)", a.Profiled, a.Total)
}

// writeWhyEmpty writes why the profile has no samples, as far as the account shows the reason.
func writeWhyEmpty(v *view.View) {
	var reasons []string
	for e, a := range v.Profile.Accounts {
		text := "the sampler took none"
		if a.Total > 0 {
			text = fmt.Sprintf("of the %d taken, %d are of other processes, %d lie outside the measurement window, "+
				"and %d were lost", a.Total, a.Others(), a.OutsideWindow, a.Lost)
			if a.OtherThread > 0 {
				text += fmt.Sprintf("; %d are of other threads", a.OtherThread)
			}
			if a.OutsideMethod > 0 {
				text += fmt.Sprintf("; %d are outside the method", a.OutsideMethod)
			}
			if a.NotUnder > 0 {
				text += fmt.Sprintf("; %d are not under the method", a.NotUnder)
			}
		}
		if len(v.Profile.Counters) > 1 {
			text = v.Profile.Counters[e] + ": " + text
		}
		reasons = append(reasons, text)
	}
	if len(reasons) == 0 { // the profile has no events, and so no accounts
		reasons = []string{"the sampler took none"}
	}
	v.Paragraph("", "No samples in the profile: "+strings.Join(reasons, "; ")+".")
	v.Line("")
}
