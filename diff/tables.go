package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
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
		t.line("%s", strings.Repeat(" ", 26)+"<...other "+plural(len(rows)-shown, "changed "+kind)+"...>")
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
	for _, line := range renderTable(header, rows, aligns) {
		t.line("%s", line)
	}
}

// renderTable lays out cells in columns without borders.
func renderTable(header []string, rows [][]string, aligns []tw.Align) []string {
	section := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: aligns},
	}
	var b strings.Builder
	table := tablewriter.NewTable(&b,
		tablewriter.WithConfig(tablewriter.Config{Header: section, Row: section,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off}}),
		tablewriter.WithEastAsian(tw.Off), // else the library guesses from the environment
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone, Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone}})),
	)
	table.Header(header)
	// Strings into a strings.Builder: neither can fail.
	_ = table.Bulk(rows)
	_ = table.Render()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
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

// wrap breaks text at blanks into lines of at most width runes; a longer word
// gets a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// plural writes n things: "1 method", "2 methods".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
