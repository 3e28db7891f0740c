package calltree

import (
	"errors"
	"fmt"
	"strings"
)

// A Pattern names a method or a function: "org.acme.Users::find", "Users::find" in any package, "Users::*", or the name
// of a native function.
type Pattern string

// ParsePattern parses a Pattern.
func ParsePattern(text string) (Pattern, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errors.New("name a method: CLASS::METHOD")
	case strings.Count(text, "*") > 1 || strings.Contains(text, "*") && !strings.HasSuffix(text, "::*"):
		return "", fmt.Errorf("%q can have a * only in place of the method: CLASS::*", text)
	}
	return Pattern(text), nil
}

// maxPatterns is the maximum number of patterns in a list.
const maxPatterns = 100

// ParsePatterns parses a list of patterns, which commas separate. The list may be empty.
func ParsePatterns(list string) (all []Pattern, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		if all = append(all, p); len(all) > maxPatterns {
			return nil, fmt.Errorf("more than %d methods", maxPatterns)
		}
	}
	return all, nil
}

// Matches reports whether the pattern names a code.
func (p Pattern) Matches(c *Code) bool {
	if c.Mark() || c.Kind == Thread {
		return false
	}
	name, pattern := c.Name, string(p)
	if class, ok := strings.CutSuffix(pattern, "::*"); ok {
		if name, _, ok = strings.Cut(name, "::"); !ok {
			return false
		}
		pattern = class
	}
	before, ok := strings.CutSuffix(name, pattern)
	return ok && (before == "" || c.Java() && strings.HasSuffix(before, "."))
}

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

// Matches reports whether the pattern names a code. Like a probe, it names a class initializer only by its full name.
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
