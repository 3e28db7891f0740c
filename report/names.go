package report

import (
	"slices"
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
	return layout.Wrap(shortCommand(quoteAll(words), maxCommandLines*width*9/10, ellipsis), width)
}

// commandLine writes a command as one would type it in a shell, on one line. Of a very long one
// words in the middle are left out.
func commandLine(words []string) string {
	const most = 2000
	if len(words) == 0 {
		return ""
	}
	return shortCommand(quoteAll(words), most, "…")
}

func quoteAll(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(layout.Escape(w)) // a shell would take escapes apart too
	}
	return quoted
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
	ends := make([]int, len(words)+1) // columns of the first words, each with a blank behind it
	for i, w := range words {
		ends[i+1] = ends[i] + layout.Width(w) + 1
	}
	full := func(head, tail int) int { return ends[head] + ends[len(words)] - ends[tail] - 1 }
	head, tail, gap := 0, 0, 0 // the words between head and tail are left out
	for out := 1; out < len(words)-1 && full(head, tail)+gap > width; out++ {
		head = (len(words) - out + 1) / 2
		tail, gap = head+out, layout.Width(ellipsis)+1
	}
	if gap > 0 {
		words = slices.Concat(words[:head], []string{ellipsis}, words[tail:])
	}
	return layout.ShortMiddle(strings.Join(words, " "), width, ellipsis)
}
