// Package wildcard matches texts with patterns in which each * stands for any text.
package wildcard

import "strings"

// Match reports whether the whole text matches the pattern. Each * in the pattern stands for any text, even an empty
// one.
func Match(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if ok {
			_, text, ok = strings.Cut(text, part)
		}
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}
