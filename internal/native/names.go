package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// longestMangled bounds the work on one name, in bytes. The longest ones of a libjvm.so
	// have some hundred.
	longestMangled = 1 << 14
	// longestName bounds the length of a demangled name, as a power of two. A short mangled
	// name can stand for a very long one.
	longestName = 14
)

// Demangle gives the name of a C++ or Rust function as perf prints it: without
// parameters and without the suffix of a part that the compiler split off (".cold"), but
// with template arguments. All other names come back as they are, also those that are
// demangled already.
func Demangle(name string) string { return demangled(name, demangle.NoParams) }

// demangled is Demangle with options of the demangler.
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

// unversioned cuts the version off a name: linkers write "memcpy@@GLIBC_2.14" to symbol
// tables.
func unversioned(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// isPLT tells the names that samplers make for the stubs of imported functions:
// "memset@plt". No symbol table has them.
func isPLT(name string) bool { return strings.HasSuffix(name, "@plt") }

// claimKey gives the form of a name in which names are compared. Demanglers differ in
// blanks ("> >"), and some write " [clone .cold]" behind a name.
func claimKey(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	return strings.ReplaceAll(unversioned(name), " ", "")
}

// A claims is the names of a file's dynamic symbols, in the forms in which samplers may
// print them.
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

// has tells whether the claim is the name of one of the symbols.
func (c *claims) has(claim string) bool {
	is, ok := c.known[claim]
	if !ok {
		is = c.names[claimKey(claim)] || c.names[claimKey(Demangle(claim))]
		c.known[strings.Clone(claim)] = is
	}
	return is
}
