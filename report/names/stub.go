package names

import (
	"fmt"
	"strings"
)

// Dispatch returns an explanation of the stub with this name, such as "itbl[2]" or "vtbl[5]". HotSpot uses such stubs
// for calls that a compiler has left virtual. It returns "" for any other name.
func Dispatch(name string) string {
	kind, number, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	switch kind {
	case "itbl":
		return fmt.Sprintf("calls of an interface's method that are neither inlined nor bound to one receiver get to their "+
			"method here: the code searches the receiver's class for the interface, one interface after the other, and jumps "+
			"to the interface's method %s (its callers say which interface); the more interfaces a class has before that one, "+
			"the longer it takes", number)
	case "vtbl":
		return fmt.Sprintf("virtual calls that are neither inlined nor bound to one receiver get to their method here: the "+
			"code loads the receiver's class, and jumps to entry %s of that class's table (its callers say which method); its "+
			"samples are mostly those of waiting for the class to come from memory", number)
	}
	return ""
}
