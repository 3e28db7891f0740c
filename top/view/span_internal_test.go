package view

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCutText checks that cutting a text to its width is fast, even if it has tens of thousands of characters without a
// width.
func TestCutText(t *testing.T) {
	accents := strings.Repeat("\u0301", 50_000)
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"", 5, ""}, {"日本語", 5, "日本"}, {"日本語", 1,
		""}, {"e" + accents + "bc", 2, "e" + accents + "b"}} {
		assert.Equal(t, c.want, cutText(c.text, c.width))
	}
}
