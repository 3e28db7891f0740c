// Package layout puts text into lines and columns, for everything that gasm writes for
// people: a [Page] with rules, paragraphs and colours, tables without borders, and names
// that are shortened to fit. It escapes all that comes from outside, so that nothing of it
// reaches a terminal raw, and counts widths in the columns that are left then.
package layout

import (
	"fmt"
	"strings"
)

// Wrap breaks text at blanks, and where it has the end of a line, into lines of at most
// width columns. A word that is longer gets a line of its own. There is at least one line.
func Wrap(text string, width int) []string {
	isBlank := func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }
	var lines []string
	line := ""
	for _, word := range strings.FieldsFunc(text, isBlank) {
		word = Escape(word)
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// Plural writes a number of things: "1 JVM", "2 JVMs".
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
