package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// longestMangled limits the work for one name: a name with more bytes is not demangled. The longest names of a
	// libjvm.so have a few hundred bytes.
	longestMangled = 1 << 14
	// longestName limits the length of a demangled name to 1<<longestName bytes, because a short mangled name can stand
	// for a very long one.
	longestName = 14
)

// Demangle returns the name of a C++ or Rust function as perf prints it: without parameters and without the suffix of a
// part that the compiler split off (".cold"), but with template arguments. It returns all other names unchanged,
// including names that are not mangled.
func Demangle(name string) string { return demangled(name, demangle.NoParams) }

// demangled is like Demangle, but with the given options for the demangler instead of NoParams.
func demangled(name string, options ...demangle.Option) string {
	if len(name) < 3 || name[0] != '_' || len(name) > longestMangled {
		return name
	}
	mangled := name
	if strings.HasPrefix(name, "__Z") || strings.HasPrefix(name, "__R") {
		mangled = name[1:] // Mach-O puts an underscore before each name
	}
	text, err := demangle.ToString(mangled, append(options, demangle.MaxLength(longestName))...)
	if err != nil {
		return name
	}
	return text
}

// unversioned removes the version from a name: linkers write "memcpy@@GLIBC_2.14" to symbol tables.
func unversioned(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// isPLT reports whether a name has the form that samplers make up for the stub of an imported function: "memset@plt".
// No symbol table has such names.
func isPLT(name string) bool { return strings.HasSuffix(name, "@plt") }

// claimKey returns a name without blanks, version and " [clone .cold]". Two names are compared by these keys, because
// demanglers differ in blanks ("> >"), and some append the clone.
func claimKey(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	return strings.ReplaceAll(unversioned(name), " ", "")
}

// A claims has the names of a file's dynamic symbols, in each form in which a sampler may print them.
type claims struct {
	names map[string]bool // by claimKey
	known map[string]bool // results of has, by claim
}

func newClaims(symbols []string) *claims {
	c := &claims{names: make(map[string]bool, len(symbols)), known: map[string]bool{}}
	for _, name := range symbols {
		name = unversioned(name)
		c.names[claimKey(name)] = true
		if strings.HasPrefix(name, "_") {
			c.names[claimKey(Demangle(name))] = true
			c.names[claimKey(demangled(name))] = true
		}
	}
	return c
}

// has reports whether the claim is the name of one of the symbols.
func (c *claims) has(claim string) bool {
	is, ok := c.known[claim]
	if !ok {
		is = c.names[claimKey(claim)] || c.names[claimKey(Demangle(claim))]
		c.known[strings.Clone(claim)] = is
	}
	return is
}
