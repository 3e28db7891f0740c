package layout

import (
	"strings"
	"unicode/utf8"
)

// ShortMethod shortens a name such as pkg.Class::method to at most the given width, in columns. The end of a name is
// its most informative part. So the packages are abbreviated first, from the left ("o.o.jmh.samples.Bench::sum"), then
// the end of the class is cut off, and then the beginning of what remains. A name without "::" loses its middle.
func ShortMethod(name string, width int, ellipsis string) string {
	name = Escape(name)
	holder, method, found := strings.Cut(name, "::")
	if !found {
		return ShortMiddle(name, width, ellipsis)
	}
	if escapedWidth(name) > width {
		holder = withoutZeros(holder)
	}
	parts := strings.Split(holder, ".")
	over := escapedWidth(holder+"::"+method) - width
	for i := 0; i < len(parts)-1 && over > 0; i++ { // a hostile name has tens of thousands of parts
		_, size := utf8.DecodeRuneInString(parts[i])
		over -= escapedWidth(parts[i][size:])
		parts[i] = parts[i][:size]
	}
	name = strings.Join(parts, ".") + "::" + method
	if over <= 0 {
		return name
	}
	const leastClass = 6 // a class name that is cut to fewer columns says nothing
	class := parts[len(parts)-1]
	if keep := Width(class) - over - Width(ellipsis); keep >= leastClass {
		parts[len(parts)-1] = head(class, keep) + ellipsis
		if strings.Contains(class, "/0x") { // keep the last digits, which tell hidden classes apart
			parts[len(parts)-1] = ShortMiddle(class, keep+Width(ellipsis), ellipsis)
		}
		return strings.Join(parts, ".") + "::" + method
	}
	return CutStart(name, width, ellipsis)
}

// withoutZeros removes the leading zeros of the address in the name of a hidden class:
//
//	Spread$$Lambda/0x000000003a043920
func withoutZeros(class string) string {
	name, address, found := strings.Cut(class, "/0x")
	if !found {
		return class
	}
	return name + "/0x" + strings.TrimLeft(address, "0")
}

// ShortMiddle shortens s to at most the given width, in columns, by cutting out its middle. It is for C++ names,
// because both ends of such a name say something. If width has no room for the ellipsis and two columns of s,
// ShortMiddle does not shorten s.
func ShortMiddle(s string, width int, ellipsis string) string {
	s = Escape(s)
	keep := width - Width(ellipsis)
	if Width(s) <= width || keep < 2 {
		return s
	}
	return head(s, keep/2) + ellipsis + tail(s, keep-keep/2)
}

// CutEnd shortens s to at most the given width, in columns, by cutting off its end. If width has no room for the
// ellipsis and one column of s, CutEnd does not shorten s.
func CutEnd(s string, width int, ellipsis string) string {
	s = Escape(s)
	keep := width - Width(ellipsis)
	if Width(s) <= width || keep < 1 {
		return s
	}
	return head(s, keep) + ellipsis
}

// CutStart shortens s to at most the given width, in columns, by cutting off its beginning. If width has no room for
// the ellipsis and one column of s, CutStart does not shorten s.
func CutStart(s string, width int, ellipsis string) string {
	s = Escape(s)
	keep := width - Width(ellipsis)
	if Width(s) <= width || keep < 1 {
		return s
	}
	return ellipsis + tail(s, keep)
}
