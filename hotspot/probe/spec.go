package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Spec is what is to be probed.
type Spec struct {
	Text   string // as the user wrote it
	Kind   Kind
	Class  string // a pattern, in which * is any text
	Method string // a pattern
	// Arguments are the types of the arguments, without their packages where the user left these out; nil for all overloads.
	Arguments []string
	// Window tells that it is to be known of each moment whether a thread is in the method.
	Window bool
	// This has the list of calls say whose method each one is.
	This bool
}

// A Kind says what of a method or class is probed.
type Kind string

// The kinds: entries and exits of methods, locks that methods of a class take, allocations in methods; entries and exits of
// methods that dtrace, perf and bpftrace see, and gasm does not count.
const (
	Methods     Kind = "method"
	Locks       Kind = "lock"
	Allocations Kind = "alloc"
	SDT         Kind = "sdt"
)

// ParseMethod reads CLASS::METHOD or CLASS::METHOD(TYPE, TYPE).
func ParseMethod(text string, kind Kind) (Spec, error) {
	s := Spec{Text: text, Kind: kind}
	name, arguments, found := strings.Cut(text, "(")
	if found {
		list, behind, closed := strings.Cut(arguments, ")")
		if !closed || behind != "" {
			return s, fmt.Errorf("%q is no method: behind the types of its arguments there is one ), and no more", text)
		}
		s.Arguments = []string{}
		for t := range strings.SplitSeq(list, ",") {
			if t = strings.TrimSpace(t); t != "" {
				s.Arguments = append(s.Arguments, t)
			} else if strings.TrimSpace(list) != "" {
				return s, fmt.Errorf("%q is no method: a type of its arguments is missing", text)
			}
		}
	}
	s.Class, s.Method, found = strings.Cut(name, "::")
	if !found || s.Class == "" || s.Method == "" {
		return s, fmt.Errorf("%q is no method: it is CLASS::METHOD, as java.util.HashMap::get, in which * is any text", text)
	}
	return s, s.check()
}

// ParseClass reads a pattern for classes.
func ParseClass(text string, kind Kind) (Spec, error) {
	s := Spec{Text: text, Kind: kind, Class: text, Method: "*"}
	if text == "" || strings.Contains(text, "::") {
		return s, fmt.Errorf("%q is no class: it is a name with its package, as java.util.HashMap, in which * is any text", text)
	}
	return s, s.check()
}

// MatchesClass tells whether a class is meant: "org.acme.Svc$Inner".
func (s *Spec) MatchesClass(class string) bool { return matches(s.Class, class) }

// MatchesMethod tells whether a method of such a class is meant, by its name and the full types of its parameters. It is what the
// agent's Probe does.
func (s *Spec) MatchesMethod(name string, parameters []string) bool {
	if !matches(s.Method, name) || name == "<clinit>" && s.Method != name {
		return false
	}
	return s.Arguments == nil || slices.EqualFunc(s.Arguments, parameters, func(argument, full string) bool {
		return full == argument || strings.HasSuffix(full, "."+argument) || strings.HasSuffix(full, "$"+argument)
	})
}

// matches tells whether a text matches a pattern.
func matches(pattern, text string) bool {
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

func (s *Spec) check() error {
	if strings.Contains(s.Class, "/") {
		return fmt.Errorf("%q has a /: the parts of a class's name have . between them", s.Text)
	}
	if strings.ContainsAny(s.Text, "\t\n\r\x00") {
		return fmt.Errorf("%q has more than one line", s.Text)
	}
	if strings.Trim(s.Class, "*") == "" {
		return errors.New("* alone would have every class of the JVM changed: name a class or a package")
	}
	return nil
}

// line is the agent's.
func (s *Spec) line() string {
	arguments, options := "-", []string{}
	if s.Arguments != nil {
		arguments = strings.Join(s.Arguments, ",")
	}
	if s.Window {
		options = append(options, "window")
	}
	if s.This {
		options = append(options, "this")
	}
	if len(options) == 0 {
		options = []string{"-"}
	}
	return strings.Join([]string{string(s.Kind), s.Text, s.Class, s.Method, arguments, strings.Join(options, ",")}, "\t")
}

// Merge joins specs of the same text, of which one may be a window, or ask for more.
func Merge(specs []Spec) (merged []Spec) {
	at := map[string]int{}
	for _, s := range specs {
		key := string(s.Kind) + " " + s.Text
		if i, ok := at[key]; ok {
			merged[i].Window = merged[i].Window || s.Window
			merged[i].This = merged[i].This || s.This
			continue
		}
		at[key] = len(merged)
		merged = append(merged, s)
	}
	return merged
}
