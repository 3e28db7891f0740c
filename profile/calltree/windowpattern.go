package calltree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/wildcard"
)

// A WindowPattern names methods as --window-method does: a class with its package, and a method. Each * in them matches
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
	return ok && c.Java() && wildcard.Match(p.class, class) && wildcard.Match(p.method, method) &&
		(method != "<clinit>" || p.method == method)
}
