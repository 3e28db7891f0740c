package text

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// leastProgram is the smallest share of all samples with which one of several programs has a report of its own.
const leastProgram = 0.01

// profiles writes the profiles of several trials or programs.
func (d *document) profiles() {
	d.Line("")
	d.jvmTable()
	d.hottestOfEach()
	shown := 0
	for i := range d.ps.Trials {
		p := &d.ps.Trials[i]
		title := fmt.Sprintf("Trial %d of %d: %s", i+1, len(d.ps.Trials), p.Trial)
		if p.Trial == "" {
			share := d.shareOfAll(p)
			if i > 0 && share < leastProgram {
				continue
			}
			title = d.programTitle(i, share)
		}
		shown++
		d.Line("")
		d.Line("")
		d.Heading('=', title)
		d.profile(p)
	}
	if left := len(d.ps.Trials) - shown; left > 0 {
		d.Paragraph("note: ",
			fmt.Sprintf("not shown: %s with less than %.0f%% of the samples; see the table of JVMs, or choose one with --jvm REGEX",
				layout.Plural(left, "more program"), 100*leastProgram))
	}
}

// hottestOfEach writes a line with the hottest Java method of each program, because the report of the second program
// may be far below. It writes nothing if the profiles are those of benchmarks.
func (d *document) hottestOfEach() {
	var cells [][]string
	for i := range d.ps.Trials {
		p := &d.ps.Trials[i]
		v := view.New(d.Page, d.opts, d.ps, p)
		if p.Trial != "" || i > 0 && d.shareOfAll(p) < leastProgram || len(p.Frames) == 0 || !v.Visible(p.Frames[0].Counts) {
			continue
		}
		f := &p.Frames[0]
		amount := v.InTable(0, f.Counts[0])
		cells = append(cells, []string{fmt.Sprintf("Program %d:", i+1), strings.TrimSpace(amount), f.Name(),
			frameDetails(v, f)})
	}
	if len(cells) == 0 {
		return
	}
	d.Line("%s", d.Paint(layout.Bold, "Hottest Java method of each program (of the program's own samples):"))
	for _, line := range layout.Table(nil, cells, []layout.Align{layout.Left, layout.Right, layout.Left, layout.Left}) {
		d.Line("%s", line)
	}
}

// programTitle returns the heading of a program, with its share of the samples in all profiles.
func (d *document) programTitle(i int, share float64) string {
	start, end := fmt.Sprintf("Program %d of %d: ", i+1, len(d.ps.Trials)), fmt.Sprintf(", %.1f%% of the samples",
		100*share)
	const frame = len("====[]====")
	width := d.Columns(layout.RuleWidth) - frame - len(start) - len(end)
	return start + view.ShortDotted(d.programName(&d.ps.Trials[i]), width, d.Ellipsis()) + end
}

// programName returns the name of the program that a profile is about. The profile must not be one of a trial.
func (d *document) programName(p *profile.Profile) string {
	if name := d.ps.Name(p); name != "" {
		return names.Program(name)
	}
	if d.ps.Capture.Code == capture.CodeCopied {
		return "of unknown name (ended before gasm could read it)"
	}
	return "of unknown name"
}

// allProfiled returns the number of samples of the first event in all profiles.
func (d *document) allProfiled() int64 {
	var all int64
	for i := range d.ps.Trials {
		if accounts := d.ps.Trials[i].Accounts; len(accounts) > 0 {
			all += accounts[0].Profiled
		}
	}
	return all
}

// shareOfAll returns one profile's part of the samples in all profiles, from 0 to 1.
func (d *document) shareOfAll(p *profile.Profile) float64 {
	all := d.allProfiled()
	if all == 0 {
		return 0
	}
	return float64(p.Accounts[0].Profiled) / float64(all)
}
