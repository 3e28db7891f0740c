package printassembly

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// A Selection says of which compiled methods HotSpot prints the code. The zero
// value selects all methods. The others have their names and address ranges in the log all
// the same, from LogCompilation's <nmethod …/>, so that their samples are known.
//
// Most of what a capture costs is printing. C1 compiles most of the methods, and C2
// compiles most of the hot ones again a moment later, so C1's code is worth the least.
// Package nmethod can copy the code of methods that HotSpot did not print.
type Selection struct {
	// Methods are patterns of HotSpot's CompileCommand; see [CheckPattern]. Nil
	// for all methods.
	Methods []string
	// SkipC1 leaves out what C1 compiled, SkipC2 what C2 or JVMCI's compiler did.
	// Both need a DirectivesFile.
	SkipC1, SkipC2 bool
	// DirectivesFile is a file with [Selection.Directives], which JDK 9 and newer
	// read; a JVM does not start if the file is missing. With "" the selection becomes
	// -XX:CompileCommand options, which any JDK has. But JMH tries such options out, and
	// takes its slower blackholes when it sees the JVM's answer to these ones.
	DirectivesFile string
}

// All tells whether all code is printed.
func (s Selection) All() bool { return len(s.Methods) == 0 && !s.SkipC1 && !s.SkipC2 }

// noMethod is a pattern that no method matches, for CompileCommand=log. With such a
// command LogCompilation writes the course of a compilation only for methods that match,
// and of all others just the outcome, <nmethod …/>.
const noMethod = "gasm.none::none"

// promptFlags make HotSpot write a line of text when it has compiled a method. That
// line also flushes LogCompilation's tags of the method into the log. Without it they
// stay in a buffer until there is text again, which may take minutes or never happen.
var promptFlags = []string{"-XX:+PrintCompilation", "-XX:+PrintCompilation2"}

func (s Selection) flags() []string {
	if s.All() {
		return []string{"-XX:+PrintAssembly", "-XX:+PrintNMethods"}
	}
	flags := append([]string{"-XX:+LogCompilation"}, promptFlags...)
	if s.DirectivesFile != "" {
		return append(flags, "-XX:CompilerDirectivesFile="+s.DirectivesFile)
	}
	flags = append(flags, "-XX:CompileCommand=log,"+noMethod)
	for _, m := range s.Methods {
		flags = append(flags, "-XX:CompileCommand=print,"+m)
	}
	return flags
}

// Directives are HotSpot's compiler directives (JEP 165) that select the same methods
// as the flags would. The first directive that matches a method counts.
func (s Selection) Directives() []byte {
	type options struct{ PrintAssembly bool }
	type directive struct {
		Match []string `json:"match"`
		Log   bool     // the course of the compilation
		C1    options  `json:"c1"`
		C2    options  `json:"c2"`
	}
	selected := directive{Match: s.Methods, C1: options{!s.SkipC1}, C2: options{!s.SkipC2}}
	if len(s.Methods) == 0 {
		selected.Match = []string{"*.*"}
	}
	text, _ := json.Marshal([]directive{selected, {Match: []string{"*.*"}}}) // strings alone: no error
	return append(text, '\n')
}

// CheckPattern tells what is wrong with a pattern, such as java.util.HashMap::get* or
// *::getNode(Ljava/lang/Object;)V: a class and a method, each perhaps with a * in front
// or behind, and perhaps a signature. HotSpot has more forms
// (MethodMatcher::parse_method_pattern). With a bad pattern it does not start, or
// ignores it and says so on its output, where nobody looks.
func CheckPattern(pattern string) error {
	name, signature := pattern, ""
	if i := strings.IndexByte(pattern, '('); i >= 0 {
		name, signature = pattern[:i], pattern[i:]
	}
	holder, method, ok := strings.Cut(name, "::")
	if !ok || holder == "" || method == "" {
		return errors.New("name a class and a method, * for any: java.util.HashMap::getNode, java.util.HashMap::*, *::getNode")
	}
	for _, part := range []string{holder, method} {
		switch inner := strings.TrimSuffix(strings.TrimPrefix(part, "*"), "*"); {
		case strings.Contains(inner, "*") || part == "**":
			return fmt.Errorf("%q: a * can only be the first or the last letter of the class or the method", pattern)
		case len(part) > 255 || strings.ContainsFunc(inner, notInName):
			return fmt.Errorf("%q is no pattern: a class is written as java.util.HashMap, a method as getNode", pattern)
		}
	}
	if signature != "" && !isSignature(signature) {
		return fmt.Errorf("%q: a signature is written as in class files: (ILjava/lang/String;)V", pattern)
	}
	return nil
}

// Matches tells whether a pattern that [CheckPattern] lets pass matches a name,
// java.util.HashMap::getNode. Names have no signature, so that of a pattern does not count.
func Matches(pattern, name string) bool {
	pattern, _, _ = strings.Cut(pattern, "(")
	holder, method, _ := strings.Cut(pattern, "::")
	ofHolder, ofMethod, found := strings.Cut(name, "::")
	return found && matchesPart(holder, ofHolder) && matchesPart(method, ofMethod)
}

// matchesPart matches a class or a method with its part of a pattern, in which a * can be
// the first and the last letter.
func matchesPart(pattern, name string) bool {
	if pattern == "*" {
		return true
	}
	rest, any := strings.CutPrefix(pattern, "*")
	rest, more := strings.CutSuffix(rest, "*")
	switch {
	case any && more:
		return strings.Contains(name, rest)
	case any:
		return strings.HasSuffix(name, rest)
	case more:
		return strings.HasPrefix(name, rest)
	}
	return name == rest
}

func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("$_<>-.", r)
}

// isSignature tells method descriptors, "(I[Ljava/lang/String;)V".
func isSignature(s string) bool {
	inside, result, ok := strings.Cut(strings.TrimPrefix(s, "("), ")")
	if !ok || !strings.HasPrefix(s, "(") {
		return false
	}
	for inside != "" {
		if inside = cutType(inside); inside == "?" {
			return false
		}
	}
	return result == "V" || result != "" && cutType(result) == ""
}

// cutType cuts a type off a descriptor; the rest is "?" where there is none.
func cutType(s string) string {
	s = strings.TrimLeft(s, "[")
	switch {
	case s == "":
		return "?"
	case s[0] == 'L':
		class, rest, ok := strings.Cut(s[1:], ";")
		if !ok || class == "" || strings.ContainsFunc(class, func(r rune) bool { return r != '/' && (r == '.' || notInName(r)) }) {
			return "?"
		}
		return rest
	case strings.IndexByte("BCDFIJSZ", s[0]) >= 0:
		return s[1:]
	}
	return "?"
}
