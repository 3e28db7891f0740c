package nmethod

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// HotSpot has names in modified UTF-8, as class files do: one to three bytes for each
// unit of UTF-16, and two for a zero.

// units gives the units of UTF-16 of a name in modified UTF-8. A byte that begins no
// complete unit stands for itself (UTF8::next).
func units(name string) []uint16 {
	var list []uint16
	for i := 0; i < len(name); {
		unit, size := uint16(name[i]), 1
		switch rest := name[i+1:]; {
		case unit >= 0xe0 && len(rest) >= 2:
			unit, size = unit<<12|uint16(rest[0]&63)<<6|uint16(rest[1]&63), 3
		case unit >= 0xc0 && unit < 0xe0 && len(rest) >= 1:
			unit, size = unit&31<<6|uint16(rest[0]&63), 2
		}
		list = append(list, unit)
		i += size
	}
	return list
}

// inUTF8 gives the name of a class in UTF-8. The name may be in modified UTF-8, which is
// different for a zero, and for letters that have two units in UTF-16 (𝒜). For these,
// modified UTF-8 is not valid UTF-8.
func inUTF8(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string(utf16.Decode(units(name)))
}

// isPlain tells whether a name has nothing but printable characters of ASCII.
func isPlain(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] >= 0x7f {
			return false
		}
	}
	return true
}

// quoted writes the name of a method or a field as HotSpot prints it
// (UTF8::as_quoted_ascii): "hüt" is h\u00fct.
func quoted(name string) string {
	if isPlain(name) {
		return name
	}
	var s strings.Builder
	for _, unit := range units(name) {
		if unit >= ' ' && unit < 0x7f {
			s.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&s, `\u%04x`, unit)
		}
	}
	return s.String()
}

// externalName writes the name of a class as HotSpot prints it (Klass::external_name):
// java/lang/String is java.lang.String, and the address of a hidden class stands behind
// a slash. HotSpot prints the name in modified UTF-8; here it is in UTF-8.
func externalName(internal string) string {
	class, address, hidden := strings.Cut(internal, "+0x")
	class = strings.ReplaceAll(inUTF8(class), "/", ".")
	if hidden {
		class += "/0x" + address
	}
	return class
}
