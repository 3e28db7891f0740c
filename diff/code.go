package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/diff/asm"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// regions writes the table of the regions that changed. A region is a run of sampled instructions. Below the table, it
// writes the aligned code of each region that has a listing.
func (t *textDiff) regions() {
	rows := t.c.Regions
	if len(rows) == 0 {
		return
	}
	t.Rule("Changed Regions")
	n := t.rowsShown(len(rows))
	var cells [][]string
	var tails []string
	for i := range rows[:n] {
		r := &rows[i]
		cells = append(cells, append(shareCells(&r.Row), r.Source, r.Name, r.details(r.codeText())))
		tails = append(tails, r.compileIDs())
	}
	t.writeRows(cells, tails)
	t.others(len(rows)-n, "region")
	t.Line("")
	number := 0
	for i := range rows[:n] {
		if len(rows[i].Listing) > 0 {
			number++
			t.code(number, &rows[i])
		}
	}
}

// compileIDs returns ", compile id 137" or ", compile ids 137 and 145". Stubs and the interpreter
// have no compile id; for them it returns "".
func (r *RegionRow) compileIDs() string {
	switch {
	case r.CompileIDA == 0 && r.CompileIDB == 0:
		return ""
	case r.CompileIDA == r.CompileIDB:
		return fmt.Sprintf(", compile id %d", r.CompileIDA)
	}
	id := func(n int) string {
		if n == 0 {
			return "none"
		}
		return fmt.Sprint(n)
	}
	return ", compile ids " + id(r.CompileIDA) + " and " + id(r.CompileIDB)
}

// codeText says in words whether the region's code differs: "11% in changed code" or "same code".
// It returns "" if the code is unknown.
func (r *RegionRow) codeText() string {
	switch {
	case r.Code > 0:
		return codeDifference(r.Code)
	case r.CodeKnown:
		return "same code"
	}
	return ""
}

const (
	// contextLines is how many lines are shown before and after a line that differs.
	contextLines = 3
	// A line that is equal on both sides is shown if it has at least this share of the profile's
	// samples.
	warmShare = 0.01
	// maxDifferent limits the number of lines that are shown because they differ or are close to a
	// line that differs. A's code and B's code get half of this number each. The JSON has all
	// lines.
	maxDifferent = 100
	// Frames (the Java method and its line) are written in a column to the right of the instructions. The longest
	// instruction that is shown decides where that column begins, within these limits.
	minTextColumn = 28
	maxTextColumn = 48
)

// code writes the aligned code of one region.
func (t *textDiff) code(number int, r *RegionRow) {
	t.Rule(fmt.Sprintf("Changed Region %d", number))
	t.Line("%s, %s%s: %.0f%% of the lines are the same", r.Source, r.Name, r.compileIDs(), 100*r.Same)
	t.Line("")
	t.Line("%7s  %7s", "A", "B")
	column := minTextColumn
	shown, left := t.c.shown(r)
	for i, l := range r.Listing {
		if n := layout.Width(l.Text); shown[i] && n <= maxTextColumn {
			column = max(column, n)
		}
	}
	frame, skipped := "", false // the frame of the previous line; whether lines were left out since then
	for i := range r.Listing {
		if !shown[i] {
			skipped = true
			continue
		}
		if skipped {
			t.Line("%25s%s", "", t.Ellipsis())
			frame, skipped = "", false
		}
		l := &r.Listing[i]
		text := l.Text
		if l.Frame != "" && l.Frame != frame {
			text = layout.PadRight(text, column) + "  ; " + l.Frame
		}
		frame = l.Frame
		t.codeLine(l, text)
	}
	if skipped {
		t.Line("%25s%s", "", t.Ellipsis())
	}
	if left > 0 {
		t.Line("%25s(%s not shown; --format json has all)", "", layout.Plural(left, "more different line"))
	}
	t.Line("")
}

// codeLine writes one line of a listing. text is the instruction, with or without a frame after it.
func (t *textDiff) codeLine(l *asm.ListingLine, text string) {
	op, style := " ", layout.Plain
	switch l.Op {
	case "-":
		op, style = "-", layout.Red
	case "+":
		op, style = "+", layout.Magenta
	}
	label := l.Label
	if label != "" {
		label += ":"
	}
	line := fmt.Sprintf("%7s  %7s  %s %4s  %s", linePercent(l.A, t.c.A), linePercent(l.B, t.c.B), op, label, text)
	t.Line("%s", t.Paint(style, line))
}

// linePercent returns a line's share of one side's profile, such as "1.25%". It returns "" if the
// line has no samples.
func linePercent(n int64, side *TrialSide) string {
	if n == 0 {
		return ""
	}
	return percentText(shareOf(n, side.Samples))
}

// shown returns, for each line of a listing, whether it is shown. Lines with many samples (warmShare) are shown, and so
// are lines that differ, together with the lines around them. If too many lines differ, the hottest of them are chosen.
// The second result is the number of lines that differ but are not shown.
func (c *Comparison) shown(r *RegionRow) (shown []bool, left int) {
	lines := r.Listing
	shown = make([]bool, len(lines))
	// A line's heat is its share of the region's samples on its own side, so that lines
	// of a side with few samples are shown too.
	heat := func(i int) float64 { return max(shareOf(lines[i].A, r.SamplesA), shareOf(lines[i].B, r.SamplesB)) }
	isWarm := func(l *asm.ListingLine) bool {
		return max(shareOf(l.A, c.A.Samples), shareOf(l.B, c.B.Samples)) >= warmShare
	}
	var differ []int
	for i := range lines {
		if lines[i].Op != "=" {
			differ = append(differ, i)
		} else {
			shown[i] = isWarm(&lines[i])
		}
	}
	slices.SortStableFunc(differ, func(i, j int) int { return cmp.Compare(heat(j), heat(i)) })
	used := map[string]int{} // for each Op, how many lines are shown because a line with this Op differs
	for _, i := range differ {
		if used[lines[i].Op] >= maxDifferent/2 {
			continue
		}
		for j := max(i-contextLines, 0); j <= min(i+contextLines, len(lines)-1); j++ {
			if !shown[j] {
				shown[j] = true
				used[lines[i].Op]++
			}
		}
	}
	for _, i := range differ {
		if !shown[i] {
			left++
		}
	}
	return shown, left
}
