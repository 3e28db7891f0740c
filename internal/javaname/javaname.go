// Package javaname decodes the names of classes, methods and fields that HotSpot writes.
//
// HotSpot writes one name in several ways. It prints the names of methods and fields with
// \u00fc in place of every character that is not printable ASCII (UTF8::as_quoted_ascii). It
// prints the names of classes, and in "# {method}" lines those of methods too, in the modified
// UTF-8 of class files. The LogCompilation tags of some releases have \u00fc in the names of
// classes as well. gasm's own copies of code have \u000a where a raw character would end the line.
package javaname

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode returns a name that HotSpot wrote, as Java has it and in UTF-8, so that a method has
// the same name wherever it is found. It undoes HotSpot's \u00fc, and the two differences
// between class files' modified UTF-8 and UTF-8: a zero is two bytes long, and a character beyond
// 16 bits (𝒜) is two surrogates of three bytes each. A surrogate without its other half is not a
// character; it always becomes \ud835.
//
// HotSpot does not escape backslashes. So a name that contains the text \u00fc can't be told
// apart from a name with ü, and is decoded to the latter.
func Decode(s string) string {
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

// codeUnit reads a unit of UTF-16 at the start of s, if it is written in one of HotSpot's ways
// and not in UTF-8. The size is the number of bytes of s that it takes, 0 if there is no such unit.
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
