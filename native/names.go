package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// longestMangled bounds the work on one name. The longest one of a libjvm.so
	// is some hundred bytes.
	longestMangled = 1 << 14
	// longestName bounds what comes out, as a power of two: a short name can
	// stand for a very long one.
	longestName = 14
)

// Demangle gives a C++ or Rust function's name as perf prints it: without
// parameters and without the marks of the compiler's clones (".cold"), but with
// template arguments. Any other name is returned as it is, and so is one that
// is demangled already.
func Demangle(name string) string { return demangled(name, demangle.NoParams) }

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

// unversioned cuts the version that linkers write to symbol tables:
// "memcpy@@GLIBC_2.14".
func unversioned(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// isPLT knows the names that samplers make for the stubs of imported
// functions: "memset@plt". They are in no symbol table.
func isPLT(name string) bool { return strings.HasSuffix(name, "@plt") }

// claimKey is the form in which names are compared. Demanglers differ in blanks
// ("> >"), and some write the clone behind the name.
func claimKey(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	return strings.ReplaceAll(unversioned(name), " ", "")
}

// A claims set knows the names of a file's dynamic symbols in the forms in
// which samplers may print them.
type claims struct {
	names map[string]bool
	known map[string]bool // claims asked for
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
