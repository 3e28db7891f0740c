package printassembly

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// HotSpot writes one name in several ways. It prints the names of methods and fields with
// \u00fc in the place of all but ASCII's printable characters (UTF8::as_quoted_ascii), the
// names of classes as class files have them, and in "# {method}" those of methods too. Some
// releases' tags have the names of classes with \u00fc as well. gasm's own copies of code
// have \u000a where a raw character would end the line.

// JavaName gives a name that HotSpot wrote as Java has it, in UTF-8, so that each method
// has one name wherever it is found. It undoes HotSpot's \u00fc, and the two things in
// which class files' modified UTF-8 differs from UTF-8: two bytes for a zero, and a letter
// beyond 16 bits (𝒜) as two surrogates of three bytes each. A surrogate without its other
// half is no letter, and is always \ud835.
//
// HotSpot does not escape backslashes. So a name that has \u00fc itself can't be told from
// one with an ü, and becomes that.
func JavaName(s string) string {
	if !strings.Contains(s, `\u`) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		unit, size := codeUnit(s)
		if size == 0 {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		s = s[size:]
		letter := rune(unit)
		if utf16.IsSurrogate(letter) {
			low, size := codeUnit(s)
			if letter = utf16.DecodeRune(letter, rune(low)); letter == utf8.RuneError {
				fmt.Fprintf(&b, `\u%04x`, unit)
				continue
			}
			s = s[size:]
		}
		b.WriteRune(letter)
	}
	return b.String()
}

// codeUnit reads a unit of UTF-16 at the start of s that is not written as in UTF-8. Its
// size in s is 0 when there is none.
func codeUnit(s string) (unit uint16, size int) {
	switch {
	case strings.HasPrefix(s, `\u`) && len(s) >= 6:
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		if err == nil && (n < ' ' || n >= 0x7f) && s[2:6] == strings.ToLower(s[2:6]) {
			return uint16(n), 6
		}
	case strings.HasPrefix(s, "\xc0\x80"):
		return 0, 2
	case len(s) >= 3 && s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80:
		return 0xd000 | uint16(s[1]&0x3f)<<6 | uint16(s[2]&0x3f), 3
	}
	return 0, 0
}
