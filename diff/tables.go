package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/layout"
)

// table writes what changed of one kind.
func (t *textDiff) table(title, kind string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	t.rule(title)
	shown := t.cut(len(rows))
	var cells [][]string
	for i := range rows[:shown] {
		r := &rows[i]
		cells = append(cells, append(shareCells(r), r.Source, r.Name, r.details(codeText(r.Code))))
	}
	t.render(cells, nil)
	if shown < len(rows) {
		t.line("%s", strings.Repeat(" ", 26)+"<...other "+layout.Plural(len(rows)-shown, "changed "+kind)+"...>")
	}
	t.line("")
}

// cut is how many of n rows are shown.
func (t *textDiff) cut(n int) int {
	if t.Top > 0 && n > t.Top+1 { // the row about one other has room for that one
		return t.Top
	}
	return n
}

// shareCells are A's share, B's share and the change.
func shareCells(r *Row) []string {
	return []string{percent(r.ShareA), percent(r.ShareB), fmt.Sprintf("%+.2f", 100*r.Change)}
}

func percent(share float64) string {
	if share == 0 {
		return "."
	}
	return fmt.Sprintf("%.2f%%", 100*share)
}

func codeText(code float64) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("code differs (%.0f%%)", 100*code)
}

// details are what the code says, and the time per operation.
func (r *Row) details(code string) string {
	if r.NanosA == 0 && r.NanosB == 0 {
		return code
	}
	text := nanosText(r.NanosA) + " -> " + nanosText(r.NanosB) + " per op"
	if code != "" {
		text += ", " + code
	}
	return text
}

// render lays out rows of shares, source, name and details. Tails, where there
// are any, go behind the names, which may be shortened.
func (t *textDiff) render(rows [][]string, tails []string) {
	widths, tailWidth := make([]int, 6), 0
	for _, tail := range tails {
		tailWidth = max(tailWidth, utf8.RuneCountInString(tail))
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	const padding, least = 2, 24
	if t.Width > 0 {
		used := padding + tailWidth
		for i, w := range widths {
			if i != 4 && w > 0 {
				used += w + padding
			}
		}
		for _, row := range rows {
			row[4] = shortName(row[4], max(t.Width-used, least), t.glyph("…", "..."))
		}
	}
	for i, tail := range tails {
		rows[i][4] += tail
	}
	header := []string{"A", "B", "change", "", "", ""}
	aligns := []tw.Align{tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignLeft, tw.AlignLeft}
	for _, line := range layout.Table(header, rows, aligns) {
		t.line("%s", line)
	}
}

// shortName makes pkg.Class::method at most width runes long: packages become
// their first letter, from the left, then the beginning goes.
func shortName(name string, width int, ellipsis string) string {
	holder, method, found := strings.Cut(name, "::")
	parts := strings.Split(holder, ".")
	for i := 0; found && i < len(parts)-1 && utf8.RuneCountInString(name) > width; i++ {
		if r, _ := utf8.DecodeRuneInString(parts[i]); parts[i] != "" {
			parts[i] = string(r)
		}
		name = strings.Join(parts, ".") + "::" + method
	}
	runes := []rune(name)
	if keep := width - utf8.RuneCountInString(ellipsis); len(runes) > width && keep > 0 {
		return ellipsis + string(runes[len(runes)-keep:])
	}
	return name
}
