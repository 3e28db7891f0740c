package layout

import (
	"bufio"
	"io"
	"strings"
)

// Look says how a text is drawn.
type Look struct {
	ASCII bool // draw with ASCII alone; what comes from the program may still be other text
	Color bool // ANSI colours
	Width int  // columns of the terminal; 0 where the text goes to no terminal
}

// RuleWidth is how wide rules, headings and paragraphs are where the terminal is not
// narrower. It is perfasm's.
const RuleWidth = 100

// A Style is an ANSI escape sequence. These colours can be read on a light and on a
// dark background.
type Style string

const (
	Plain      Style = ""
	Bold       Style = "\x1b[1m"
	Dim        Style = "\x1b[2m"
	Magenta    Style = "\x1b[35m"
	Red        Style = "\x1b[31m"
	Green      Style = "\x1b[32m"
	BoldRed    Style = "\x1b[1;31m"
	BoldYellow Style = "\x1b[1;33m"
)

const reset = "\x1b[0m"

// A Page is a text on its way out. It keeps the first error of its writer until
// Flush, so that nothing that writes on it has to look at errors.
type Page struct {
	Look
	out *bufio.Writer
}

// NewPage begins a text. The caller calls Flush at its end.
func NewPage(w io.Writer, look Look) *Page { return &Page{look, bufio.NewWriter(w)} }

// Flush writes what is left, and gives the first error of all writing.
func (p *Page) Flush() error { return p.out.Flush() }

// Line writes one line, without the blanks at its end. All arguments but Texts are
// escaped. A format without arguments is written as it is.
func (p *Page) Line(format string, args ...any) {
	p.out.WriteString(strings.TrimRight(expand(format, args...), " "))
	p.out.WriteByte('\n')
}

// Paint puts text, which it escapes, into a style, where there are colours. It is all that
// makes escape sequences.
func (p *Page) Paint(s Style, text string) Text {
	text = Escape(text)
	if !p.Color || s == Plain || text == "" {
		return Text{text}
	}
	return Text{string(s) + text + reset}
}

// Glyph is the first text, or the second one where only ASCII is drawn.
func (p *Page) Glyph(unicode, ascii string) string {
	if p.ASCII {
		return ascii
	}
	return unicode
}

// Ellipsis stands for what was left out.
func (p *Page) Ellipsis() string { return p.Glyph("…", "...") }

// Columns is how many columns a text gets that would like to have n of them.
func (p *Page) Columns(n int) int {
	if p.Width > 0 {
		return min(n, p.Width)
	}
	return n
}

// Rule writes a heading in perfasm's manner: ....[Hottest Regions]........
func (p *Page) Rule(title string) { p.Heading('.', title) }

// Heading is Rule with another character than a dot.
func (p *Page) Heading(fill byte, title string) {
	mark := string(fill)
	text := strings.Repeat(mark, 4) + "[" + title + "]"
	rest := max(p.Columns(RuleWidth)-Width(text), 4)
	p.Line("%s%s", p.Paint(Bold, text), strings.Repeat(mark, rest))
}

// EndRule writes the line of dots below what Rule began.
func (p *Page) EndRule() { p.Line("%s", strings.Repeat(".", p.Columns(RuleWidth))) }

// Paragraph writes wrapped text behind a mark, "note: ", under which its other lines
// are indented.
func (p *Page) Paragraph(mark, text string) {
	for i, line := range Wrap(text, p.Columns(RuleWidth)-Width(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", Width(mark))
		}
		p.Line("%s%s", mark, line)
	}
}

// Field writes a line for each value, the first one behind a label of a width: in a
// header "JVMs:       fork 1, pid 1709".
func (p *Page) Field(width int, name string, values ...string) {
	label := ""
	if name != "" {
		label = name + ":"
	}
	for _, v := range values {
		p.Line("%s%s", PadRight(label, width), v)
		label = ""
	}
}
