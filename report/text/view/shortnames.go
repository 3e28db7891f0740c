package view

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// LeastName is the minimum width, in characters, that a table or a heading leaves for a name, even if the terminal is
// narrow.
const LeastName = 24

// CellPadding is the number of blanks that layout.Table puts around a cell: one on either side.
const CellPadding = 2

// ReadableName is a width, in characters, that is enough to tell most names apart.
const ReadableName = 45

// shortNames shortens the names in the tables of one profile. A name is shortened in the same way in all tables.
type shortNames struct {
	room     map[nameKey]int // the maximum width of each name, in characters; nil for no limit
	ellipsis string
}

// A nameKey is a name in tables.
type nameKey struct {
	name   string
	native bool // the name is not a Java method's
}

// Limit makes Fit limit names. Without it, names are not shortened.
func (s *shortNames) Limit() { s.room = map[nameKey]int{} }

// Fit limits a name to width characters, which is the room for it in one table. If several tables limit the same name,
// the smallest width applies. A name always gets at least 10 characters.
func (s *shortNames) Fit(name string, native bool, width int) {
	const least = 10
	key := nameKey{name, native}
	if before, ok := s.room[key]; ok {
		width = min(width, before)
	}
	if s.room != nil {
		s.room[key] = max(width, least)
	}
}

// Short returns a name as tables show it: no wider than the limit that was set with Fit.
func (s *shortNames) Short(name string, native bool) string {
	width, ok := s.room[nameKey{name, native}]
	switch {
	case !ok:
		return name
	case native:
		return layout.ShortMiddle(name, width, s.ellipsis)
	}
	return layout.ShortMethod(name, width, s.ellipsis)
}

// ShortDotted shortens a name that contains a class: "fork 1 of org.sample.Bench.run (size=1)". It first abbreviates
// the packages to their first letters, from the left, then leaves the packages out, and then cuts the middle of the
// name.
func ShortDotted(name string, width int, ellipsis string) string {
	end := strings.Index(name+" (", " (")
	start := strings.LastIndexByte(name[:end], ' ') + 1
	class := name[start:end]
	if strings.HasSuffix(class, ".jar") {
		return layout.ShortMiddle(name, width, ellipsis)
	}
	parts := strings.Split(class, ".")
	packages := 0
	for i, part := range parts[:len(parts)-1] {
		letter, size := utf8.DecodeRuneInString(part)
		if !unicode.IsLower(letter) {
			break
		}
		packages++
		if short := name[:start] + strings.Join(parts, ".") + name[end:]; layout.Width(short) > width {
			parts[i] = part[:size]
		}
	}
	short := name[:start] + strings.Join(parts, ".") + name[end:]
	if layout.Width(short) > width {
		short = name[:start] + strings.Join(parts[packages:], ".") + name[end:]
	}
	return layout.ShortMiddle(short, width, ellipsis)
}

// Moved returns ", moved" for code that HotSpot has moved to another address, and "" for other code.
func Moved(is bool) string {
	if is {
		return ", moved"
	}
	return ""
}

// CompileID returns ", compile id 586", or "" for code without a compile id.
func CompileID(id int) string {
	if id == 0 {
		return ""
	}
	return ", compile id " + strconv.Itoa(id)
}
