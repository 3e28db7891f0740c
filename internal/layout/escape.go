package layout

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text from outside is data: names of classes, methods, threads and files, commands, what
// HotSpot and other programs print. All of it can hold characters that a terminal obeys
// (ESC, and U+009B, which is ESC and a bracket), that turn the order of the letters on the
// screen around (U+202E), or that nobody sees. Everything that this package writes or
// measures goes through Escape. The one exception is what [Page.Paint] adds.

// Escape shows the characters that are not to reach a terminal as \n, \r, \t, \x1b, \u202e
// and \U000e0001, and a byte that is not UTF-8 as \xff. It leaves backslashes alone. So
// escaped text stays as it is when it is escaped again, and text that had \x1b from the
// start looks the same: where that matters, there is JSON.
func Escape(s string) string {
	i := firstUnsafe(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	before := ' '
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			r = '\\'
		case isSafe(r, before):
			b.WriteString(s[i : i+size])
		default:
			writeEscape(&b, r)
			r = '\\'
		}
		before = r
		i += size
	}
	return b.String()
}

func writeEscape(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// firstUnsafe gives the index of the first character that Escape changes; len(s) for none.
func firstUnsafe(s string) int {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f {
		i++
	}
	before := ' '
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !isSafe(r, before) {
			break
		}
		before = r
		i += size
	}
	return i
}

// EscapeJSON writes characters in the strings of JSON, as encoding/json makes it, as
// \u009b that JSON lets pass and that are not to reach a terminal. It means the same.
func EscapeJSON(text []byte) []byte {
	var out []byte
	before, done := ' ', 0 // done is how much of text is in out
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= 0x7f && !isSafe(r, before) {
			out = append(out, text[done:i]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			r, done = '\\', i+size
		}
		before = r
		i += size
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// isSafe tells whether a terminal shows a character as one sees it in any text. These it
// does not show so:
//
//   - control characters, which it obeys;
//   - format characters (Cf), among them all that change the direction of text, and others
//     that have no look of their own: two names that differ would look the same;
//   - the separators of lines and paragraphs (U+2028, U+2029).
//
// The two joiners are format characters as well, but Persian and Indian words and many an
// emoji need them. They pass behind a character of such a text, which is never of ASCII.
func isSafe(r, before rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r != 0x7f
	case r < 0xa0:
		return false
	case r == nonJoiner || r == joiner:
		return before >= utf8.RuneSelf
	}
	return !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// A Text is text as a [Page] writes it, with colours perhaps, and all else escaped. Only
// this package makes one, so nothing gets into it in another way.
type Text struct{ s string }

// Join puts strings, which it escapes, and Texts together.
func Join(parts ...any) Text {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(expand("%v", part))
	}
	return Text{b.String()}
}

// Message makes a line of a message of a constant format. The arguments are escaped. The
// line has no end. Only errors that errors.Join has put together have lines of their own.
func Message(format string, args ...any) string { return expand(format, args...) }

// expand is fmt.Sprintf, with the arguments escaped. It changes args.
func expand(format string, args ...any) string {
	if len(args) == 0 {
		return Escape(format)
	}
	for i, arg := range args {
		switch arg := arg.(type) {
		case Text:
			args[i] = arg.s
		case string:
			args[i] = Escape(arg)
		case error:
			args[i] = errorText(arg)
		case int, int64, uint64, float64:
		default:
			args[i] = formatted{arg}
		}
	}
	return fmt.Sprintf(format, args...)
}

// errorText is the text of an error; joined errors are on a line each.
func errorText(err error) string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return Escape(err.Error())
	}
	var raw, escaped []string
	for _, e := range joined.Unwrap() {
		raw = append(raw, e.Error())
		escaped = append(escaped, Escape(e.Error()))
	}
	if err.Error() != strings.Join(raw, "\n") {
		return Escape(err.Error()) // fmt.Errorf made it
	}
	return strings.Join(escaped, "\n")
}

// formatted escapes what fmt makes of a value, whatever its type and the verb are.
type formatted struct{ value any }

// Format is for package fmt.
func (f formatted) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, Escape(fmt.Sprintf(fmt.FormatString(s, verb), f.value))) // into fmt's own buffer
}
