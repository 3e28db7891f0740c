package javaname

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	cases := map[string]string{
		"java.util.HashMap::<init>":           "java.util.HashMap::<init>",
		"größe::日本":                           "größe::日本",
		`gr\u00f6\u00dfe`:                     "größe",
		`\ufe0f\u2764def\u00a0fib`:            "\ufe0f❤def\u00a0fib", // JRuby's
		`p.A::\ud835\udc9c\u00f6`:             "p.A::𝒜ö",
		`esc\u001b bell\u0007 del\u007f`:      "esc\x1b bell\a del\x7f",
		`\ud835`:                              `\ud835`,
		`\udc9c\ud835x`:                       `\udc9c\ud835x`,
		`\ud835\ud835\udc9c`:                  `\ud835𝒜`,
		"p.\xed\xa0\xb5\xed\xb2\x9c::a":       "p.𝒜::a", // modified UTF-8
		"p.\xed\xa0\xb5::a":                   `p.\ud835::a`,
		"zero\xc0\x80" + `\u0000`:             "zero\x00\x00",
		`\u0041 \u005c \u00FC \u00f \u`:       `\u0041 \u005c \u00FC \u00f \u`, // HotSpot writes none of these
		`C:\users\ud`:                         `C:\users\ud`,
		"cut \xe6\x97":                        "cut \xe6\x97",
		"\xed\x9f\xbf \xed\xa0 \xed\xa0x\x80": "\ud7ff \xed\xa0 \xed\xa0x\x80",
	}
	require.NotEmpty(t, cases)
	for in, want := range cases {
		assert.Equal(t, want, Decode(in), "%q", in)
	}
}

// FuzzDecode checks that Decode recovers any name from both forms that HotSpot writes.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"java.util.HashMap::<init>", "größe 日本 𝒜😀\x00\x1b\x7f", "\ufffd\ue000\uffff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		Decode(name)
		if !utf8.ValidString(name) || strings.Contains(name, `\u`) {
			return
		}
		var quoted strings.Builder
		var modified []byte
		for _, unit := range utf16.Encode([]rune(name)) {
			if unit >= ' ' && unit < 0x7f {
				quoted.WriteByte(byte(unit))
			} else {
				fmt.Fprintf(&quoted, `\u%04x`, unit)
			}
			switch {
			case unit > 0 && unit < 0x80:
				modified = append(modified, byte(unit))
			case unit < 0x800:
				modified = append(modified, 0xc0|byte(unit>>6), 0x80|byte(unit&63))
			default:
				modified = append(modified, 0xe0|byte(unit>>12), 0x80|byte(unit>>6&63), 0x80|byte(unit&63))
			}
		}
		assert.Equal(t, name, Decode(name))
		assert.Equal(t, name, Decode(quoted.String()))
		assert.Equal(t, name, Decode(string(modified)))
	})
}
