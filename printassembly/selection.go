package printassembly

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Selection says of which compiled methods HotSpot prints the code. The zero
// value is all. The others have their names and address ranges in the log all
// the same, from LogCompilation's <nmethod …/>, so that their samples are known.
//
// Printing is what capture costs: C1 compiles the most methods, and most of them
// are C2's a moment later.
type Selection struct {
	// Methods are patterns of HotSpot's CompileCommand; see [CheckPattern]. Nil
	// for all methods.
	Methods []string
	// SkipC1 leaves out what C1 compiled. It takes a DirectivesFile.
	SkipC1 bool
	// DirectivesFile is a file with [Selection.Directives], which JDK 9 and newer
	// read; a JVM does not start without it. "" asks for commands instead, which
	// any JDK takes. JMH finds these in its JVM's output when it tries out what
	// commands there are, and takes its slower blackholes.
	DirectivesFile string
}

// All tells whether all code is printed.
func (s Selection) All() bool { return len(s.Methods) == 0 && !s.SkipC1 }

// noMethod is for a log command, with which LogCompilation has of each
// compilation its outcome, and its course only where the pattern matches.
const noMethod = "gasm.none::none"

func (s Selection) flags() []string {
	switch {
	case s.All():
		return []string{"-XX:+PrintAssembly", "-XX:+PrintNMethods"}
	case s.DirectivesFile != "":
		return []string{"-XX:+LogCompilation", "-XX:CompilerDirectivesFile=" + s.DirectivesFile}
	}
	flags := []string{"-XX:+LogCompilation", "-XX:CompileCommand=log," + noMethod}
	for _, m := range s.Methods {
		flags = append(flags, "-XX:CompileCommand=print,"+m)
	}
	return flags
}

// Directives are HotSpot's compiler directives (JEP 165) for what the flags
// would say. The first that matches a method counts.
func (s Selection) Directives() []byte {
	type options struct{ PrintAssembly bool }
	type directive struct {
		Match []string `json:"match"`
		Log   bool     // the course of the compilation
		C1    options  `json:"c1"`
		C2    options  `json:"c2"`
	}
	selected := directive{Match: s.Methods, C1: options{!s.SkipC1}, C2: options{true}}
	if len(s.Methods) == 0 {
		selected.Match = []string{"*.*"}
	}
	text, _ := json.Marshal([]directive{selected, {Match: []string{"*.*"}}}) // strings alone: no error
	return append(text, '\n')
}

// CheckPattern tells what is wrong with a pattern. HotSpot ignores a bad one,
// and says so where nobody looks.
func CheckPattern(pattern string) error {
	holder, method, ok := strings.Cut(pattern, "::")
	if !ok {
		holder, method, ok = cutLast(pattern, ".")
	}
	switch {
	case strings.ContainsAny(pattern, " \t\n,'\"|[]{}"):
		return fmt.Errorf("%q is not one pattern", pattern)
	case !ok || holder == "" || method == "":
		return errors.New("name a class and a method, * for any: java.util.HashMap::getNode, java.util.HashMap::*, *::getNode")
	case inner(holder) || inner(method):
		return fmt.Errorf("%q: a * can only be the first or the last letter of the class or the method", pattern)
	}
	return nil
}

// inner tells whether there is a * inside a name, which HotSpot refuses
// (MethodMatcher::parse_method_pattern).
func inner(name string) bool {
	return len(name) > 2 && strings.Contains(name[1:len(name)-1], "*")
}
