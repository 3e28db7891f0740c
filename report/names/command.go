// Package names formats the names that all reports share: commands as the user would type them in a shell, programs,
// and the source files of classes.
package names

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// maxCommandLines is roughly the maximum number of lines that a command fills in the header of a report.
const maxCommandLines = 4

// CommandLines returns a command as the user would type it in a shell, in one or more lines of at most width columns.
// If it would need more than about four lines, words in its middle are replaced with the ellipsis.
func CommandLines(words []string, width int, ellipsis string) []string {
	if len(words) == 0 {
		return nil
	}
	return layout.Wrap(shorten(quoteEscaped(words), maxCommandLines*width*9/10, ellipsis), width)
}

// Command returns a command as the user would type it in a shell, on one line. If the line would have more than 2000
// columns, Command replaces words in its middle with an ellipsis.
func Command(words []string) string {
	const most = 2000
	if len(words) == 0 {
		return ""
	}
	return shorten(quoteEscaped(words), most, "…")
}

// ShortCommand returns a command as the user would type it in a shell, on one line of at most width columns. It does
// not escape control characters, because the text is for files, not for terminals.
func ShortCommand(words []string, width int) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return shorten(quoted, width, "...")
}

// quoteEscaped escapes and quotes each word.
func quoteEscaped(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(layout.Escape(w)) // in this order, because a shell interprets the backslash of an escape too
	}
	return quoted
}

// quote puts a word into quotes if a shell would split or expand it.
func quote(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]{}!#~\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// shorten joins words to a text of at most width columns. If the text would be too long, it replaces words in the
// middle with the ellipsis.
func shorten(words []string, width int, ellipsis string) string {
	ends := make([]int, len(words)+1) // ends[i]: columns of the first i words, each with a blank after it
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
