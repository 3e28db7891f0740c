// Package javaname decodes the names of classes, methods and fields that HotSpot writes.
//
// HotSpot writes the same name in several ways. In the names of methods and fields, it replaces every character that is
// not printable ASCII with an escape like \u00fc (UTF8::as_quoted_ascii). It prints the names of classes in the
// modified UTF-8 of class files. In lines that begin with "# {method}", the names of methods are in modified UTF-8,
// too. The LogCompilation tags of some releases have escapes in the names of classes as well. In gasm's own copies of
// code, a line break in a name is written as the escape \u000a.
package javaname

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode converts a name that HotSpot wrote to the name that Java has, in UTF-8. So a method has the same name wherever
// gasm finds it. Decode replaces HotSpot's escapes like \u00fc with characters. It also converts the modified UTF-8 of
// class files to UTF-8. Modified UTF-8 differs from UTF-8 in two ways: a zero takes two bytes, and a character beyond
// 16 bits (𝒜) is written as two surrogates of three bytes each. A surrogate without its other half is not a character,
// so it always becomes an escape like \ud835.
//
// HotSpot does not escape backslashes. So Decode can't tell a name that contains the text \u00fc from a name with ü. It
// returns the name with ü.
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

// codeUnit reads a UTF-16 code unit at the start of s, if it is written as an escape, or as a zero or a surrogate in
// modified UTF-8. size is how many bytes of s the unit takes, or 0 if s begins with anything else.
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
