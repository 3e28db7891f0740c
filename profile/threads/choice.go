package threads

import (
	"fmt"
	"regexp"
)

// A Choice says which threads are chosen, by their kind or by their name. The zero value chooses all threads.
type Choice struct {
	text string // as the user wrote it
	kind string
	name *regexp.Regexp
}

// kindWords maps the words that a user can write for a kind of threads to that kind.
var kindWords = map[string]string{"app": Application, "jit": Compilers, "gc": Collector, "jvm": OtherJVM}

// ParseChoice parses a choice of threads. The text is app, jit, gc or jvm for a kind of threads, or a regular
// expression for the names of threads, or for the 15 bytes that the kernel keeps of them.
func ParseChoice(text string) (Choice, error) {
	c := Choice{text: text, kind: kindWords[text]}
	if c.kind == "" && text != "" {
		var err error
		if c.name, err = regexp.Compile(text); err != nil {
			return Choice{}, fmt.Errorf("%w; use app, jit, gc, jvm, or a regular expression", err)
		}
	}
	return c, nil
}

// Text returns the text that ParseChoice has parsed.
func (c *Choice) Text() string { return c.text }

// chooses reports whether the samples of a thread count. A thread without a name only counts if the choice is empty,
// that is, if all threads count.
func (c *Choice) chooses(name, kind string) bool {
	switch {
	case c.text == "":
		return true
	case name == "":
		return false
	case c.name != nil:
		return c.name.MatchString(name)
	}
	return c.kind == kind
}
