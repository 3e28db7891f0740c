package report

import (
	"strconv"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// An accountRow is one line of the account. Rows add up to the row above them that is indented less.
type accountRow struct {
	label string
	count func(a *profile.Account) int64
}

var takenRows = []accountRow{
	{"  other processes", func(a *profile.Account) int64 { return a.OtherProcess }},
	{"  outside the window", func(a *profile.Account) int64 { return a.OutsideWindow }},
	{"  lost", func(a *profile.Account) int64 { return a.Lost }},
	{"  in the profile", func(a *profile.Account) int64 { return a.Profiled }},
}

var profiledRows = []accountRow{
	{"    compiled code", func(a *profile.Account) int64 { return a.Compiled }},
	{"    stubs", func(a *profile.Account) int64 { return a.Stub }},
	{"    interpreter", func(a *profile.Account) int64 { return a.Interpreter }},
	{"    native code", func(a *profile.Account) int64 { return a.Native }},
	{"    kernel", func(a *profile.Account) int64 { return a.Kernel }},
	{"    unresolved", func(a *profile.Account) int64 { return a.Unresolved }},
}

// account writes the account of all samples.
func (r *textReport) account() {
	r.Rule("Account of Samples")
	labels := []string{"taken"}
	for _, row := range append(takenRows, profiledRows...) {
		labels = append(labels, row.label)
	}
	columns, header, aligns := [][]string{labels}, []string{""}, []tw.Align{tw.AlignLeft}
	for e, event := range r.p.Events {
		if len(r.p.Events) == 1 {
			event = "samples"
		}
		columns = append(columns, accountColumns(&r.p.Accounts[e])...)
		header = append(header, event, "of taken", "of profile")
		aligns = append(aligns, tw.AlignRight, tw.AlignRight, tw.AlignRight)
	}
	for _, line := range layout.Table(header, transpose(columns), aligns) {
		r.Line("%s", line)
	}
	r.Line("")
}

// accountColumns are the numbers of one event, their shares in all samples taken, and those in the profile.
func accountColumns(a *profile.Account) [][]string {
	taken, profiled := countsOf(a, takenRows), countsOf(a, profiledRows)
	counts := []string{strconv.FormatInt(a.Total, 10)}
	for _, n := range append(taken, profiled...) {
		counts = append(counts, strconv.FormatInt(n, 10))
	}
	inProfile := len(taken) // the row "in the profile" ends the first block and heads the second one
	ofTaken, ofProfile := make([]string, len(counts)), make([]string, len(counts))
	if a.Total > 0 {
		ofTaken[0] = share(10000).String()
		fillShares(ofTaken[1:], taken, a.Total)
	}
	if a.Profiled > 0 {
		ofProfile[inProfile] = share(10000).String()
		fillShares(ofProfile[inProfile+1:], profiled, a.Profiled)
	}
	return [][]string{counts, ofTaken, ofProfile}
}

func countsOf(a *profile.Account, rows []accountRow) []int64 {
	var counts []int64
	for _, row := range rows {
		counts = append(counts, row.count(a))
	}
	return counts
}

// fillShares writes shares into cells, and leaves them blank where there are no samples.
func fillShares(cells []string, counts []int64, total int64) {
	for i, s := range shares(counts, total) {
		if counts[i] > 0 {
			cells[i] = s.String()
		}
	}
}
