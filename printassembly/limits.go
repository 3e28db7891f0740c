package printassembly

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// gasm writes the values of the flags that limit inlining into the head of a log. A compiler that decides against
// inlining reports which limit was exceeded, but not the limit's value:
//
//	<inlining_limits FreqInlineSize='325' MaxInlineSize='35'/>
var inliningLimitsTag = []byte("<inlining_limits ")

// maxLimits limits the number of flags that are read.
const maxLimits = 64

// AppendInliningLimits appends a line with the values of flags to text. It appends nothing if there are none.
func AppendInliningLimits(text []byte, flags map[string]int64) []byte {
	if len(flags) == 0 {
		return text
	}
	text = append(text, inliningLimitsTag[:len(inliningLimitsTag)-1]...)
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		text = appendNumber(text, name, flags[name])
	}
	return append(text, "/>\n"...)
}

// inliningLimits reads a line with the tag <inlining_limits …/>.
func (h *Header) inliningLimits(line []byte) {
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, inliningLimitsTag), []byte("/>"))
	for word := range strings.FieldsSeq(string(line)) {
		name, value, ok := strings.Cut(word, "='")
		n, err := strconv.ParseInt(strings.TrimSuffix(value, "'"), 10, 64)
		if !ok || err != nil || !isFlag(name) || len(h.InliningLimits) >= maxLimits {
			continue
		}
		if h.InliningLimits == nil {
			h.InliningLimits = map[string]int64{}
		}
		h.InliningLimits[name] = n
	}
}

// isFlag reports whether a text may be the name of a flag: letters and digits.
func isFlag(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}
