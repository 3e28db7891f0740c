package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

// TestReader checks that a line that is too long is skipped and counted as one line, and that a last line without its
// line end is left out.
func TestReader(t *testing.T) {
	t.Parallel()
	const longest = 16 // the smallest buffer that bufio.NewReaderSize makes
	long := strings.Repeat("x", 3*longest+1)
	text := "one\n\n" + long + "\r\ntwo\r\n" + strings.Repeat("y", longest-1) + "\n" + strings.Repeat("z", longest) +
		"\ncut"
	type line struct {
		text    string
		number  int
		tooLong bool
	}
	want := []line{{"one", 1, false}, {"", 2, false}, {"", 3, true}, {"two", 4, false},
		{strings.Repeat("y", longest-1), 5, false}, {"", 6, true}}
	for name, in := range map[string]io.Reader{"whole": strings.NewReader(text),
		"bytes": iotest.OneByteReader(strings.NewReader(text))} {
		var found []line
		r := NewReader(in, longest)
		for r.Scan() {
			found = append(found, line{string(r.Line()), r.Number(), r.TooLong()})
		}
		assert.NoError(t, r.Err(), name)
		assert.Equal(t, want, found, name)
		assert.False(t, r.Scan(), name)
	}
}

func TestReaderReturnsErrors(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "one\n", "one\ncut", strings.Repeat("long", 9)} {
		broken := errors.New("broken")
		r := NewReader(io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken)), 16)
		n := 0
		for r.Scan() {
			n++
		}
		assert.ErrorIs(t, r.Err(), broken)
		assert.Equal(t, strings.Count(before, "\n"), n)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            `""`,
		"a\x00\"":                     `"a\x00\""`,
		strings.Repeat("x", 64):       `"` + strings.Repeat("x", 64) + `"`,
		strings.Repeat("x", 65):       `"` + strings.Repeat("x", 64) + `"… (65 bytes)`,
		strings.Repeat("x", 63) + "ä": `"` + strings.Repeat("x", 63) + `\xc3"… (65 bytes)`,
	} {
		assert.Equal(t, want, Quote(text))
	}
}
