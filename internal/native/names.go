package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// longestMangled is the maximum length of names that are demangled, in bytes. It limits the work for a single name.
	// The longest names in libjvm.so have a few hundred bytes.
	longestMangled = 1 << 14
	// longestName limits demangled names to 1<<longestName bytes, because a short mangled name can become a very long one.
	longestName = 14
)

// Demangle returns the name of a C++ or Rust function as perf prints it. The name has template arguments, but no
// parameters, and no suffix for a part that the compiler split off (".cold"). Names that are not mangled are returned
// unchanged.
func Demangle(name string) string { return demangled(name, demangle.NoParams) }

// demangled is like Demangle, but calls the demangler with the given options instead of NoParams.
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

// unversioned removes the version that linkers append to names in symbol tables: "memcpy@@GLIBC_2.14" becomes "memcpy".
func unversioned(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// isPLT reports whether a name is that of the stub of an imported function: "memset@plt". Samplers make up these names;
// no symbol table has them.
func isPLT(name string) bool { return strings.HasSuffix(name, "@plt") }

// claimKey returns the form of a name that is used to compare it with other names. That form has no blanks, because
// demanglers put them in different places ("> >"). It has no version, and no suffix such as " [clone .cold]", because
// only some demanglers append that.
func claimKey(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	return strings.ReplaceAll(unversioned(name), " ", "")
}

// The type claims holds the names of a file's dynamic symbols, in all forms in which samplers may print them. It is for
// checking claims: the names that samplers give to addresses.
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

// has reports whether a sampler's claim is the name of one of the symbols.
func (c *claims) has(claim string) bool {
	is, ok := c.known[claim]
	if !ok {
		is = c.names[claimKey(claim)] || c.names[claimKey(Demangle(claim))]
		c.known[strings.Clone(claim)] = is
	}
	return is
}
