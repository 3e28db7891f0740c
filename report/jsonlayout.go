package report

import (
	"bufio"
	"bytes"
	"strings"
)

// jsonWidth is how long a line of the JSON report may get before its value is spread over several.
const jsonWidth = 160

// layoutJSON writes src, which is valid JSON without blanks, with line breaks. A value that fits on the rest of a line stays
// on it. Of any other value, each element gets a line of its own. So most regions and most instructions are one line each,
// where json.Indent takes a dozen.
func layoutJSON(w *bufio.Writer, src []byte, depth int) {
	if depth+len(src) <= jsonWidth || (src[0] != '{' && src[0] != '[') {
		w.Write(src)
		return
	}
	newline := "\n" + strings.Repeat(" ", depth+1)
	w.WriteByte(src[0])
	for rest := src[1 : len(src)-1]; len(rest) > 0; {
		w.WriteString(newline)
		n := valueLen(rest)
		if n < len(rest) && rest[n] == ':' {
			w.Write(rest[:n+1])
			rest = rest[n+1:]
			n = valueLen(rest)
		}
		layoutJSON(w, rest[:n], depth+1)
		rest = rest[n:]
		if len(rest) > 0 {
			w.WriteByte(',')
			rest = rest[1:]
		}
	}
	w.WriteString(newline[:len(newline)-1])
	w.WriteByte(src[len(src)-1])
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
