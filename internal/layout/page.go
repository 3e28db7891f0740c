package layout

import (
	"bufio"
	"io"
	"strings"
)

// Look says how a text is drawn.
type Look struct {
	ASCII bool // draw with ASCII characters only; the profiled program's names may still have other characters
	Color bool // use ANSI colours
	Width int  // columns of the terminal; 0 if the text does not go to a terminal
}

// RuleWidth is the width, in columns, of rules, headings and paragraphs, unless the terminal is narrower. perfasm uses
// the same width.
const RuleWidth = 100

// A Style is an ANSI escape sequence. These colours can be read on a light and on a dark background.
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

// A Page is a text that is being written. It keeps the first error of its writer until Flush, so that the code that
// writes on it need not check errors.
type Page struct {
	Look
	out *bufio.Writer
}

// NewPage returns a page that writes to w. The caller must call Flush at the end.
func NewPage(w io.Writer, look Look) *Page { return &Page{look, bufio.NewWriter(w)} }

// Flush writes what is still buffered, and returns the first error of any write.
func (p *Page) Flush() error { return p.out.Flush() }

// Line formats and writes one line, without blanks at its end. It escapes all arguments except Texts. A format without
// arguments is not formatted, but escaped as a whole.
func (p *Page) Line(format string, args ...any) {
	p.out.WriteString(strings.TrimRight(expand(format, args...), " "))
	p.out.WriteByte('\n')
}

// Paint escapes a text and, if the page has colours, puts it into a style. Nothing else writes escape sequences.
func (p *Page) Paint(s Style, text string) Text {
	text = Escape(text)
	if !p.Color || s == Plain || text == "" {
		return Text{text}
	}
	return Text{string(s) + text + reset}
}

// Glyph returns its argument unicode, or its argument ascii if the page is drawn with ASCII characters only.
func (p *Page) Glyph(unicode, ascii string) string {
	if p.ASCII {
		return ascii
	}
	return unicode
}

// Ellipsis returns the sign for something that was left out.
func (p *Page) Ellipsis() string { return p.Glyph("…", "...") }

// Columns returns how many columns a text may have: n, or fewer if the terminal is narrower.
func (p *Page) Columns(n int) int {
	if p.Width > 0 {
		return min(n, p.Width)
	}
	return n
}

// Rule writes a heading in perfasm's manner: ....[Hottest Regions]........
func (p *Page) Rule(title string) { p.Heading('.', title) }

// Heading does the same as Rule, but draws the line with the character fill instead of dots.
func (p *Page) Heading(fill byte, title string) {
	mark := string(fill)
	text := strings.Repeat(mark, 4) + "[" + title + "]"
	rest := max(p.Columns(RuleWidth)-Width(text), 4)
	p.Line("%s%s", p.Paint(Bold, text), strings.Repeat(mark, rest))
}

// EndRule writes the line of dots that ends a section which Rule began.
func (p *Page) EndRule() { p.Line("%s", strings.Repeat(".", p.Columns(RuleWidth))) }

// Paragraph writes wrapped text after a mark, for example "note: ". All lines but the first are indented by the mark's
// width.
func (p *Page) Paragraph(mark, text string) {
	for i, line := range Wrap(text, p.Columns(RuleWidth)-Width(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", Width(mark))
		}
		p.Line("%s%s", mark, line)
	}
}

// Field writes a line for each value. Before the first value it writes a label, padded to a width:
// "JVMs:       fork 1, pid 1709".
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
