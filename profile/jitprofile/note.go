package jitprofile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A Note is what HotSpot's profile says about one instruction.
type Note struct {
	Method string // the method whose bytecode the note is about
	*printassembly.ProfileSite
	// AllCallers is true if the method has several callers in the known code. Then the profile is a mix of all of them.
	AllCallers bool
	// Inlined are the methods that were inlined at a call. Dispatched is true if the code has a call that looks up the
	// method of the receiver's class. Direct is true if the code has a call that always calls the same method.
	Inlined            []string
	Dispatched, Direct bool
	// Callee is the name of the method that is called, without its class. It is "" if it is unknown.
	Callee string
}

// Total returns how often the bytecode was counted.
func (n *Note) Total() int64 {
	sum := n.Taken + n.NotTaken + n.Others
	for _, t := range n.Types {
		sum += t.Count
	}
	return sum
}

// String returns the note as a comment. Examples:
//
//	receivers while profiled: Circle 50 %, Square 30 %, others 20 %: not inlined
//	receivers of legs while profiled (all callers): Cat 75 %, Bird 25 %: Cat::legs, Bird::legs inlined
//	ifne taken 90 % while profiled
//	classes while profiled: Circle 80 %, Triangle 20 %
func (n *Note) String() string {
	when := " while profiled"
	if n.AllCallers {
		when += " (all callers)"
	}
	switch {
	case n.IsBranch():
		return n.Bytecode + " " + n.taken() + when
	case n.IsCall() && !n.Dispatched && !n.Direct && n.Callee != "": // no call instruction names the callee
		return "receivers of " + n.Callee + when + ": " + n.types() + n.outcome()
	case n.IsCall():
		return "receivers" + when + ": " + n.types() + n.outcome()
	}
	return "classes" + when + ": " + n.types()
}

// Seen says which classes a call's receivers had: "receivers while profiled: Circle 50 %, Square 30 %, others 20 %".
func (n *Note) Seen() string {
	when := " while profiled"
	if n.AllCallers {
		when += " (all callers)"
	}
	return "receivers" + when + ": " + n.types()
}

// Place returns the place of the bytecode: "pkg.Class::method:21 (bci 14)".
func (n *Note) Place() string {
	return fmt.Sprintf("%s (bci %d)", strings.TrimSuffix(n.Method+":"+strconv.Itoa(n.Line), ":0"), n.BCI)
}

// taken says how often a branch was taken.
func (n *Note) taken() string {
	switch {
	case n.Taken == 0:
		return "never taken"
	case n.NotTaken == 0:
		return "always taken"
	}
	return "taken " + percent(n.Taken, n.Taken+n.NotTaken)
}

// types lists the classes with their shares. If checks failed, it lists the classes without shares, because it is not
// known whether the counts include the objects that failed a check.
func (n *Note) types() string {
	var parts []string
	names := classNames(n.Types)
	for i, t := range n.Types {
		if n.Failed > 0 {
			parts = append(parts, names[i])
			continue
		}
		parts = append(parts, names[i]+" "+percent(t.Count, n.Total()))
	}
	if n.Others > 0 {
		parts = append(parts, "others "+percent(n.Others, n.Total()))
	}
	text := strings.Join(parts, ", ")
	switch {
	case n.Failed > 0:
		text += "; some failed the check"
	case n.More:
		text += " of those counted"
	}
	return text
}

// outcome says whether C2 has inlined a call, or returns "" if the code does not show it.
func (n *Note) outcome() string {
	remains := n.Dispatched || n.Direct
	switch {
	case len(n.Inlined) == 0 && n.Dispatched:
		return ": not inlined"
	case len(n.Inlined) == 0 && n.Direct:
		return ": a direct call, not inlined"
	case len(n.Inlined) == 0:
		return ""
	case remains:
		return ": " + methodNames(n.Inlined) + " inlined, a call for the rest"
	case len(n.Types) == 1 && n.Others == 0:
		return ": inlined"
	}
	return ": " + methodNames(n.Inlined) + " inlined"
}

// percent returns a share in whole percents. It is 0 % or 100 % only if it is exactly that.
func percent(part, whole int64) string {
	share := 100 * float64(part) / float64(max(whole, 1))
	switch {
	case part > 0 && share < 0.5:
		return "<1 %"
	case part < whole && share >= 99.5:
		return ">99 %"
	}
	return strconv.Itoa(int(share+0.5)) + " %"
}

// methodNames lists methods without their packages.
func methodNames(methods []string) string {
	var names []string
	for _, m := range methods {
		names = append(names, ShortMethod(m))
	}
	return strings.Join(names, ", ")
}

// ShortMethod returns the name of a method without its package: "HashMap::get".
func ShortMethod(name string) string {
	class, method, _ := strings.Cut(name, "::")
	return shortClass(class) + "::" + method
}

// classNames returns the names of classes without their packages, unless two of them would then be the same.
func classNames(types []printassembly.ProfileType) []string {
	short := make([]string, len(types))
	for i, t := range types {
		short[i] = shortClass(t.Class)
	}
	names := slices.Clone(short)
	for i, t := range types {
		if same := func(name string) bool { return name == short[i] }; slices.ContainsFunc(short[i+1:], same) ||
			slices.ContainsFunc(short[:i], same) {
			names[i] = t.Class
		}
	}
	return names
}

// primitives are the element types of arrays, by the letters in the names of their classes.
var primitives = map[string]string{"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short",
	"I": "int", "J": "long"}

// shortClass returns the name of a class without its package. Of the address of a hidden class, it keeps four digits.
//
//	java.util.HashMap$Node                HashMap$Node
//	[Ljava.lang.String;                   String[]
//	org.acme.Svc$$Lambda/0x00007f5a1c0    Svc$$Lambda/…a1c0
func shortClass(class string) string {
	element := strings.TrimLeft(class, "[")
	dimensions := len(class) - len(element)
	if dimensions > 0 {
		if name, ok := primitives[element]; ok {
			element = name
		} else {
			element = strings.TrimSuffix(strings.TrimPrefix(element, "L"), ";")
		}
	}
	element, address, hidden := strings.Cut(element, "/")
	element = element[strings.LastIndexByte(element, '.')+1:]
	if hidden {
		element += "/…" + address[max(0, len(address)-4):]
	}
	return element + strings.Repeat("[]", dimensions)
}
