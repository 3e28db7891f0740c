package nmethod

import (
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// externalName writes the name of a class as HotSpot prints it (Klass::external_name):
// java/lang/String is java.lang.String, and the address of a hidden class stands behind
// a slash. HotSpot has and prints the name in modified UTF-8; here it is in UTF-8.
func externalName(internal string) string {
	class, address, hidden := strings.Cut(internal, "+0x")
	class = strings.ReplaceAll(javaname.Decode(class), "/", ".")
	if hidden {
		class += "/0x" + address
	}
	return class
}
