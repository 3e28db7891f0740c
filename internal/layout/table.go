package layout

import (
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Table escapes cells, lays them out in columns without borders, and returns the lines. If header is nil, there is no
// line for it. Blanks at the start of a cell stay; those at the end of a line are removed.
func Table(header []string, rows [][]string, aligns []tw.Align) []string {
	section := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: aligns},
	}
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithConfig(tablewriter.Config{
			Header:   section,
			Row:      section,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off},
		}),
		// Otherwise the library guesses from the environment, and the report would depend on the user's language.
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
	)
	if header != nil {
		t.Header(escapeAll(header))
	}
	escaped := make([][]string, len(rows))
	for i, row := range rows {
		escaped[i] = escapeAll(row)
	}
	// Strings written to a strings.Builder: neither call can fail.
	_ = t.Bulk(escaped)
	_ = t.Render()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// escapeAll returns the escaped cells.
func escapeAll(cells []string) []string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = Escape(cell)
	}
	return escaped
}
