// Package layout puts text into lines and columns, for everything that gasm writes for
// people: a [Page] with rules, paragraphs and colours, tables without borders, and names
// that are shortened to fit. Widths are in runes.
package layout

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Wrap breaks text at blanks into lines of at most width runes. A word that is longer
// gets a line of its own. There is at least one line.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// PadLeft right-aligns s in width columns.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0)) + s
}

// PadRight left-aligns s in width columns.
func PadRight(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// Plural writes a number of things: "1 JVM", "2 JVMs".
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
