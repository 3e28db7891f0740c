package sampler

import (
	"bytes"
	"math"
)

// cutHex cuts a bare hexadecimal number and the blanks after it.
func cutHex(text []byte) (x uint64, rest []byte, ok bool) {
	n := 0
	for n < len(text) && isHex(text[n]) {
		digit := text[n]
		switch {
		case digit >= 'a':
			digit -= 'a' - 10
		case digit >= 'A':
			digit -= 'A' - 10
		default:
			digit -= '0'
		}
		x = x<<4 | uint64(digit)
		n++
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

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// cutWord cuts what stands in front of the next blank, and the blanks after it.
func cutWord(text []byte) (word, rest []byte) {
	for i, c := range text {
		if isBlank(c) {
			return text[:i], trimBlanks(text[i:])
		}
	}
	return text, nil
}
