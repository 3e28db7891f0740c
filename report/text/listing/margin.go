package listing

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/code"
)

// maxMargin is the width of a name in the margin, in characters. A name is longer only if that is necessary to tell two
// methods apart.
const maxMargin = 16

// A margin is the column beside a region's instructions that names the Java method of each instruction. Where several
// instructions in a row belong to the same method, its name is beside the first one, and a vertical line beside the
// others. A region of a single method needs no margin; its width is 0.
type margin struct {
	width int
	at    []string // for each line of code
	after []string // text for the rows between that line and the next one
}

// atLine returns the text in the margin at line i.
func (m *margin) atLine(i int) string {
	if m.width == 0 {
		return ""
	}
	return m.at[i]
}

// afterLine returns the text in the margin between line i and the next line.
func (m *margin) afterLine(i int) string {
	if m.width == 0 {
		return ""
	}
	return m.after[i]
}

// layoutMargin returns the margin of some lines of code. It is blank at lines without debug info. The parameter pass is
// the text at a line that has the same innermost method as the line before.
func layoutMargin(lines []code.Line, pass, ellipsis string) margin {
	m := margin{at: make([]string, len(lines)), after: make([]string, len(lines))}
	var methods []string
	for i := range lines {
		if method := innermost(&lines[i]); method != "" && !slices.Contains(methods, method) {
			methods = append(methods, method)
		}
	}
	if len(methods) < 2 {
		return m
	}
	labels := marginLabels(methods, ellipsis)
	for i := range lines {
		method := innermost(&lines[i])
		// The code that a gap leaves out may be of another method, so the name is repeated after the gap.
		if i > 0 && method != "" && method == innermost(&lines[i-1]) && lines[i].Lo <= lines[i-1].Hi {
			m.at[i], m.after[i-1] = pass, pass
			continue
		}
		m.at[i] = labels[method]
		m.width = max(m.width, layout.Width(m.at[i]))
	}
	return m
}

// innermost returns the method from which an instruction was made, or "" if it is unknown.
func innermost(l *code.Line) string {
	if len(l.Frames) == 0 {
		return ""
	}
	return l.Frames[0].Name()
}

// marginLabels returns a short name for each method. No two methods have the same short name.
func marginLabels(methods []string, ellipsis string) map[string]string {
	labels, level := map[string]string{}, map[string]int{}
	for {
		owners := map[string][]string{}
		for _, method := range methods {
			labels[method] = marginForms[level[method]](method, ellipsis)
			owners[labels[method]] = append(owners[labels[method]], method)
		}
		again := false
		for _, same := range owners {
			for _, method := range same {
				if len(same) > 1 && level[method] < len(marginForms)-1 {
					level[method]++
					again = true
				}
			}
		}
		if !again {
			return labels
		}
	}
}

// marginForms are the ways to write a method's name in the margin, the shortest one first. A longer one is used if two
// methods of the region would otherwise have the same name.
var marginForms = []func(method, ellipsis string) string{
	func(method, ellipsis string) string {
		_, name := simpleNames(method)
		if strings.HasPrefix(name, "<") { // <init> says nothing without its class
			return withClass(method, ellipsis)
		}
		return layout.CutEnd(name, maxMargin, ellipsis)
	},
	withClass,
	func(method, ellipsis string) string {
		class, name := simpleNames(method)
		return layout.ShortMiddle(class+"."+name, maxMargin, ellipsis)
	},
	func(method, _ string) string {
		class, name := simpleNames(method)
		return class + "." + name
	},
	func(method, _ string) string { return strings.Replace(method, "::", ".", 1) },
}

// withClass returns Class.method. If it is too long, the class is shortened first.
func withClass(method, ellipsis string) string {
	const leastClass = 4 // with fewer characters, a class can't be recognized
	class, name := simpleNames(method)
	room := maxMargin - layout.Width("."+name)
	return layout.CutEnd(layout.CutEnd(class, max(room, leastClass), ellipsis)+"."+name, maxMargin, ellipsis)
}

// lastScope returns the index of the last "::" of a name that is not in template arguments, or -1. Java's names have
// only one.
func lastScope(method string) int {
	depth := 0
	for i := len(method) - 1; i > 0; i-- {
		switch {
		case method[i] == '>' && method[i-1] != '-':
			depth++
		case method[i] == '<':
			depth--
		case depth == 0 && method[i] == ':' && method[i-1] == ':':
			return i - 1
		}
	}
	return strings.Index(method, "::") // an operator, or a name of Kotlin's with such characters
}

// simpleNames splits pkg.Outer$Inner::method into Inner and method. The name of an anonymous class keeps the class
// around it (Outer$1). The name of a hidden class loses its address.
func simpleNames(method string) (class, name string) {
	at := lastScope(method)
	if at < 0 {
		return "", method
	}
	class, name = method[:at], method[at+len("::"):]
	if i := strings.IndexAny(class, "/+"); i > 0 {
		class = class[:i]
	}
	class = class[strings.LastIndexByte(class, '.')+1:]
	if i := strings.LastIndexByte(class, '$'); i >= 0 {
		if first, _ := utf8.DecodeRuneInString(class[i+1:]); unicode.IsLetter(first) {
			class = class[i+1:]
		}
	}
	return class, name
}
