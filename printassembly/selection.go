package printassembly

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// A Selection selects the compiled methods whose code HotSpot prints. The zero value selects all methods. For methods
// that are not selected, the log still has the names and address ranges, in LogCompilation's tags <nmethod …/>. So
// samples in these methods can be assigned to them.
//
// Printing causes most of the cost of a capture. C1 compiles most of the methods, and C2 compiles most of the hot
// ones again a moment later, so C1's code is worth the least. Package nmethod can copy the code of methods that
// HotSpot has not printed.
type Selection struct {
	// Methods are patterns in the syntax of HotSpot's CompileCommand; see [CheckPattern]. Nil selects all methods.
	Methods []string
	// SkipC1 leaves out the code that C1 compiled. SkipC2 leaves out the code that C2 or a JVMCI compiler compiled.
	// Both need a DirectivesFile.
	SkipC1, SkipC2 bool
	// DirectivesFile is the name of a file with [Selection.Directives]. JDK 9 and newer read it; a JVM does not start
	// if the file is missing. If the name is "", the selection becomes -XX:CompileCommand options, which all JDKs have.
	// But when JMH starts, it tests how a JVM responds to a CompileCommand option. If gasm has set such options as
	// well, the response makes JMH fall back to slower blackholes.
	DirectivesFile string
}

// All reports whether the code of all methods is printed.
func (s Selection) All() bool { return len(s.Methods) == 0 && !s.SkipC1 && !s.SkipC2 }

// noMethod is a pattern for CompileCommand=log that matches no method. With such a command, LogCompilation writes the
// steps of a compilation only for the methods that match. For all other methods it writes only the result, <nmethod
// …/>.
const noMethod = "gasm.none::none"

// promptFlags make HotSpot write a line of text after it has compiled a method. Writing this line also flushes
// LogCompilation's tags of the method into the log. Without such a line, the tags stay in a buffer until the next text,
// which may take minutes or never come.
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

// Directives returns the contents of the DirectivesFile: HotSpot's compiler directives (JEP 165) that select the same
// methods as the -XX:CompileCommand options would. The first directive that matches a method applies to it.
func (s Selection) Directives() []byte {
	type options struct{ PrintAssembly bool }
	type directive struct {
		Match []string `json:"match"`
		Log   bool     // log the course of the compilation
		C1    options  `json:"c1"`
		C2    options  `json:"c2"`
	}
	selected := directive{Match: s.Methods, C1: options{!s.SkipC1}, C2: options{!s.SkipC2}}
	if len(s.Methods) == 0 {
		selected.Match = []string{"*.*"}
	}
	text, _ := json.Marshal([]directive{selected, {Match: []string{"*.*"}}}) // strings and booleans: no error
	return append(text, '\n')
}

// CheckPattern returns an error if a pattern can't be used. A pattern is a class and a method, each optionally with a
// * at its start or end, and optionally a signature: java.util.HashMap::get* or *::getNode(Ljava/lang/Object;)V.
// HotSpot knows more forms (MethodMatcher::parse_method_pattern). With a bad pattern it does not start, or it ignores
// the pattern and says so on its output, where nobody looks.
func CheckPattern(pattern string) error {
	name, signature := pattern, ""
	if i := strings.IndexByte(pattern, '('); i >= 0 {
		name, signature = pattern[:i], pattern[i:]
	}
	holder, method, ok := strings.Cut(name, "::")
	if !ok || holder == "" || method == "" {
		return errors.New("name a class and a method, * for any: " +
			"java.util.HashMap::getNode, java.util.HashMap::*, *::getNode")
	}
	for _, part := range []string{holder, method} {
		switch inner := strings.TrimSuffix(strings.TrimPrefix(part, "*"), "*"); {
		case strings.Contains(inner, "*") || part == "**":
			return fmt.Errorf("%q: a * can only be the first or the last letter of the class or the method", pattern)
		case len(part) > 255 || strings.ContainsFunc(inner, notInName):
			return fmt.Errorf("%q is not a pattern: a class is written as java.util.HashMap, a method as getNode",
				pattern)
		}
	}
	if signature != "" && !isSignature(signature) {
		return fmt.Errorf("%q: a signature is written as in class files: (ILjava/lang/String;)V", pattern)
	}
	return nil
}

// Matches reports whether a pattern that [CheckPattern] accepts matches a name like java.util.HashMap::getNode. Names
// have no signature, so the signature of a pattern is ignored.
func Matches(pattern, name string) bool {
	pattern, _, _ = strings.Cut(pattern, "(")
	holder, method, _ := strings.Cut(pattern, "::")
	ofHolder, ofMethod, found := strings.Cut(name, "::")
	return found && matchesPart(holder, ofHolder) && matchesPart(method, ofMethod)
}

// matchesPart reports whether a class or a method matches its part of a pattern, which may begin and end with a *.
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

// isSignature reports whether s is a method descriptor, "(I[Ljava/lang/String;)V".
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

// cutType removes the first type of a descriptor and returns the rest. The rest is "?" if s does not start with a
// type.
func cutType(s string) string {
	s = strings.TrimLeft(s, "[")
	switch {
	case s == "":
		return "?"
	case s[0] == 'L':
		class, rest, ok := strings.Cut(s[1:], ";")
		if !ok || class == "" || strings.ContainsFunc(class,
			func(r rune) bool { return r != '/' && (r == '.' || notInName(r)) }) {
			return "?"
		}
		return rest
	case strings.IndexByte("BCDFIJSZ", s[0]) >= 0:
		return s[1:]
	}
	return "?"
}
