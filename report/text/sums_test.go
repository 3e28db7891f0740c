package text

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/text/counts"
)

// amountsOf reads the first number of each line under a heading, and the first number of the line of totals below the
// rule. Percentages become hundredths.
func amountsOf(t *testing.T, report, heading string) (rows []int64, total int64) {
	t.Helper()
	_, table, found := strings.Cut(report, "....["+heading+"]")
	if !found {
		t.Fatalf("no %s", heading)
	}
	lines := strings.Split(table, "\n")[1:]
	end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "....") })
	for _, line := range lines[:end] {
		rows = append(rows, amountOf(t, line))
	}
	return rows, amountOf(t, lines[end+1])
}

// amountOf reads the first number of a line.
func amountOf(t *testing.T, line string) int64 {
	t.Helper()
	cell := ""
	if len(line) >= 8 {
		cell = strings.TrimSpace(line[:8])
	}
	cell = strings.Replace(strings.TrimSuffix(cell, "%"), ".", "", 1)
	if cell == "" {
		return 0
	}
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil {
		return 0 // the heading of a region
	}
	return n
}

// add adds up numbers.
func add(rows []int64) int64 {
	var n int64
	for _, r := range rows {
		n += r
	}
	return n
}

// wholeTables are the tables that add up to all samples of the profile.
var wholeTables = []string{"Hottest Regions", "Hottest Methods (after inlining)", "Distribution by Source"}

// TestSums checks that the numbers in the text add up to those of the profile.
func TestSums(t *testing.T) {
	_, two := reporttest.Trials(t)
	for i, p := range append(two, reporttest.Workload(t)) {
		for _, a := range p.Accounts {
			if !a.Balanced() {
				t.Fatalf("profile %d is not balanced", i)
			}
		}
		o := options()
		for _, o.Top = range []int{0, 1, 2, 3, 20} {
			o.Counts = counts.Raw
			report := string(text(t, reporttest.Header(), []profile.Profile{p}, o))
			for _, table := range wholeTables {
				checkTable(t, report, table, p.Accounts[0].Profiled)
			}
			checkTable(t, report, "Hottest Native Functions", p.Accounts[0].Native+p.Accounts[0].Kernel)
			checkTable(t, report, "Hottest Frames (inlining undone, by self)", 1499)
			if p.Regions[0].Counts[0] >= p.Native[0].Counts[0] { // otherwise region 1 is a native function
				checkTable(t, report, "Hottest Region 1", p.Regions[0].Counts[0])
			}

			o.Counts = counts.Percent
			report = string(text(t, reporttest.Header(), []profile.Profile{p}, o))
			for _, table := range wholeTables {
				rows, total := amountsOf(t, report, table)
				if total != 10000 {
					t.Errorf("%s: totals are %d, want 10000", table, total)
				}
				// Each row is rounded by itself, by at most half a hundredth.
				if off := add(rows) - total; off < -int64(len(rows)) || off > int64(len(rows)) {
					t.Errorf("%s: rows %v add up to %d", table, rows, add(rows))
				}
			}
		}
	}
}

// checkTable compares the sum of a table's rows, and its totals, with the number of samples that it must have.
func checkTable(t *testing.T, report, table string, want int64) {
	t.Helper()
	if rows, total := amountsOf(t, report, table); add(rows) != want || total != want {
		t.Errorf("%s: rows %v add up to %d, totals are %d, want %d", table, rows, add(rows), total, want)
	}
}

// TestAccount checks both sums of every column of the account.
func TestAccount(t *testing.T) {
	for _, p := range []profile.Profile{reporttest.Workload(t), reporttest.TwoEvents(t), reporttest.Empty()} {
		for i := range p.Accounts {
			a := p.Accounts[i]
			a.Whole, a.Frozen, a.Unwalked = a.Profiled-a.Profiled/3-a.Profiled/7, a.Profiled/3, a.Profiled/7
			columns := accountColumns(&a, takenRows, true)
			taken, profile := len(takenRows), len(takenRows)+1
			stacks := profile + len(profiledRows)
			for c, of := range map[int]int64{0: a.Profiled, 2: 10000} {
				if got := columnSum(t, columns[c][stacks+1:]); got != of && a.Profiled > 0 {
					t.Errorf("column %d: %v add up to %d, want %d", c, columns[c][stacks:], got, of)
				}
				columns[c] = columns[c][:stacks]
			}
			for c, of := range map[int]int64{0: p.Accounts[i].Profiled, 2: 10000} {
				if got := columnSum(t, columns[c][profile:]); got != of && p.Accounts[i].Profiled > 0 {
					t.Errorf("column %d: %v add up to %d, want %d", c, columns[c][profile:], got, of)
				}
			}
			for c, of := range map[int]int64{0: p.Accounts[i].Total, 1: 10000} {
				if got := columnSum(t, columns[c][1:taken+1]); got != of {
					t.Errorf("column %d: %v add up to %d, want %d", c, columns[c][1:taken+1], got, of)
				}
			}
		}
	}
}

// columnSum adds up the numbers in cells.
func columnSum(t *testing.T, cells []string) int64 {
	t.Helper()
	var n int64
	for _, cell := range cells {
		n += amountOf(t, layout.PadLeft(cell, 8))
	}
	return n
}
