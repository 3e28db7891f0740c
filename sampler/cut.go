package sampler

import (
	"bytes"
	"math"
)

// cutHex cuts a bare hexadecimal number and the blanks after it.
func cutHex(text []byte) (x uint64, rest []byte, ok bool) {
	n := 0
	for ; n < len(text); n++ {
		digit := hexDigits[text[n]]
		if digit == noDigit {
			break
		}
		x = x<<4 | uint64(digit)
	}
	if n == 0 || n > 16 || n == len(text) || !isBlank(text[n]) {
		return 0, text, false
	}
	return x, trimBlanks(text[n:]), true
}

// cutInt cuts a decimal number of an int32, which may have a minus.
func cutInt(text []byte) (n int, rest []byte, ok bool) {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	x, rest, ok := cutUint(digits, math.MaxInt32)
	if !ok {
		return 0, text, false
	}
	n = int(x)
	if negative {
		n = -n
	}
	return n, rest, true
}

// cutUint cuts a decimal number that is at most the limit.
func cutUint(text []byte, limit uint64) (x uint64, rest []byte, ok bool) {
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

func trimBlanks(text []byte) []byte {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isHex(c byte) bool { return hexDigits[c] != noDigit }

// noDigit is what hexDigits has for characters that are no digits.
const noDigit = 0xff

// hexDigits has the values of hexadecimal digits. There are millions to read.
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

// cutWord cuts what stands in front of the next blank, and the blanks after it.
func cutWord(text []byte) (word, rest []byte) {
	for i, c := range text {
		if isBlank(c) {
			return text[:i], trimBlanks(text[i:])
		}
	}
	return text, nil
}
