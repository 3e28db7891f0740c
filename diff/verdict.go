package diff

import (
	"fmt"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// maxVerdictRows limits the number of rows in a verdict's table, and also the number of its sentences about methods.
const maxVerdictRows = 100

// A verdict sums up a comparison. The Markdown report and the HTML page begin with it. Its strings are not escaped.
type verdict struct {
	Judged  bool   // at least one trial was judged by the limit of --fail-above
	Failed  bool   // something is slower than the limit allows
	Text    string // "1 of 2 benchmarks slower by more than 5 %"
	Kind    string // what the rows are: "benchmark" or "program"
	Timed   bool   // the rows have times per operation
	Rows    []verdictRow
	More    int // how many trials have no row
	Methods []failedMethod
}

// A verdictRow is the row of a trial. A string is "" if its value is unknown.
type verdictRow struct {
	Trial         int // index of the trial
	Failed        bool
	Title         string
	Before, After string // time per operation: "10.1 us", "10.1 us CPU"
	Change, Noise string // "+99.5 %", "± 1.3 %"
	Changed       string // "2 methods, code of 1 region"
}

// A failedMethod is a method whose share grew by more than the limit.
type failedMethod struct {
	Trial        int
	Name, Growth string // "15.00% → 55.00% of the profile, +40.0 points (noise 5.1)"
}

// verdict returns the result of the comparison. The trials that fail come first, and then those that changed most.
func (r *Result) verdict() verdict {
	v := verdict{Text: layout.Plural(len(r.Trials), r.kind()) + " compared", Kind: r.kind()}
	failed := map[int]bool{}
	if g := r.Gate; g != nil {
		for i := range g.Rows {
			row := &g.Rows[i]
			if !row.Failed {
				continue
			}
			failed[row.trial] = true
			if row.Name != "" && i < maxVerdictRows {
				v.Methods = append(v.Methods, failedMethod{row.trial, row.Name,
					fmt.Sprintf("%s → %s of the profile, %+.1f points (noise %.1f)",
						percentText(row.Before), percentText(row.After), row.Change, row.Noise)})
			}
		}
		v.Judged, v.Failed = true, len(failed) > 0
		v.Text = fmt.Sprintf("nothing is slower by more than %g %%", g.Percent)
		if v.Failed {
			v.Text = fmt.Sprintf("%d of %s slower by more than %g %%", len(failed), layout.Plural(len(r.Trials), r.kind()),
				g.Percent)
		}
		switch n := r.notJudged(); {
		case n == len(r.Trials):
			v.Judged, v.Text = false, "not judged: "+noiseUnknown
		case n > 0:
			v.Text += fmt.Sprintf("; %d not judged: %s", n, noiseUnknown)
		}
	}
	order, times := r.bySize(), r.gateRows()
	v.Timed = len(times) > 0
	v.More = max(len(order)-maxVerdictRows, 0)
	for _, i := range order[:len(order)-v.More] {
		c := &r.Trials[i]
		row := verdictRow{Trial: i, Failed: failed[i], Title: c.A.Title(), Changed: c.changedText()}
		if times[i] != nil {
			row.setTimes(times[i])
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// notJudged returns the number of trials that could not be judged at all, because the noise is unknown.
func (r *Result) notJudged() int {
	judged := map[int]bool{} // by trial
	for i := range r.Gate.Rows {
		row := &r.Gate.Rows[i]
		judged[row.trial] = judged[row.trial] || row.NoiseKnown
	}
	n := 0
	for _, known := range judged {
		if !known {
			n++
		}
	}
	return n
}

func (r *verdictRow) setTimes(row *GateRow) {
	r.Before, r.After = nanosText(row.Before), nanosText(row.After)
	if row.CPU {
		r.Before, r.After = r.Before+" CPU", r.After+" CPU"
	}
	r.Change, r.Noise = fmt.Sprintf("%+.1f %%", row.Change), "?"
	if row.NoiseKnown {
		r.Noise = fmt.Sprintf("± %.1f %%", row.Noise)
	}
	if row.LeftOut > 0 {
		r.Noise += fmt.Sprintf(", without the slowest %d of each side", row.LeftOut)
	}
}

// verdictLegend explains the times of a verdict's rows.
const verdictLegend = "Before and after are times per operation. Noise is the largest change that chance can explain; a smaller change means nothing."
