package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// longestMangled limits the work for one name, in bytes; a longer name is not demangled. The longest names of a
	// libjvm.so have some hundred bytes.
	longestMangled = 1 << 14
	// longestName limits the length of a demangled name, as a power of two. A short mangled name can stand for a very
	// long one.
	longestName = 14
)

// Demangle returns the name of a C++ or Rust function as perf prints it: without parameters and without the suffix of a
// part that the compiler split off (".cold"), but with template arguments. It returns all other names unchanged,
// including names that are not mangled.
func Demangle(name string) string { return demangled(name, demangle.NoParams) }

// demangled is Demangle with options for the demangler.
func demangled(name string, options ...demangle.Option) string {
	if len(name) < 3 || name[0] != '_' || len(name) > longestMangled {
		return name
	}
	mangled := name
	if strings.HasPrefix(name, "__Z") || strings.HasPrefix(name, "__R") {
		mangled = name[1:] // Mach-O's own underscore
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

// isPLT reports whether a name is one that samplers make for the stub of an imported function: "memset@plt". Such names
// are in no symbol table.
func isPLT(name string) bool { return strings.HasSuffix(name, "@plt") }

// claimKey returns the form of a name that is used to compare names. Demanglers differ in blanks ("> >"), and some
// append " [clone .cold]" to a name.
func claimKey(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	return strings.ReplaceAll(unversioned(name), " ", "")
}

// A claims has the names of a file's dynamic symbols, in the forms in which samplers may print them.
type claims struct {
	names map[string]bool // by claimKey
	known map[string]bool // answers of has
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
