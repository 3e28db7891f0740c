// Package counts formats numbers of samples for the text report: as percentages, as numbers, or as amounts per
// operation. Beside code, they are in columns, one for each event.
package counts

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

// Unit says how numbers of samples are written.
type Unit uint8

const (
	Percent Unit = iota // as percentages of the samples in the profile
	Raw                 // as numbers of samples
	Norm                // per operation; as percentages if a profile's Operations are unknown
)

// A Format formats the numbers of samples of one profile.
type Format struct {
	p         *profile.Profile
	unit      Unit
	frequency int
}

// Of returns the Format of a profile. frequency is the sampler's, in Hz, or 0 if it is unknown.
func Of(p *profile.Profile, unit Unit, frequency int) Format { return Format{p, unit, frequency} }

// Explain returns a sentence that says what the numbers in the report are.
func (f Format) Explain() string {
	switch f.unit {
	case Raw:
		return "Event counts are numbers of samples."
	case Norm:
		return "Event counts are " + f.PerOperation() + "."
	}
	return "Percentages are of all samples in this profile."
}

// PerOperation returns a text with the units of amounts per operation, and with the number of operations: "CPU time per
// operation, in ns (1.2e+08 operations)".
func (f Format) PerOperation() string {
	var units []string
	for e := range f.p.Counters {
		units = append(units, f.Scale(e).Unit)
	}
	return fmt.Sprintf("%s (%.4g operations)", strings.Join(slices.Compact(units), " and "), f.p.Operations)
}

// Scale returns the scale for amounts per operation of event e.
func (f Format) Scale(e int) amount.Scale { return amount.PerOperation(f.p, e, f.frequency) }

// Share returns n samples of event e as a share of the profile's samples of that event.
func (f Format) Share(e int, n int64) amount.Share {
	return amount.ShareOf(n, f.p.Accounts[e].Profiled)
}

// BesideCode formats a number of samples of event e for the column to the left of the instructions. It returns "" for
// no samples.
func (f Format) BesideCode(e int, n int64) string {
	switch {
	case n == 0:
		return ""
	case f.unit == Raw:
		return strconv.FormatInt(n, 10)
	case f.unit == Norm:
		return f.Scale(e).Format(n)
	}
	s := f.Share(e, n)
	if s == 0 {
		return "<0.01%" // 0.00% would look like no samples
	}
	return s.String()
}

// InTable formats a number of samples of event e for a table. The cell is blank if there are no samples.
func (f Format) InTable(e int, n int64) string { return f.Cell(e, n, f.Share(e, n)) }

// Cell is like InTable, except that the caller computes the share. So a table can have shares of something other than
// the profile's samples.
func (f Format) Cell(e int, n int64, s amount.Share) string {
	const wide = 7 // the width of "100.00%"; it aligns the first columns of all tables
	text := ""
	switch {
	case f.unit == Raw && n != 0:
		text = strconv.FormatInt(n, 10)
	case f.unit == Norm && n != 0:
		text = f.Scale(e).Format(n)
	case f.unit == Percent && s != 0:
		text = s.String()
	}
	return layout.PadLeft(text, wide)
}

// Visible reports whether a table shows any of the counts as more than zero. A percentage must be at least 0.01 % for
// that.
func (f Format) Visible(counts tally.Counts) bool {
	for e, n := range counts {
		if f.unit != Percent && n != 0 || f.Share(e, n) != 0 {
			return true
		}
	}
	return false
}

// Zero returns counts that are all 0, one for each event.
func (f Format) Zero() tally.Counts { return make(tally.Counts, len(f.p.Counters)) }

// Empty reports whether the profile has no sample of any event.
func (f Format) Empty() bool {
	return !slices.ContainsFunc(f.p.Accounts, func(a profile.Account) bool { return a.Profiled > 0 })
}

// Heat returns the style of a row with these counts: the larger their share of the profile, the more striking. If there
// are several events, the one with the largest share decides.
func (f Format) Heat(counts tally.Counts) layout.Style {
	hottest := amount.Share(0)
	for e, n := range counts {
		hottest = max(hottest, f.Share(e, n))
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

// width returns the width, in characters, of the amounts of event e to the left of the instructions. It is 8 as in
// perfasm, or more if the event's name needs more.
func (f Format) width(e int) int {
	const least = 8
	if len(f.p.Counters) == 1 {
		return least
	}
	return max(least, layout.Width(f.p.Counters[e])+2)
}

// Cells returns the text to the left of an instruction: its amount of each event, or blanks if counts is nil.
func (f Format) Cells(counts tally.Counts) string {
	var b strings.Builder
	for e := range f.p.Counters {
		cell := ""
		if counts != nil {
			cell = f.BesideCode(e, counts[e])
		}
		b.WriteString(layout.PadLeft(cell, f.width(e)))
	}
	return b.String()
}

// Heads returns the headings for Cells: the name of each event.
func (f Format) Heads() string {
	var b strings.Builder
	for e, name := range f.p.Counters {
		b.WriteString(layout.PadLeft(name, f.width(e)))
	}
	return b.String()
}
