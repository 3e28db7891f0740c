package usdt

import (
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// primitives maps the letters of primitive types in descriptors to the types' names.
var primitives = map[string]string{"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long",
	"F": "float", "D": "double"}

// javaClass returns a class's name as Java writes it: java.lang.String[] for [Ljava/lang/String;.
func javaClass(internal string) string {
	element := strings.TrimLeft(internal, "[")
	if dimensions := len(internal) - len(element); 0 < dimensions && dimensions < 256 { // JVMS 4.3.2
		switch name, isPrimitive := primitives[element]; {
		case isPrimitive:
			element = name
		case strings.HasPrefix(element, "L") && strings.HasSuffix(element, ";"):
			element = element[1 : len(element)-1]
		}
		element += strings.Repeat("[]", dimensions)
	}
	return javaname.Decode(strings.ReplaceAll(element, "/", "."))
}
