package diff

import (
	"fmt"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// itemTable writes the table of the methods or the frames that changed. kind is "method"
// or "frame".
func (t *textDiff) itemTable(title, kind string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	t.Rule(title)
	n := t.rowsShown(len(rows))
	var cells [][]string
	for i := range rows[:n] {
		r := &rows[i]
		cells = append(cells, append(shareCells(r), r.Source, r.Name, r.details(codeDifference(r.Code))))
	}
	t.writeRows(cells, nil)
	t.others(len(rows)-n, kind)
	t.Line("")
}

// rowsShown returns how many of n rows are shown.
func (t *textDiff) rowsShown(n int) int {
	// If there is only one row more than Top, that row is shown too. Otherwise a line would have to
	// say that one row is missing, and would take as much room.
	if t.o.Top > 0 && n > t.o.Top+1 {
		return t.o.Top
	}
	return n
}

// others writes how many rows are not shown, if any.
func (t *textDiff) others(n int, kind string) {
	if n > 0 {
		t.Line("%26s<...other %s...>", "", layout.Plural(n, "changed "+kind))
	}
}

// shareCells returns A's share, B's share and the change.
func shareCells(r *Row) []string {
	return []string{percentText(r.ShareA), percentText(r.ShareB), fmt.Sprintf("%+.2f", 100*r.Change)}
}

func percentText(share float64) string {
	if share == 0 {
		return "."
	}
	return fmt.Sprintf("%.2f%%", 100*share)
}

// codeDifference returns "11% in changed code" if Row.Code is 0.11, and "" if it is 0.
func codeDifference(share float64) string {
	if share == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%% in changed code", 100*share)
}

// details returns the last cell of a row: the time per operation, and the text about the
// code.
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

// nameCell is the index of the name in a row's cells, which are A's share, B's share,
// the change, the source, the name and the details.
const nameCell = 4

// writeRows writes rows of cells. Names are shortened if the terminal is too narrow. tails may be
// nil. Otherwise it has a text for each row, which follows the name and is not shortened.
func (t *textDiff) writeRows(rows [][]string, tails []string) {
	widths, tailWidth := make([]int, 6), 0
	for _, tail := range tails {
		tailWidth = max(tailWidth, layout.Width(tail))
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], layout.Width(cell))
		}
	}
	const padding, leastName = 2, 24
	if t.Width > 0 {
		used := padding + tailWidth
		for i, w := range widths {
			if i != nameCell && w > 0 {
				used += w + padding
			}
		}
		for _, row := range rows {
			row[nameCell] = layout.ShortMethod(row[nameCell], max(t.Width-used, leastName), t.Ellipsis())
		}
	}
	for i, tail := range tails {
		rows[i][nameCell] += tail
	}
	header := []string{"A", "B", "change", "", "", ""}
	aligns := []layout.Align{layout.Right, layout.Right, layout.Right, layout.Right, layout.Left, layout.Left}
	for _, line := range layout.Table(header, rows, aligns) {
		t.Line("%s", line)
	}
}
