package text

import (
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// An accountRow is one line of the table Account of Samples. The rows form a tree, and the indentation of the labels
// shows it. The counts of the rows directly below a row add up to the count of that row.
type accountRow struct {
	label    string
	count    func(a *profile.Account) int64
	optional bool // the row is left out if it has no samples
}

// takenRows are the parts of the row "taken", which has all samples.
var takenRows = []accountRow{
	{"  other trials", func(a *profile.Account) int64 { return a.OtherTrial }, true},
	{"  other JVMs of the command", func(a *profile.Account) int64 { return a.OtherJVM }, true},
	{"  other processes", func(a *profile.Account) int64 { return a.OtherProcess }, false},
	{"  outside the window", func(a *profile.Account) int64 { return a.OutsideWindow }, false},
	{"  other threads", func(a *profile.Account) int64 { return a.OtherThread }, true},
	{"  outside the method", func(a *profile.Account) int64 { return a.OutsideMethod }, true},
	{"  not under the method", func(a *profile.Account) int64 { return a.NotUnder }, true},
	{"  gasm's printing (HotSpot)", func(a *profile.Account) int64 { return a.Printing }, true},
	{"  lost", func(a *profile.Account) int64 { return a.Lost }, false},
	{"  in the profile", func(a *profile.Account) int64 { return a.Profiled }, false},
}

// profiledRows are the parts of the row "in the profile".
var profiledRows = []accountRow{
	{"    compiled code", func(a *profile.Account) int64 { return a.Compiled }, false},
	{"    stubs", func(a *profile.Account) int64 { return a.Stub }, false},
	{"    interpreter", func(a *profile.Account) int64 { return a.Interpreter }, false},
	{"    native code", func(a *profile.Account) int64 { return a.Native }, false},
	{"    kernel", func(a *profile.Account) int64 { return a.Kernel }, false},
	{"    unresolved", func(a *profile.Account) int64 { return a.Unresolved }, false},
}

// stackRows are the parts of the row "by call stack". That row counts the samples of the profile a second time.
var stackRows = []accountRow{
	{"    whole", func(a *profile.Account) int64 { return a.Whole }, false},
	{"    cut", func(a *profile.Account) int64 { return a.Cut }, false},
	{"    frozen", func(a *profile.Account) int64 { return a.Frozen }, false},
	{"    not walked", func(a *profile.Account) int64 { return a.Unwalked }, false},
}

// writeAccount writes the account of all samples.
func writeAccount(v *view.View) {
	v.Rule("Account of Samples")
	taken := shownTakenRows(v.Profile)
	labels := []string{"taken"}
	for _, row := range slices.Concat(taken, profiledRows) {
		labels = append(labels, row.label)
	}
	stacks := slices.ContainsFunc(v.Profile.Accounts, func(a profile.Account) bool { return a.Stacks() > 0 })
	if stacks {
		labels = append(labels, "  by call stack")
		for _, row := range stackRows {
			labels = append(labels, row.label)
		}
	}
	columns, header, aligns := [][]string{labels}, []string{""}, []layout.Align{layout.Left}
	for e, event := range v.Profile.Counters {
		if len(v.Profile.Counters) == 1 {
			event = "samples"
		}
		columns = append(columns, accountColumns(&v.Profile.Accounts[e], taken, stacks)...)
		header = append(header, event, "of taken", "of profile")
		aligns = append(aligns, layout.Right, layout.Right, layout.Right)
	}
	for _, line := range layout.Table(header, transpose(columns), aligns) {
		v.Line("%s", line)
	}
	v.Line("")
}

// shownTakenRows returns takenRows without the optional rows that have no samples.
func shownTakenRows(p *profile.Profile) []accountRow {
	return slices.DeleteFunc(slices.Clone(takenRows), func(row accountRow) bool {
		hasSamples := func(a profile.Account) bool { return row.count(&a) != 0 }
		return row.optional && !slices.ContainsFunc(p.Accounts, hasSamples)
	})
}

// accountColumns returns three columns for one event: counts, their shares of all samples taken, and their shares of
// the samples in the profile. If stacks is true, they have the rows of call stacks, too.
func accountColumns(a *profile.Account, takenRows []accountRow, stacks bool) [][]string {
	taken, profiled := countsOf(a, takenRows), countsOf(a, profiledRows)
	counts := []string{strconv.FormatInt(a.Total, 10)}
	for _, n := range append(taken, profiled...) {
		counts = append(counts, strconv.FormatInt(n, 10))
	}
	ends := countsOf(a, stackRows)
	if stacks {
		for _, n := range append([]int64{a.Profiled}, ends...) {
			counts = append(counts, strconv.FormatInt(n, 10))
		}
	}
	inProfile := len(taken) // the index of the row "in the profile", which ends the first block and heads the second one
	ofTaken, ofProfile := make([]string, len(counts)), make([]string, len(counts))
	if a.Total > 0 {
		ofTaken[0] = amount.Whole.String()
		fillShares(ofTaken[1:], taken, a.Total)
	}
	if a.Profiled > 0 {
		ofProfile[inProfile] = amount.Whole.String()
		fillShares(ofProfile[inProfile+1:], profiled, a.Profiled)
		if stacks {
			byStack := inProfile + 1 + len(profiled)
			ofProfile[byStack] = amount.Whole.String()
			fillShares(ofProfile[byStack+1:], ends, a.Profiled)
		}
	}
	return [][]string{counts, ofTaken, ofProfile}
}

// countsOf returns the counts of rows.
func countsOf(a *profile.Account, rows []accountRow) []int64 {
	var counts []int64
	for _, row := range rows {
		counts = append(counts, row.count(a))
	}
	return counts
}

// fillShares writes the share of each count into cells. The cell of a count of 0 stays blank.
func fillShares(cells []string, counts []int64, total int64) {
	for i, s := range amount.Shares(counts, total) {
		if counts[i] > 0 {
			cells[i] = s.String()
		}
	}
}
