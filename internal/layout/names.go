package layout

import (
	"strings"
	"unicode/utf8"
)

// ShortMethod makes a name such as pkg.Class::method at most width runes long. The end of a name says the most. So packages
// are shortened first, from the left ("o.o.jmh.samples.Bench::sum"), then the end of the class is cut off, and then the
// beginning of what is left. A name without "::" loses its middle.
func ShortMethod(name string, width int, ellipsis string) string {
	holder, method, found := strings.Cut(name, "::")
	if !found {
		return ShortMiddle(name, width, ellipsis)
	}
	parts := strings.Split(holder, ".")
	for i := 0; i < len(parts)-1 && utf8.RuneCountInString(name) > width; i++ {
		if _, size := utf8.DecodeRuneInString(parts[i]); size > 0 {
			parts[i] = parts[i][:size]
		}
		name = strings.Join(parts, ".") + "::" + method
	}
	over := utf8.RuneCountInString(name) - width
	if over <= 0 {
		return name
	}
	const leastClass = 6 // runes of a class name that still tell something
	class := []rune(parts[len(parts)-1])
	if keep := len(class) - over - utf8.RuneCountInString(ellipsis); keep >= leastClass {
		parts[len(parts)-1] = string(class[:keep]) + ellipsis
		return strings.Join(parts, ".") + "::" + method
	}
	return CutStart(name, width, ellipsis)
}

// ShortMiddle makes s at most width runes long by cutting out its middle. It is for C++ names, of which both ends say
// something.
func ShortMiddle(s string, width int, ellipsis string) string {
	runes := []rune(s)
	keep := width - utf8.RuneCountInString(ellipsis)
	if len(runes) <= width || keep < 2 {
		return s
	}
	head := keep / 2
	return string(runes[:head]) + ellipsis + string(runes[len(runes)-(keep-head):])
}

// CutEnd makes s at most width runes long by cutting off its end.
func CutEnd(s string, width int, ellipsis string) string {
	runes := []rune(s)
	keep := width - utf8.RuneCountInString(ellipsis)
	if len(runes) <= width || keep < 1 {
		return s
	}
	return string(runes[:keep]) + ellipsis
}

// CutStart makes s at most width runes long by cutting off its beginning.
func CutStart(s string, width int, ellipsis string) string {
	runes := []rune(s)
	keep := width - utf8.RuneCountInString(ellipsis)
	if len(runes) <= width || keep < 1 {
		return s
	}
	return ellipsis + string(runes[len(runes)-keep:])
}

// Or lists the values that are allowed: "auto", "auto or perf", "auto, perf or dtrace".
func Or(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
