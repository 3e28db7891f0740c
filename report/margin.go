package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// maxMargin is how many columns a name in the margin may take, unless it takes more to tell two methods apart.
const maxMargin = 16

// A margin says from which Java method each instruction of a region was made: it has the method's name at the first
// instruction of a run, and a line down to the last one. Its width is 0 for a region of a single method, which needs none.
type margin struct {
	width int
	at    []string // per line
	after []string // for rows between the line and the next one
}

// layoutMargin finds the runs of instructions with the same innermost method. Lines without debug info stay blank.
func layoutMargin(lines []profile.Line, pass, ellipsis string) margin {
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
		// What is left out at a gap may be of another method, so the name is repeated behind the gap.
		if i > 0 && method != "" && method == innermost(&lines[i-1]) && lines[i].Lo <= lines[i-1].Hi {
			m.at[i], m.after[i-1] = pass, pass
			continue
		}
		m.at[i] = labels[method]
		m.width = max(m.width, layout.Width(m.at[i]))
	}
	return m
}

// innermost is the method from which an instruction was made; "" when that is unknown.
func innermost(l *profile.Line) string {
	if len(l.Frames) == 0 {
		return ""
	}
	return l.Frames[0].Method
}

// marginLabels gives each method a short name that none of the others has.
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

// marginForms are the names that a method may have in the margin, the shortest one first. A longer form is taken when
// another method of the region has the same shorter one.
var marginForms = []func(method, ellipsis string) string{
	func(method, ellipsis string) string {
		_, name := simpleNames(method)
		if strings.HasPrefix(name, "<") { // <init> tells nothing without its class
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

// withClass is Class.method, of which the class is cut first.
func withClass(method, ellipsis string) string {
	const leastClass = 4 // runes that still tell something
	class, name := simpleNames(method)
	room := maxMargin - layout.Width("."+name)
	return layout.CutEnd(layout.CutEnd(class, max(room, leastClass), ellipsis)+"."+name, maxMargin, ellipsis)
}

// simpleNames takes pkg.Outer$Inner::method apart: Inner and method. The name of an anonymous class keeps the class around
// it (Outer$1). That of a hidden class loses its address.
func simpleNames(method string) (class, name string) {
	class, name, found := strings.Cut(method, "::")
	if !found {
		return "", method
	}
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
