package report

import (
	"bytes"
	"strings"
)

// jsonWidth is how long a line of the JSON report may get before its value is spread over several.
const jsonWidth = 160

// layoutJSON appends src, which is valid JSON without blanks, to dst, with line breaks. A value that fits on the rest of
// a line stays on it. Of any other value, each element gets a line of its own. So most regions and most instructions are
// one line each, where json.Indent takes a dozen.
func layoutJSON(dst, src []byte, depth int) []byte {
	if depth+len(src) <= jsonWidth || (src[0] != '{' && src[0] != '[') {
		return append(dst, src...)
	}
	newline := "\n" + strings.Repeat(" ", depth+1)
	dst = append(dst, src[0])
	for rest := src[1 : len(src)-1]; len(rest) > 0; {
		dst = append(dst, newline...)
		n := valueLen(rest)
		if n < len(rest) && rest[n] == ':' {
			dst = append(dst, rest[:n+1]...)
			rest = rest[n+1:]
			n = valueLen(rest)
		}
		dst = layoutJSON(dst, rest[:n], depth+1)
		rest = rest[n:]
		if len(rest) > 0 {
			dst = append(dst, ',')
			rest = rest[1:]
		}
	}
	dst = append(dst, newline[:len(newline)-1]...)
	return append(dst, src[len(src)-1])
}

// valueLen is the length of the first value in s.
func valueLen(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i += stringLen(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// stringLen is the length of the string that s starts with, its quotes included.
func stringLen(s []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexAny(s[i:], `"\`)
		if s[i] == '"' {
			return i + 1
		}
		i++ // what a backslash is for
	}
}
