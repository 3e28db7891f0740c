package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/wildcard"
)

// A Spec says what to probe.
type Spec struct {
	Text   string // as the user wrote it
	Kind   Kind
	Class  string // a pattern; each * in it stands for any text
	Method string // a pattern, too
	// Arguments are the types of the method's arguments, with or without a package, as the user
	// wrote them. It is nil if all overloads match.
	Arguments []string
	// Window is true if the time of each call is recorded, so that a profile can be limited to
	// samples inside the method.
	Window bool
	// The field This is true if the list of calls shows the object on which each method was called (Java's this).
	This bool
}

// A Kind says which events of a method or class are probed.
type Kind string

// The kinds. Methods is for entries and exits of methods. Locks is for the locks that methods of a class take.
// Allocations is for allocations in methods. SDT is also for entries and exits, but gasm does not count them: other
// tools (dtrace, perf, bpftrace) trace them.
const (
	Methods     Kind = "method"
	Locks       Kind = "lock"
	Allocations Kind = "alloc"
	SDT         Kind = "sdt"
)

// ParseMethod parses CLASS::METHOD or CLASS::METHOD(TYPE, TYPE).
func ParseMethod(text string, kind Kind) (Spec, error) {
	s := Spec{Text: text, Kind: kind}
	name, arguments, found := strings.Cut(text, "(")
	if found {
		list, rest, closed := strings.Cut(arguments, ")")
		if !closed || rest != "" {
			return s, fmt.Errorf(
				"%q is not a method: the list of argument types must end with a ), and nothing may follow", text)
		}
		s.Arguments = []string{}
		for t := range strings.SplitSeq(list, ",") {
			if t = strings.TrimSpace(t); t != "" {
				s.Arguments = append(s.Arguments, t)
			} else if strings.TrimSpace(list) != "" {
				return s, fmt.Errorf("%q is not a method: a type of its arguments is missing", text)
			}
		}
	}
	s.Class, s.Method, found = strings.Cut(name, "::")
	if !found || s.Class == "" || s.Method == "" {
		return s, fmt.Errorf(
			"%q is not a method: use CLASS::METHOD, such as java.util.HashMap::get, where * stands for any text", text)
	}
	return s, s.check()
}

// ParseClass parses a pattern for classes.
func ParseClass(text string, kind Kind) (Spec, error) {
	s := Spec{Text: text, Kind: kind, Class: text, Method: "*"}
	if text == "" || strings.Contains(text, "::") {
		return s, fmt.Errorf(
			"%q is not a class: use a name with its package, such as java.util.HashMap, where * stands for any text",
			text)
	}
	return s, s.check()
}

// MatchesClass reports whether the Spec matches a class, such as "org.acme.Svc$Inner".
func (s *Spec) MatchesClass(class string) bool { return wildcard.Match(s.Class, class) }

// MatchesMethod reports whether the Spec matches a method. It does not check the method's class:
// [Spec.MatchesClass] does. parameters are the full names of the parameters' types, such as
// "java.lang.String". The rules are those of the agent's class Probe.
func (s *Spec) MatchesMethod(name string, parameters []string) bool {
	if !wildcard.Match(s.Method, name) || name == "<clinit>" && s.Method != name {
		return false
	}
	return s.Arguments == nil || slices.EqualFunc(s.Arguments, parameters, func(argument, full string) bool {
		return full == argument || strings.HasSuffix(full, "."+argument) || strings.HasSuffix(full, "$"+argument)
	})
}

func (s *Spec) check() error {
	if strings.Contains(s.Class, "/") {
		return fmt.Errorf("%q has a /: write a class's name with dots", s.Text)
	}
	if strings.ContainsAny(s.Text, "\t\n\r\x00") {
		return fmt.Errorf("%q has more than one line", s.Text)
	}
	if strings.Trim(s.Class, "*") == "" {
		return errors.New("* alone would change every class of the JVM: name a class or a package")
	}
	return nil
}

// line returns the Spec's line in the agent's list of what to probe (see the package comment).
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
	return strings.Join([]string{string(s.Kind), s.Text, s.Class, s.Method, arguments, strings.Join(options, ",")},
		"\t")
}

// Merge joins specs that have the same kind and text. A joined spec has the options of all of them.
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
