package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var escapes = map[string]string{
	"":                        "",
	"java.util.HashMap::hash": "java.util.HashMap::hash",
	`C:\users\x`:              `C:\users\x`,
	"größe 日本 😀 ❤\ufe0f e\u0301 \u00a0": "größe 日本 😀 ❤\ufe0f e\u0301 \u00a0",
	"\x1b]0;pwned\x07":               `\x1b]0;pwned\x07`,
	"\x1b[31m":                       `\x1b[31m`, // Paint's own sequences too
	"a\nb\r\tc\x00\x7f":              `a\nb\r\tc\x00\x7f`,
	"\u0080\u009b31m\u009f":          `\u0080\u009b31m\u009f`,
	"\xff\xc2\x80\x80 cut \xe6\x97":  `\xff\u0080\x80 cut \xe6\x97`,
	"\u2028\u2029":                   `\u2028\u2029`,
	"\u202a\u202b\u202c\u202d\u202e": `\u202a\u202b\u202c\u202d\u202e`,
	"\u2066\u2067\u2068\u2069":       `\u2066\u2067\u2068\u2069`,
	"\u200e\u200f\u061c":             `\u200e\u200f\u061c`,
	"\ufeff\u200b\u00ad\u2060\u180e": `\ufeff\u200b\u00ad\u2060\u180e`,
	"\U000e0001\U000e0041\U000e0fff": `\U000e0001\U000e0041\U000e0fff`,
	"\u115f\u3164\u034f":             `\u115f\u3164\u034f`,       // invisible letters
	"👩\u200d💻 می\u200cخواهم":         "👩\u200d💻 می\u200cخواهم",   // the joiners, where they have an effect
	"a\u200db\u200c":                 `a\u200db\u200c`,           // and where they are invisible and have none
	"\u202e\u200d é\x1b\u200c":       `\u202e\u200d é\x1b\u200c`, // also after an escape
	"é\u200d\u200d":                  "é\u200d\u200d",
	"\u200c":                         `\u200c`,
}

func TestEscape(t *testing.T) {
	require.NotEmpty(t, escapes)
	for raw, want := range escapes {
		got := Escape(raw)
		assert.Equal(t, want, got, "%q", raw)
		assert.Equal(t, got, Escape(got), "again: %q", raw)
		gasmtest.TerminalText(t, got, false)
	}
}

// FuzzEscape checks that no unescaped text reaches a terminal, and that each line is as wide as Width says.
func FuzzEscape(f *testing.F) {
	for raw := range escapes {
		f.Add(raw, 12)
	}
	f.Fuzz(func(t *testing.T, raw string, width int) {
		width = max(width%100, 1)
		escaped := Escape(raw)
		if escaped != Escape(escaped) {
			t.Errorf("%q becomes %q, and that becomes %q", raw, escaped, Escape(escaped))
		}
		for _, short := range []string{ShortMethod(raw, width, "…"), ShortMiddle(raw, width, "…"), CutEnd(raw, width, "…"),
			CutStart(raw, width, "…")} {
			gasmtest.TerminalText(t, short, false)
			if width > 12 && Width(short) > width && Width(escaped) > width {
				t.Errorf("%q is %d columns wide, not %d", short, Width(short), width)
			}
		}
		if n := Width(PadLeft(raw, width)); n != max(width, Width(raw)) {
			t.Errorf("%q is padded to %d columns, not %d", raw, n, width)
		}
		lines := append(Wrap(raw, width), Table([]string{raw}, [][]string{{raw}, {"x"}}, []Align{Left})...)
		gasmtest.TerminalText(t, strings.Join(lines, "\n"), false)
		gasmtest.TerminalText(t, Message("%s: %v, %q, %v", raw, errors.New(raw), raw, []string{raw}), false)
		var b strings.Builder
		p := NewPage(&b, Look{Color: true, Width: width})
		p.Line("%s|%s|%-9s|%v", p.Paint(Red, raw), Join(raw, p.Paint(Bold, raw)), raw, struct{ s string }{raw})
		p.Heading('=', raw)
		p.Paragraph("note: ", raw)
		p.Field(8, raw, raw, raw)
		require.NoError(t, p.Flush())
		gasmtest.TerminalText(t, b.String(), true)
	})
}

// JSON means the same with and without the escapes.
func FuzzEscapeJSON(f *testing.F) {
	for raw := range escapes {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text, err := json.Marshal(map[string][]string{raw: {raw, "größe\x7f\u009b"}})
		require.NoError(t, err)
		var want, got map[string][]string
		require.NoError(t, json.Unmarshal(text, &want))
		escaped := EscapeJSON(text)
		require.NoError(t, json.Unmarshal(escaped, &got))
		assert.Equal(t, want, got)
		gasmtest.TerminalText(t, string(escaped), false)
	})
}

// raw is the text of arguments of several types.
const raw = "a\x1b\nb"

type namedText string

func (namedText) String() string { return raw }

func TestMessage(t *testing.T) {
	joined := errors.Join(errors.New("one\n"), &os.PathError{Op: "open", Path: raw, Err: os.ErrNotExist})
	cases := []struct {
		want, format string
		args         []any
	}{
		{"plain", "plain", nil},
		{`a\x1b\nb`, raw, nil},
		{`<a\x1b\nb>`, "<%s>", []any{raw}},
		{`<  a\x1b\nb>`, "<%10s>", []any{raw}},
		{`<[a\x1b\nb 7]>`, "<%v>", []any{[]any{raw, 7}}},
		{`<a\x1b\nb>`, "<%v>", []any{namedText("x")}},
		{`<"a\x1b\nb">`, "<%q>", []any{[]byte(raw)}},
		{`007 2.50 true ü \x1b`, "%03d %.2f %t %c %c", []any{7, 2.5, true, 'ü', '\x1b'}},
		{`open a\x1b\nb: file does not exist`, "%v", []any{joined.(interface{ Unwrap() []error }).Unwrap()[1]}},
		{"gasm: one\\n\nopen a\\x1b\\nb: file does not exist", "gasm: %v", []any{joined}},
		{`one\n\nopen a\x1b\nb: file does not exist; why`, "%v", []any{fmt.Errorf("%w; why", joined)}},
		{`a\x1b\nb and EOF`, "%v", []any{fmt.Errorf("%w and %w", errors.New(raw), errors.New("EOF"))}},
	}
	require.NotEmpty(t, cases)
	for _, c := range cases {
		assert.Equal(t, c.want, Message(c.format, c.args...), "%q %q", c.format, c.args)
	}
}

func TestPaint(t *testing.T) {
	var b strings.Builder
	p := NewPage(&b, Look{Color: true})
	fake := "\x1b[1;31mred\x1b[0m"
	p.Line("%s %s%s", p.Paint(BoldRed, "red"), Join("und", p.Paint(Dim, fake)), fake)
	p.Line("%s", Join("", p.Paint(Red, ""), "x ", 7, Text{}))
	p.Color = false
	p.Line("%s", p.Paint(BoldRed, fake))
	require.NoError(t, p.Flush())
	const shown = `\x1b[1;31mred\x1b[0m`
	assert.Equal(t, "\x1b[1;31mred\x1b[0m und\x1b[2m"+shown+"\x1b[0m"+shown+"\nx 7\n"+shown+"\n", b.String())
}
