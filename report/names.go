package report

import (
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/layout"
)

// shortMethod makes name, pkg.Class::method and perhaps more, at most width runes long. The end of a name says most, so
// packages go first, from the left ("o.o.jmh.samples.Bench::sum"), then the end of the class, then whatever is left.
func shortMethod(name string, width int, ellipsis string) string {
	holder, method, found := strings.Cut(name, "::")
	if !found {
		return shortMiddle(name, width, ellipsis)
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
	return lastRunes(name, width, ellipsis)
}

// shortMiddle makes s at most width runes long by cutting out its middle: for C++ names, both ends of which say
// something.
func shortMiddle(s string, width int, ellipsis string) string {
	runes := []rune(s)
	keep := width - utf8.RuneCountInString(ellipsis)
	if len(runes) <= width || keep < 2 {
		return s
	}
	head := keep / 2
	return string(runes[:head]) + ellipsis + string(runes[len(runes)-(keep-head):])
}

// maxCommandLines is how many lines of the header a command may take.
const maxCommandLines = 4

// commandLines writes a command as one would type it, over a few lines where one is too short.
func commandLines(words []string, width int, ellipsis string) []string {
	if len(words) == 0 {
		return nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return layout.Wrap(shortCommand(quoted, maxCommandLines*width*9/10, ellipsis), width)
}

// quote puts a word into quotes where a shell would take it apart.
func quote(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]{}!#~\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// shortCommand joins words, leaving out as many in the middle as it takes to make at most width runes of them.
func shortCommand(words []string, width int, ellipsis string) string {
	full := strings.Join(words, " ")
	for out := 1; out < len(words)-1 && utf8.RuneCountInString(full) > width; out++ {
		head := (len(words) - out + 1) / 2
		full = strings.Join(words[:head], " ") + " " + ellipsis + " " + strings.Join(words[head+out:], " ")
	}
	return shortMiddle(full, width, ellipsis)
}

// lastRunes makes s at most width runes long by cutting off its beginning.
func lastRunes(s string, width int, ellipsis string) string {
	runes := []rune(s)
	keep := width - utf8.RuneCountInString(ellipsis)
	if len(runes) <= width || keep < 1 {
		return s
	}
	return ellipsis + string(runes[len(runes)-keep:])
}
