package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width is how many columns text takes on a terminal when it is written: an escape takes
// as many as it has letters, Chinese letters and emoji take two, and accents none. Of an
// emoji that is made of several, each counts, as for most terminals and for [Table].
func Width(text string) int {
	n := 0
	for _, r := range Escape(text) {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < utf8.RuneSelf {
		return 1 // Escape leaves no control characters
	}
	return displaywidth.Rune(r)
}

// PadLeft right-aligns s in width columns.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-Width(s), 0)) + Escape(s)
}

// PadRight left-aligns s in width columns.
func PadRight(s string, width int) string {
	return Escape(s) + strings.Repeat(" ", max(width-Width(s), 0))
}

// head is as much of the start of s, which is escaped, as fits into width columns.
func head(s string, width int) string {
	for i, r := range s {
		if width -= runeWidth(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// tail is as much of the end of s, which is escaped, as fits into width columns. It does
// not begin with an accent, whose letter is cut off.
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
