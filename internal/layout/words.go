package layout

import (
	"fmt"
	"strings"
)

// Wrap breaks a text at blanks and at ends of lines. A line is wider than the given width, in columns, only if it is a
// single word. The result has at least one line, which is "" if text has no words.
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

// And lists values: "a", "a and b", "a, b and c". If there are more than most values, only the first ones are listed,
// and the rest are counted: And(values, 3) is "a, b, c and 2 more" for five values. A single further value is not
// counted but listed: And(values, 4) lists all five.
func And(values []string, most int) string {
	if more := len(values) - most; more > 1 {
		values = append(values[:most:most], fmt.Sprintf("%d more", more))
	}
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " and " + values[last]
}

// Or lists alternatives: "auto", "auto or perf", "auto, perf or dtrace".
func Or(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
