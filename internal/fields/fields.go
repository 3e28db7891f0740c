// Package fields cuts numbers and words off the start of a line of text. Its functions return what
// they have cut off, and the rest of the line. They allocate no memory, because samplers print
// millions of lines.
package fields

import (
	"bytes"
	"math"
)

// CutHex cuts a hexadecimal number without 0x, of at most 16 digits, and the blanks after it. If
// the text does not start with such a number, or no blank follows the number, ok is false and rest
// is the whole text.
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

// CutInt cuts a decimal number that fits into an int32 and may begin with a minus. It does not cut the blanks after the
// number.
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

// CutUint cuts a decimal number. ok is false if there is no number, or if the number is larger than
// limit. CutUint does not cut the blanks after the number.
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

// noDigit stands in hexDigits for characters that are not hexadecimal digits.
const noDigit = 0xff

// hexDigits maps each character to its value as a hexadecimal digit. It is a table, because a text
// has millions of digits.
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

// CutWord cuts the text before the next blank, and the blanks after it. If there is no blank, word is the whole text
// and rest is nil.
func CutWord(text []byte) (word, rest []byte) {
	for i, c := range text {
		if IsBlank(c) {
			return text[:i], TrimBlanks(text[i:])
		}
	}
	return text, nil
}
