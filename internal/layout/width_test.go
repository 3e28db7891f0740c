package layout

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWidth(t *testing.T) {
	cases := map[string]int{"": 0, "abc": 3, "ünï": 3, "日本": 4, "😀": 2, "e\u0301": 1, "\x1b": 4, "\u202e": 6, "│…": 2,
		"\xff": 4}
	require.NotEmpty(t, cases)
	for text, want := range cases {
		assert.Equal(t, want, Width(text), "%q", text)
		assert.Len(t, PadLeft(text, want), len(Escape(text)), "%q", text)
		assert.Equal(t, want+3, Width(PadLeft(text, want+3)), "%q", text)
		assert.Equal(t, want+3, Width(PadRight(text, want+3)), "%q", text)
	}
}

// A letter that takes two columns is cut off as a whole, and an accent together with its letter.
func TestCut(t *testing.T) {
	check := func(got, want string) {
		t.Helper()
		assert.Equal(t, want, got)
	}
	check(CutEnd("日本語で", 8, "…"), "日本語で")
	check(CutEnd("日本語で", 7, "…"), "日本語…")
	check(CutEnd("日本語で", 6, "…"), "日本…")
	check(CutStart("日本語で", 7, "…"), "…本語で")
	check(CutStart("日本語で", 6, "…"), "…語で")
	check(ShortMiddle("日本語で", 7, "…"), "日…で")
	check(CutEnd("e\u0301e\u0301e\u0301", 2, "…"), "e\u0301…")
	check(CutStart("e\u0301e\u0301e\u0301", 2, "…"), "…e\u0301")
	check(CutEnd("ab\x1bcd", 6, "..."), `ab\...`)
	check(ShortMethod("größe.日本.Klasse::\x1b", 17, "…"), `g.日.Klasse::\x1b`)
}

func TestTableWidth(t *testing.T) {
	lines := Table([]string{"", "x"}, [][]string{{"日本", "1"}, {"a\x1b", "2"}, {"abcd", "3"}}, []Align{Left, Left})
	assert.Empty(t, Table(nil, nil, []Align{Left}))
	assert.Equal(t, []string{"  a", "  b  c"}, Table(nil, [][]string{{" a", ""}, {" b", "c"}}, []Align{Left, Right}),
		"the blanks at the start of a cell")
	assert.Equal(t, []string{"        x", ` 日本   1`, ` a\x1b  2`, " abcd   3"}, lines)
}
