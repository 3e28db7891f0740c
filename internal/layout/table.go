package layout

import (
	"slices"
	"strings"
)

// An Align says whether the cells of a column are aligned left or right.
type Align int

// The sides.
const (
	Left Align = iota
	Right
)

// Table escapes cells, lays them out in columns without borders, and returns the lines. aligns has an element for each
// column. If header is nil, there is no line for it. Blanks at the start of a cell stay; those at the end of a line are
// removed.
func Table(header []string, rows [][]string, aligns []Align) []string {
	if header != nil {
		rows = slices.Insert(slices.Clone(rows), 0, header)
	}
	cells := make([]cell, 0, len(rows)*len(aligns))
	widths := make([]int, len(aligns))
	for _, row := range rows {
		for i, text := range row {
			c := cell{text: Escape(text)}
			c.width = escapedWidth(c.text)
			widths[i] = max(widths[i], c.width)
			cells = append(cells, c)
		}
	}
	lines := make([]string, 0, len(rows))
	var line []byte
	for _, row := range rows {
		line = line[:0]
		for i := range row {
			line = cells[i].append(line, widths[i], aligns[i])
		}
		cells = cells[len(row):]
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return lines
}

// A cell is an escaped text, and how many columns it takes on a terminal.
type cell struct {
	text  string
	width int
}

// append pads the cell to the given width, in columns, and appends it to a line with a blank on either side.
func (c cell) append(line []byte, width int, align Align) []byte {
	before, after := 1, 1+width-c.width
	if align == Right {
		before, after = after, before
	}
	line = append(appendBlanks(line, before), c.text...)
	return appendBlanks(line, after)
}

func appendBlanks(line []byte, n int) []byte {
	for range n {
		line = append(line, ' ')
	}
	return line
}
