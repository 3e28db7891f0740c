// Package show formats texts and numbers for pages. It escapes text from outside, shortens names, and formats shares
// and counts.
package show

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// Text escapes text from outside. It replaces characters that are invisible or that reverse the order of letters.
// The result must still be escaped for HTML.
func Text(s string) string { return layout.Escape(s) }

// Append appends text from outside to HTML. It escapes the same characters as Text, and also those that have a meaning
// in HTML.
func Append(b []byte, s string) []byte {
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

// Percent returns n's share of total in the form in which the text report shows it: "30.09%". It returns "" for no
// samples.
func Percent(n, total int64) string {
	if n == 0 || total == 0 {
		return ""
	}
	hundredths := (2*10000*n + total) / (2 * total)
	if hundredths == 0 {
		return "<0.01%"
	}
	return fmt.Sprintf("%d.%02d%%", hundredths/100, hundredths%100)
}

// Portion returns n's share of total in percent, without a percent sign, for the length of a bar.
func Portion(n, total int64) string {
	if total == 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(n)/float64(total), 'f', 1, 64)
}

// Heat returns how hot a number of samples is, from 0 to 6, depending on its share of the total.
func Heat(n, total int64) int {
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

// Brief shortens pkg.Outer$Inner::method to Inner::method. The names of anonymous classes and lambdas keep the class
// around them: Outer$1::method, Outer$$Lambda::apply.
func Brief(method string) string {
	class, name, found := strings.Cut(method, "::")
	if !found {
		return method
	}
	if i := strings.IndexAny(class, "/+"); i > 0 {
		class = class[:i] // cut off the address that follows the name of a hidden class
	}
	class = class[strings.LastIndexByte(class, '.')+1:]
	if i := strings.LastIndexByte(class, '$'); i >= 0 {
		if first, _ := utf8.DecodeRuneInString(class[i+1:]); unicode.IsLetter(first) && !strings.HasSuffix(class[:i], "$") {
			class = class[i+1:]
		}
	}
	return class + "::" + name
}

// Count returns a number and a noun: "1 jump", "12 345 instructions". The noun is in the plural unless n is 1.
// Numbers from 10,000 on have thin spaces between groups of three digits.
func Count(n int, thing string) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && n >= 10_000; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	if n == 1 {
		return text + " " + thing
	}
	return text + " " + thing + "s"
}
