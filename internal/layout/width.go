package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns how many columns a text takes on a terminal after escaping. An escape takes as many columns as it has
// characters, a Chinese letter or an emoji takes two, and an accent none. An emoji that is a sequence of other emoji
// takes two columns for each of them, as on most terminals and in [Table].
func Width(text string) int { return escapedWidth(Escape(text)) }

// escapedWidth is Width for a text that is escaped.
func escapedWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns how many columns a character takes. The character must not be a control character.
func runeWidth(r rune) int {
	if r < utf8.RuneSelf {
		return 1 // Escape leaves no control characters
	}
	return displaywidth.Rune(r)
}

// PadLeft right-aligns s in the given number of columns.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-Width(s), 0)) + Escape(s)
}

// PadRight left-aligns s in the given number of columns.
func PadRight(s string, width int) string {
	return Escape(s) + strings.Repeat(" ", max(width-Width(s), 0))
}

// head returns as much of the start of s as fits into the given number of columns. s is escaped.
func head(s string, width int) string {
	for i, r := range s {
		if width -= runeWidth(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns as much of the end of s as fits into the given number of columns. s is escaped. The result does not
// begin with an accent whose letter was cut off.
func tail(s string, width int) string {
	over := Width(s) - width
	for i, r := range s {
		if n := runeWidth(r); over > 0 || n == 0 && i > 0 {
			over -= n
			continue
		}
		return s[i:]
	}
	return ""
}
