package fields

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCutHex(t *testing.T) {
	check := func(text string, want uint64, wantRest string, wantOK bool) {
		t.Helper()
		x, rest, ok := CutHex([]byte(text))
		assert.Equal(t, want, x, text)
		assert.Equal(t, wantRest, string(rest), text)
		assert.Equal(t, wantOK, ok, text)
	}
	check("7fAe \t0c (x)", 0x7fae, "0c (x)", true)
	check("ffffffffffffffff ", math.MaxUint64, "", true)
	check("1ffffffffffffffff ", 0, "1ffffffffffffffff ", false) // 17 digits
	check("7fae", 0, "7fae", false)                             // no blank after it
	check("0x7fae ", 0, "0x7fae ", false)
	check("", 0, "", false)
}

func TestCutDecimal(t *testing.T) {
	checkInt := func(text string, want int, wantRest string, wantOK bool) {
		t.Helper()
		n, rest, ok := CutInt([]byte(text))
		assert.Equal(t, want, n, text)
		assert.Equal(t, wantRest, string(rest), text)
		assert.Equal(t, wantOK, ok, text)
	}
	checkInt("24997/25003", 24997, "/25003", true)
	checkInt("-1 x", -1, " x", true)
	checkInt("2147483647", math.MaxInt32, "", true)
	checkInt("2147483648", 0, "2147483648", false)
	checkInt("-", 0, "-", false)
	checkInt("x", 0, "x", false)

	n, rest, ok := CutUint([]byte("43:"), 43)
	assert.Equal(t, []any{uint64(43), ":", true}, []any{n, string(rest), ok})
	n, rest, ok = CutUint([]byte("44:"), 43)
	assert.Equal(t, []any{uint64(0), "44:", false}, []any{n, string(rest), ok})
}

func TestCutWord(t *testing.T) {
	check := func(text, want, wantRest string) {
		t.Helper()
		word, rest := CutWord([]byte(text))
		assert.Equal(t, []string{want, wantRest}, []string{string(word), string(rest)}, text)
	}
	check("one \t two three", "one", "two three")
	check("one", "one", "")
	check(" one", "", "one")
	check("", "", "")
}
