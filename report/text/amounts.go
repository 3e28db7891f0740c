package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/amount"
)

// amounts formats numbers of samples in the unit that the options choose.
type amounts struct {
	p         *profile.Profile
	unit      Counts
	frequency int // of the sampler, in Hz; 0 if it is unknown
}

// explainUnit returns a sentence that says what the numbers in the report are.
func (a amounts) explainUnit() string {
	switch a.unit {
	case Raw:
		return "Event counts are numbers of samples."
	case Norm:
		return "Event counts are " + a.perOperation() + "."
	}
	return "Percentages are of all samples in this profile."
}

// perOperation returns the units of amounts per operation, and the number of operations: "CPU time per operation, in ns
// (1.2e+08 operations)".
func (a amounts) perOperation() string {
	var units []string
	for e := range a.p.Counters {
		units = append(units, a.scale(e).Unit)
	}
	return fmt.Sprintf("%s (%.4g operations)", strings.Join(slices.Compact(units), " and "), a.p.Operations)
}

// scale returns the scale for amounts per operation of event e.
func (a amounts) scale(e int) amount.Scale { return amount.PerOperation(a.p, e, a.frequency) }

// share returns n samples of event e as a share of the profile's samples of that event.
func (a amounts) share(e int, n int64) amount.Share {
	return amount.ShareOf(n, a.p.Accounts[e].Profiled)
}

// besideCode formats a number of samples of event e for the column to the left of the instructions. It returns "" for
// no samples.
func (a amounts) besideCode(e int, n int64) string {
	switch {
	case n == 0:
		return ""
	case a.unit == Raw:
		return strconv.FormatInt(n, 10)
	case a.unit == Norm:
		return a.scale(e).Format(n)
	}
	s := a.share(e, n)
	if s == 0 {
		return "<0.01%" // 0.00% would look like no samples
	}
	return s.String()
}

// inTable formats a number of samples of event e for a table. The cell is blank if there are no samples.
func (a amounts) inTable(e int, n int64) string { return a.cell(e, n, a.share(e, n)) }

// cell is like inTable, except that the caller computes the share. So a table can have shares of something other than
// the profile's samples.
func (a amounts) cell(e int, n int64, s amount.Share) string {
	const width = 7 // the width of "100.00%"; it aligns the first columns of all tables
	text := ""
	switch {
	case a.unit == Raw && n != 0:
		text = strconv.FormatInt(n, 10)
	case a.unit == Norm && n != 0:
		text = a.scale(e).Format(n)
	case a.unit == Percent && s != 0:
		text = s.String()
	}
	return layout.PadLeft(text, width)
}

// visible reports whether a table shows more than 0.00 % for any of the counts.
func (a amounts) visible(counts tally.Counts) bool {
	for e, n := range counts {
		if a.unit != Percent && n != 0 || a.share(e, n) != 0 {
			return true
		}
	}
	return false
}

// zero returns counts that are all 0, one for each event.
func (a amounts) zero() tally.Counts { return make(tally.Counts, len(a.p.Counters)) }

// empty reports whether the profile has no sample of any event.
func (a amounts) empty() bool {
	return !slices.ContainsFunc(a.p.Accounts, func(a profile.Account) bool { return a.Profiled > 0 })
}

// heat returns the style of a row with these counts: the larger their share of the profile, the more striking. If there
// are several events, the one with the largest share decides.
func (a amounts) heat(counts tally.Counts) layout.Style {
	hottest := amount.Share(0)
	for e, n := range counts {
		hottest = max(hottest, a.share(e, n))
	}
	switch {
	case hottest >= 500:
		return layout.BoldRed
	case hottest >= 150:
		return layout.Red
	case hottest >= 50:
		return layout.Magenta
	default:
		return layout.Plain
	}
}

// countWidth returns the width, in characters, of the amounts of event e to the left of the instructions. It is 8 as in
// perfasm, or more if the event's name needs more.
func (a amounts) countWidth(e int) int {
	const least = 8
	if len(a.p.Counters) == 1 {
		return least
	}
	return max(least, layout.Width(a.p.Counters[e])+2)
}

// countCells returns what is to the left of an instruction: its amount of each event, or blanks if counts is nil.
func (a amounts) countCells(counts tally.Counts) string {
	var b strings.Builder
	for e := range a.p.Counters {
		cell := ""
		if counts != nil {
			cell = a.besideCode(e, counts[e])
		}
		b.WriteString(layout.PadLeft(cell, a.countWidth(e)))
	}
	return b.String()
}

// eventCells returns the headings for countCells: the name of each event.
func (a amounts) eventCells() string {
	var b strings.Builder
	for e, name := range a.p.Counters {
		b.WriteString(layout.PadLeft(name, a.countWidth(e)))
	}
	return b.String()
}
