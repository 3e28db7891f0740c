package diff

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/layout"
)

// regions writes the table of regions and the code of those that have a
// listing.
func (t *textDiff) regions() {
	rows := t.c.Regions
	if len(rows) == 0 {
		return
	}
	t.rule("Changed Regions")
	shown := t.cut(len(rows))
	var cells [][]string
	var tails []string
	for i := range rows[:shown] {
		r := &rows[i]
		cells = append(cells, append(shareCells(&r.Row), r.Source, r.Name, r.details(r.codeText())))
		tails = append(tails, r.compileIDs())
	}
	t.render(cells, tails)
	if shown < len(rows) {
		t.line("%26s<...other %s...>", "", layout.Plural(len(rows)-shown, "changed region"))
	}
	t.line("")
	number := 0
	for i := range rows[:shown] {
		if len(rows[i].Listing) > 0 {
			number++
			t.listing(number, &rows[i])
		}
	}
}

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

// codeText says how the code differs, where it is known.
func (r *RegionRow) codeText() string {
	switch {
	case r.Code > 0:
		return codeText(r.Code)
	case r.CodeKnown:
		return "same code"
	}
	return ""
}

const (
	// around is how many equal lines are shown around those that differ.
	around = 3
	// warm is the share from which on an equal line is shown anywhere.
	warm = 0.01
	// Frames stand in a column as far right as the longest instruction needs,
	// within these limits.
	minTextColumn = 28
	maxTextColumn = 48
)

// listing writes the aligned code of one region.
func (t *textDiff) listing(number int, r *RegionRow) {
	t.rule(fmt.Sprintf("Changed Region %d", number))
	t.line("%s, %s%s: %.0f%% of the lines are the same", r.Source, r.Name, r.compileIDs(), 100*r.Same)
	t.line("")
	t.line("%7s  %7s", "A", "B")
	column := minTextColumn
	shown, left := t.shown(r)
	for i, l := range r.Listing {
		if n := utf8.RuneCountInString(l.Text); shown[i] && n <= maxTextColumn {
			column = max(column, n)
		}
	}
	frame, skipped := "", false
	for i := range r.Listing {
		if !shown[i] {
			skipped = true
			continue
		}
		if skipped {
			t.line("%25s%s", "", t.glyph("…", "..."))
			frame, skipped = "", false
		}
		l := &r.Listing[i]
		text := l.Text
		if l.Frame != "" && l.Frame != frame {
			text = layout.PadRight(text, column) + "  ; " + l.Frame
		}
		frame = l.Frame
		t.listingLine(l, text)
	}
	if skipped {
		t.line("%25s%s", "", t.glyph("…", "..."))
	}
	if left > 0 {
		t.line("%25s(%s not shown; --format json has all)", "", layout.Plural(left, "more different line"))
	}
	t.line("")
}

func (t *textDiff) listingLine(l *ListingLine, text string) {
	op, paint := " ", style("")
	switch l.Op {
	case "-":
		op, paint = "-", red
	case "+":
		op, paint = "+", magenta
	}
	label := l.Label
	if label != "" {
		label += ":"
	}
	line := fmt.Sprintf("%7s  %7s  %s %4s  %s", t.linePercent(l.A, t.c.A), t.linePercent(l.B, t.c.B), op, label, text)
	if paint != "" {
		line = t.paint(paint, line)
	}
	t.line("%s", line)
}

func (t *textDiff) linePercent(n int64, of *Trial) string {
	if n == 0 {
		return ""
	}
	return percent(shareOf(n, of.Samples))
}

// maxShown is how many lines of a listing are shown because they differ. JSON
// has them all.
const maxShown = 100

// shown tells which lines of a listing are shown: those that differ, the
// hottest of either side first, with what is around them, and what is warm. It
// also gives the number of lines that differ and are left out.
func (t *textDiff) shown(r *RegionRow) (shown []bool, left int) {
	lines := r.Listing
	shown = make([]bool, len(lines))
	// A line's heat is its part of the region's samples on its side, so that
	// both sides have their say.
	heat := func(i int) float64 { return max(shareOf(lines[i].A, r.SamplesA), shareOf(lines[i].B, r.SamplesB)) }
	isWarm := func(l *ListingLine) bool {
		return max(shareOf(l.A, t.c.A.Samples), shareOf(l.B, t.c.B.Samples)) >= warm
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
	marked := map[string]int{} // by side: each has half of what is shown
	for _, i := range differ {
		if marked[lines[i].Op] >= maxShown/2 {
			continue
		}
		for j := max(i-around, 0); j <= min(i+around, len(lines)-1); j++ {
			if !shown[j] {
				shown[j] = true
				marked[lines[i].Op]++
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
