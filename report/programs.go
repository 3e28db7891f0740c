package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// leastProgram is the share of the samples below which one of several programs has no report
// of its own.
const leastProgram = 0.01

// profiles writes the profiles of several trials or programs.
func (r *textReport) profiles() {
	r.Line("")
	r.jvmTable()
	r.hottestOfEach()
	shown := 0
	for i := range r.ps.Trials {
		r.p = &r.ps.Trials[i]
		title := fmt.Sprintf("Trial %d of %d: %s", i+1, len(r.ps.Trials), r.p.Trial)
		if r.p.Trial == "" {
			share := r.shareOfAll(r.p)
			if i > 0 && share < leastProgram {
				continue
			}
			title = r.programTitle(i, share)
		}
		shown++
		r.Line("")
		r.Line("")
		r.Heading('=', title)
		r.trial()
	}
	if left := len(r.ps.Trials) - shown; left > 0 {
		r.Paragraph("note: ", fmt.Sprintf("not shown: %s with less than %.0f%% of the samples; the table of JVMs has them, --jvm REGEX reports on one",
			layout.Plural(left, "more program"), 100*leastProgram))
	}
}

// hottestOfEach writes a line for each program with its hottest Java method, because the report of
// the second one may be far below. It has none where each profile is a benchmark's.
func (r *textReport) hottestOfEach() {
	var cells [][]string
	for i := range r.ps.Trials {
		r.p = &r.ps.Trials[i]
		if r.p.Trial != "" || i > 0 && r.shareOfAll(r.p) < leastProgram || len(r.p.Frames) == 0 || !r.visible(r.p.Frames[0].Counts) {
			continue
		}
		f := &r.p.Frames[0]
		amount := r.tableAmount(0, f.Counts[0], shareOf(f.Counts[0], r.p.Accounts[0].Profiled))
		cells = append(cells, []string{fmt.Sprintf("Program %d:", i+1), strings.TrimSpace(amount), r.short(f.Method, false), r.frameDetails(f)})
	}
	if len(cells) == 0 {
		return
	}
	r.Line("%s", r.Paint(layout.Bold, "Hottest Java method of each program, of its own samples:"))
	for _, line := range layout.Table(nil, cells, []tw.Align{tw.AlignLeft, tw.AlignRight, tw.AlignLeft, tw.AlignLeft}) {
		r.Line("%s", line)
	}
}

// programTitle is the heading of a program, with its share of the samples in all profiles.
func (r *textReport) programTitle(i int, share float64) string {
	start, end := fmt.Sprintf("Program %d of %d: ", i+1, len(r.ps.Trials)), fmt.Sprintf(", %.1f%% of the samples", 100*share)
	const frame = len("====[]====")
	width := r.Columns(layout.RuleWidth) - frame - len(start) - len(end)
	return start + shortDotted(r.programName(r.p), width, r.Ellipsis()) + end
}

// programName is what a profile without a trial is called.
func (r *textReport) programName(p *profile.Profile) string {
	if name := r.ps.Name(p); name != "" {
		return knownAs(name)
	}
	return "of an unknown name"
}

// tools are the programs whose main class or jar does not say what they are.
var tools = map[string]string{
	"org.codehaus.plexus.classworlds.launcher.Launcher": "Maven",
	"surefirebooter.jar":                                         "tests of Maven Surefire",
	"org.apache.maven.surefire.booter.ForkedBooter":              "tests of Maven Surefire",
	"org.gradle.launcher.daemon.bootstrap.GradleDaemon":          "Gradle's daemon",
	"worker.org.gradle.process.internal.worker.GradleWorkerMain": "Gradle's worker",
}

// knownAs is a program's name, with what it is where the name does not tell.
func knownAs(program string) string {
	if tool := tools[program]; tool != "" {
		return program + " (" + tool + ")"
	}
	return program
}

// allProfiled is the number of samples in all profiles, of the first event.
func (r *textReport) allProfiled() int64 {
	var all int64
	for i := range r.ps.Trials {
		if accounts := r.ps.Trials[i].Accounts; len(accounts) > 0 {
			all += accounts[0].Profiled
		}
	}
	return all
}

// shareOfAll is a profile's share of them.
func (r *textReport) shareOfAll(p *profile.Profile) float64 {
	all := r.allProfiled()
	if all == 0 {
		return 0
	}
	return float64(p.Accounts[0].Profiled) / float64(all)
}
