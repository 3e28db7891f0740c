package report

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/profile"
)

// A textReport is a text report on its way out. Its writer keeps the first error until Flush, so nothing in between
// looks at errors.
type textReport struct {
	Options
	out    *bufio.Writer
	header Header
	glyphs glyphs
	single bool             // one profile, so its lines join those of the capture
	p      *profile.Profile // that is being written
}

// empty tells whether no sample of any event is in the profile.
func (r *textReport) empty() bool {
	for _, a := range r.p.Accounts {
		if a.Profiled > 0 {
			return false
		}
	}
	return true
}

const (
	ruleWidth = 100 // perfasm's
	textWidth = 100 // of header lines and notes
)

// A style is an ANSI escape. Only bold, dim, red and magenta: these can be read on light and on dark backgrounds.
type style string

const (
	plain   style = ""
	bold    style = "\x1b[1m"
	dim     style = "\x1b[2m"
	magenta style = "\x1b[35m"
	red     style = "\x1b[31m"
	boldRed style = "\x1b[1;31m"
)

func (r *textReport) paint(s style, text string) string {
	if !r.Color || s == plain || text == "" {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// heat is the style for n samples of each event: by the largest share.
func (r *textReport) heat(counts profile.Counts) style {
	hottest := share(0)
	for e, n := range counts {
		hottest = max(hottest, shareOf(n, r.p.Accounts[e].Profiled))
	}
	switch {
	case hottest >= 500:
		return boldRed
	case hottest >= 150:
		return red
	case hottest >= 50:
		return magenta
	default:
		return plain
	}
}

// line writes one line without blanks at its end.
func (r *textReport) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	r.out.WriteString(strings.TrimRight(text, " "))
	r.out.WriteByte('\n')
}

// rule writes a heading in perfasm's manner: ....[Hottest Regions]........
func (r *textReport) rule(title string) {
	text := "....[" + title + "]"
	fill := max(r.columns(ruleWidth)-utf8.RuneCountInString(text), 4)
	r.line("%s", r.paint(bold, text)+strings.Repeat(".", fill))
}

func (r *textReport) endRule() { r.line("%s", strings.Repeat(".", r.columns(ruleWidth))) }

// columns is the number of columns for a text that would like to have n of them.
func (r *textReport) columns(n int) int {
	if r.Width > 0 {
		return min(n, r.Width)
	}
	return n
}
