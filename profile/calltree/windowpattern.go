package calltree

import (
	"errors"
	"fmt"
	"strings"
)

// A WindowPattern names methods as --window-method does: a class with its package, and a method. Each * in them stands for
// any text.
type WindowPattern struct{ class, method string }

// ParseWindowPattern parses a WindowPattern.
func ParseWindowPattern(text string) (p WindowPattern, err error) {
	if strings.Contains(text, "(") {
		return p, errors.New("call stacks do not have the types of arguments: leave out the (…)")
	}
	class, method, ok := strings.Cut(text, "::")
	if !ok || strings.Trim(class, "*") == "" || method == "" {
		return p, fmt.Errorf("%q is not a method: use CLASS::METHOD, such as java.util.HashMap::get", text)
	}
	return WindowPattern{class, method}, nil
}

// Matches reports whether the pattern matches the name of c. As in a probe, only the full name <clinit> matches a class
// initializer.
func (p WindowPattern) Matches(c *Code) bool {
	class, method, ok := strings.Cut(c.Name, "::")
	return ok && c.Java() && glob(p.class, class) && glob(p.method, method) && (method != "<clinit>" || p.method == method)
}

// glob reports whether a text matches a pattern, in which each * stands for any text.
func glob(pattern, text string) bool {
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
