package gasmtest

import (
	"reflect"
	"regexp"
	"testing"
	"unicode/utf8"
)

// colour matches the escape sequences that package layout uses for colours and bold text.
var colour = regexp.MustCompile("\x1b\\[(0|1|2|1?;?3[0-7])m")

// unshown matches characters that a terminal does not show as they are. Some are commands for the terminal, some change
// the direction of the text, and some are invisible, such as the byte order mark. It does not match line ends.
var unshown = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{ad}\x{61c}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{fff9}-\x{fffb}\x{e0000}-\x{e007f}]`)

// TerminalText checks that a text is valid UTF-8, and that a terminal shows all of its characters as they are. The text
// may have line ends. If colours is true, it may also have escape sequences for colours.
func TerminalText(tb testing.TB, text string, colours bool) {
	tb.Helper()
	if colours {
		text = colour.ReplaceAllString(text, "")
	}
	if !utf8.ValidString(text) {
		tb.Errorf("not valid UTF-8: %q", text)
	}
	if at := unshown.FindStringIndex(text); at != nil {
		tb.Errorf("the character %q is raw in %q", text[at[0]:at[1]], text[max(at[0]-80, 0):min(at[1]+80, len(text))])
	}
}

// Inject inserts a text into the middle of each string in a value. The caller passes a pointer to the value. Strings
// that were equal before are equal afterwards. Strings in maps and in unexported fields are not changed.
func Inject(value any, text string) { inject(reflect.ValueOf(value).Elem(), text) }

func inject(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			s := v.String()
			v.SetString(s[:len(s)/2] + text + s[len(s)/2:])
		}
	case reflect.Slice:
		for i := range v.Len() {
			inject(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			inject(v.Field(i), text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			inject(v.Elem(), text)
		}
	}
}
