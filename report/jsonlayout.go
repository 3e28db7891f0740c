package report

import (
	"bufio"
	"bytes"
	"strings"
)

// jsonWidth is the maximum length in bytes of an array or an object that is written on one line. A longer one is spread
// over several lines. The indentation counts, but the key before the value does not.
const jsonWidth = 160

// layoutJSON writes JSON with line breaks. src must be valid JSON without blanks. A value that is not too long (see
// jsonWidth) is written on one line. Otherwise, each of its elements gets a line of its own. Thus most regions and most
// instructions take one line each. json.Indent would write a dozen lines for each.
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

// valueLen returns the length of the first value or key in s: the text up to the comma or colon after it, or all of s.
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

// stringLen returns the length of the string that s starts with, its quotes included.
func stringLen(s []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexAny(s[i:], `"\`)
		if s[i] == '"' {
			return i + 1
		}
		i++ // skip the character after the backslash
	}
}
