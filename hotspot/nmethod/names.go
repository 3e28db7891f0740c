package nmethod

import (
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// externalName converts the internal name of a class to the name that HotSpot prints (Klass::external_name):
// java/lang/String becomes java.lang.String. The name of a hidden class ends with a slash and an address. HotSpot has
// names in modified UTF-8; the result is in UTF-8.
func externalName(internal string) string {
	class, address, hidden := strings.Cut(internal, "+0x")
	class = strings.ReplaceAll(javaname.Decode(class), "/", ".")
	if hidden {
		class += "/0x" + address
	}
	return class
}
