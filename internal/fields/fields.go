// Package fields cuts numbers and words off the start of a line of text. Its functions return the rest of
// the line, and allocate nothing, because samplers' texts have millions of lines.
package fields

import (
	"bytes"
	"math"
)

// CutHex cuts a hexadecimal number without 0x, and the blanks after it. At least one blank must follow.
func CutHex(text []byte) (x uint64, rest []byte, ok bool) {
	n := 0
	for ; n < len(text); n++ {
		digit := hexDigits[text[n]]
		if digit == noDigit {
			break
		}
		x = x<<4 | uint64(digit)
	}
	if n == 0 || n > 16 || n == len(text) || !IsBlank(text[n]) {
		return 0, text, false
	}
	return x, TrimBlanks(text[n:]), true
}

// CutInt cuts a decimal number that fits into an int32 and may have a minus.
func CutInt(text []byte) (n int, rest []byte, ok bool) {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	x, rest, ok := CutUint(digits, math.MaxInt32)
	if !ok {
		return 0, text, false
	}
	n = int(x)
	if negative {
		n = -n
	}
	return n, rest, true
}

// CutUint cuts a decimal number that is at most limit.
func CutUint(text []byte, limit uint64) (x uint64, rest []byte, ok bool) {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		x = x*10 + uint64(text[n]-'0')
		if x > limit {
			return 0, text, false
		}
		n++
	}
	return x, text[n:], n > 0
}

func TrimBlanks(text []byte) []byte {
	for len(text) > 0 && IsBlank(text[0]) {
		text = text[1:]
	}
	return text
}

func IsBlank(c byte) bool { return c == ' ' || c == '\t' }

func IsHex(c byte) bool { return hexDigits[c] != noDigit }

// noDigit is what hexDigits has for characters that are not digits.
const noDigit = 0xff

// hexDigits has the values of hexadecimal digits. A table is fast enough for the millions of digits in
// a text.
var hexDigits = func() (values [256]byte) {
	for c := range values {
		values[c] = noDigit
	}
	for value := range byte(16) {
		values["0123456789abcdef"[value]] = value
		values["0123456789ABCDEF"[value]] = value
	}
	return values
}()

// CutWord cuts the text before the next blank, and the blanks after it.
func CutWord(text []byte) (word, rest []byte) {
	for i, c := range text {
		if IsBlank(c) {
			return text[:i], TrimBlanks(text[i:])
		}
	}
	return text, nil
}
