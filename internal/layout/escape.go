package layout

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text from outside is data: names of classes, methods, threads and files, commands, and the output of HotSpot and
// other programs. Any of it can contain characters that control a terminal (ESC, and U+009B, which means ESC and a
// bracket), that reverse the order of the letters on the screen (U+202E), or that are invisible. Everything that this
// package writes or measures goes through Escape. The only exceptions are the escape sequences that [Page.Paint] adds.

// Escape replaces the characters of s that must not reach a terminal with escapes such as \n, \x1b, \u202e or
// \U000e0001. A byte that is not UTF-8 becomes an escape such as \xff. Escape does not change backslashes. So escaping
// twice has the same result as escaping once, and a text that already contained the four characters \x1b looks the same
// as an escape. Where that matters, users can ask for JSON.
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

// writeEscape writes the escape of a character.
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

// firstUnsafe returns the index of the first character that Escape changes, or len(s) if there is none.
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

// EscapeJSON escapes text that encoding/json has written. JSON strings may contain some characters that must not reach
// a terminal. EscapeJSON replaces these with escapes such as \u009b. The JSON means the same as before.
func EscapeJSON(text []byte) []byte {
	var out []byte
	before, done := ' ', 0 // done is how many bytes of text are already in out
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

// isSafe reports whether a terminal shows the character r as a visible letter. The character that precedes r matters
// only for joiners. These characters are not safe:
//
//   - control characters, which control the terminal;
//   - format characters (Cf), among them all that change the direction of text, and other invisible ones: two names
//     that differ only in these would look the same;
//   - the separators of lines and paragraphs (U+2028, U+2029).
//
// The two joiners are format characters as well, but Persian and Indian words and many emoji need them. They are safe
// after a character that is not ASCII, because no letter of such a word or emoji is ASCII.
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

// A Text is text that a [Page] writes as it is: it may have colours, and everything else in it is escaped. Only this
// package can make one, so it never contains text that was not escaped.
type Text struct{ s string }

// Join concatenates Texts and other values. It escapes the other values.
func Join(parts ...any) Text {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(expand("%v", part))
	}
	return Text{b.String()}
}

// Message formats a message. The format must be a constant; the arguments are escaped. The result is one line, without
// a newline at its end. The only exceptions are errors that errors.Join has joined: each of them is on a line of its
// own.
func Message(format string, args ...any) string { return expand(format, args...) }

// expand is fmt.Sprintf with escaped arguments. It overwrites the elements of args.
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

// errorText returns the escaped text of an error. If errors.Join has joined several errors, each of them is on a line
// of its own.
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
		return Escape(err.Error()) // made by fmt.Errorf with several %w
	}
	return strings.Join(escaped, "\n")
}

// formatted escapes the text that fmt makes from a value, whatever the value's type and the verb are.
type formatted struct{ value any }

// Format implements fmt.Formatter.
func (f formatted) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, Escape(fmt.Sprintf(fmt.FormatString(s, verb), f.value))) // fmt's buffer returns no errors
}
