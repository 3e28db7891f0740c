package view

import (
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Style says how text looks. A terminal without colours shows only the styles that need no colours.
type Style uint8

// The styles. Warm, Hot and Hottest are for rows with many samples, in ascending order.
const (
	Plain Style = iota
	Bold
	Dim
	Warm
	Hot
	Hottest
	Good
	Title    // the head of a table
	Selected // the row with the cursor
)

// A Span is a piece of text in one style. The text is escaped.
type Span struct {
	Text  string
	Style Style
}

// A Line is a line of a screen.
type Line []Span

// span returns a Span of any text.
func span(style Style, text string) Span { return Span{layout.Escape(text), style} }

// Width returns how many columns the line takes.
func (l Line) Width() (n int) {
	for _, s := range l {
		n += layout.Width(s.Text)
	}
	return n
}

// String returns the line's text without blanks at its end.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// cut returns the line with at most the given number of columns.
func (l Line) cut(width int) Line {
	for i := range l {
		n := layout.Width(l[i].Text)
		if n > width {
			cut := append(Line(nil), l[:i]...)
			return append(cut, Span{cutText(l[i].Text, width), l[i].Style})
		}
		width -= n
	}
	return l
}

// cutText returns the beginning of a text, at most width columns of it.
func cutText(text string, width int) string {
	if width < 1 {
		return ""
	}
	return layout.CutEnd(text, width, "")
}

// lastRune returns the index at which the last rune of a text begins.
func lastRune(text string) (at int) {
	for i := range text {
		at = i
	}
	return at
}

// selected returns the line in the style of the row with the cursor, as wide as the screen.
func (l Line) selected(width int) Line {
	text := l.String()
	return Line{{text + strings.Repeat(" ", max(0, width-layout.Width(text))), Selected}}
}

// A Look is what a screen can show.
type Look struct {
	Width, Height int  // columns and rows
	ASCII         bool // no box-drawing characters
	Color         bool
}

func (l Look) ellipsis() string {
	if l.ASCII {
		return "..."
	}
	return "…"
}

// sparks are the characters of a sparkline, from nothing to everything.
var sparks, sparksASCII = []rune(" ▁▂▃▄▅▆▇█"), []rune(" .:-=+*#%")

// sparkline draws values between 0 and most. If there is too little room, it draws only the last ones.
func (l Look) sparkline(values []float64, most float64, width int) string {
	chars := sparks
	if l.ASCII {
		chars = sparksASCII
	}
	if n := len(values) - width; n > 0 {
		values = values[n:]
	}
	var b strings.Builder
	for _, v := range values {
		at := 0
		if most > 0 && v > 0 {
			at = min(len(chars)-1, 1+int(v/most*float64(len(chars)-1)))
		}
		b.WriteRune(chars[at])
	}
	return b.String()
}

// heat returns the style for a share of all samples.
func heat(share float64) Style {
	switch {
	case share >= 0.10:
		return Hottest
	case share >= 0.03:
		return Hot
	case share >= 0.01:
		return Warm
	}
	return Plain
}
