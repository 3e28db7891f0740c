package page

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// shown is text from outside as the page shows it: what would turn letters around, or be
// seen by nobody, is written as an escape. The page's own escaping for HTML comes on top.
func shown(s string) string { return layout.Escape(s) }

// appendText appends text from outside to HTML.
func appendText(b []byte, s string) []byte {
	s = layout.Escape(s)
	from := 0
	for i := range len(s) {
		var entity string
		switch s[i] {
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '&':
			entity = "&amp;"
		case '"':
			entity = "&#34;"
		case '\'':
			entity = "&#39;"
		default:
			continue
		}
		b = append(append(b, s[from:i]...), entity...)
		from = i + 1
	}
	return append(b, s[from:]...)
}

// percent is n's share of total as the text report writes it: "30.09%". It is "" for
// nothing.
func percent(n, total int64) string {
	if n == 0 || total == 0 {
		return ""
	}
	hundredths := (2*10000*n + total) / (2 * total)
	if hundredths == 0 {
		return "<0.01%"
	}
	return fmt.Sprintf("%d.%02d%%", hundredths/100, hundredths%100)
}

// portion is n's share of total for the length of a bar, in percent.
func portion(n, total int64) string {
	if total == 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(n)/float64(total), 'f', 1, 64)
}

// heatOf is how hot a number of samples is, 0 to 6: by the share of the whole that they are.
func heatOf(n, total int64) int {
	if n == 0 || total == 0 {
		return 0
	}
	heat := 1
	for _, from := range []float64{0.001, 0.005, 0.015, 0.05, 0.15} {
		if float64(n) >= from*float64(total) {
			heat++
		}
	}
	return heat
}

// brief takes pkg.Outer$Inner::method apart, and gives Inner::method. The name of an
// anonymous class keeps the class around it, as that of a lambda does: Outer$1::method,
// Outer$$Lambda::apply.
func brief(method string) string {
	class, name, found := strings.Cut(method, "::")
	if !found {
		return method
	}
	if i := strings.IndexAny(class, "/+"); i > 0 {
		class = class[:i] // of a hidden class: its address follows
	}
	class = class[strings.LastIndexByte(class, '.')+1:]
	if i := strings.LastIndexByte(class, '$'); i >= 0 {
		if first, _ := utf8.DecodeRuneInString(class[i+1:]); unicode.IsLetter(first) && !strings.HasSuffix(class[:i], "$") {
			class = class[i+1:]
		}
	}
	return class + "::" + name
}

// counted writes a number of things, with the thousands apart: "12 345 instructions".
func counted(n int, thing string) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && n >= 10_000; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	if n == 1 {
		return text + " " + thing
	}
	return text + " " + thing + "s"
}
