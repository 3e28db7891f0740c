package report

import (
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// maxCommandLines is about how many lines of the header a command may take.
const maxCommandLines = 4

// commandLines writes a command as one would type it in a shell, on several lines when one line is too short.
func commandLines(words []string, width int, ellipsis string) []string {
	if len(words) == 0 {
		return nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(layout.Escape(w))
	}
	return layout.Wrap(shortCommand(quoted, maxCommandLines*width*9/10, ellipsis), width)
}

// quote puts a word into quotes when a shell would take it apart.
func quote(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]{}!#~\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// shortCommand joins words to a text of at most width columns. It leaves out words in the middle as needed.
func shortCommand(words []string, width int, ellipsis string) string {
	full := strings.Join(words, " ")
	for out := 1; out < len(words)-1 && layout.Width(full) > width; out++ {
		head := (len(words) - out + 1) / 2
		full = strings.Join(words[:head], " ") + " " + ellipsis + " " + strings.Join(words[head+out:], " ")
	}
	return layout.ShortMiddle(full, width, ellipsis)
}
