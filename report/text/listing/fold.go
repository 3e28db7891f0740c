package listing

import (
	"fmt"
	"path"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A fold shortens the inlining chains of a listing. For each chain, it writes only what differs from the previous
// chain.
type fold struct {
	ellipsis string
	last     []printassembly.Frame // the previous line's chain
	line     int                   // the last line number written for the chain's innermost frame; 0 if none
	file     string                // the last file written; only for native code
	guess    printassembly.Guess   // how certain that line number is
	named    map[string]bool       // methods whose names were written with the package
	chains   map[string]bool       // chains that were written before, by chainKey
}

// newFold returns the fold of a new listing. It treats the name of the compiled method as already written, because the
// heading of the listing has it.
func newFold(method, ellipsis string) *fold {
	return &fold{ellipsis: ellipsis, last: []printassembly.Frame{{Method: method}},
		named: map[string]bool{method: true}, chains: map[string]bool{method: true}}
}

// enter goes on to the next instruction. It returns the text about the methods in the instruction's chain, or "" if
// the previous instruction has the same methods. The result known is true if the same chain was written before; then
// the text has only the innermost method.
func (f *fold) enter(chain []printassembly.Frame) (text string, known bool) {
	if len(chain) == 0 {
		return "", false // no debug info
	}
	defer func() { f.last = chain }()
	if len(f.last) > 0 && chain[0].Name() == f.last[0].Name() && sameCallers(chain[1:], f.last[1:]) {
		return "", false
	}
	f.line = 0
	key := chainKey(chain)
	if f.chains[key] {
		return f.name(chain[0]), true
	}
	f.chains[key] = true
	differing := chain[:len(chain)-f.common(chain)]
	parts := []string{f.name(differing[0])}
	for _, caller := range differing[1:] {
		parts = append(parts, f.name(caller)+lineNumber(caller))
	}
	if len(differing) < len(chain) {
		parts = append(parts, f.ellipsis)
	}
	return strings.Join(parts, " in "), false
}

// newLine reports whether the line of an innermost frame differs from the last one. It remembers the line for the next
// call.
func (f *fold) newLine(inner printassembly.Frame) bool {
	if inner.Line == f.line && inner.Guess == f.guess && (inner.File == "" || inner.File == f.file) {
		return false
	}
	f.line, f.guess = inner.Line, inner.Guess
	return true
}

// newFile returns the name of the file of native code if it differs from the last one, and remembers it for the next
// call. Otherwise, and for Java, it returns "".
func (f *fold) newFile(inner printassembly.Frame) string {
	if inner.File == "" || inner.File == f.file {
		return ""
	}
	f.file = inner.File
	return path.Base(inner.File)
}

// common returns the number of callers that a chain shares with the previous chain, counted from the outermost caller.
// The innermost frame does not count.
func (f *fold) common(chain []printassembly.Frame) int {
	n := 0
	for n < len(chain)-1 && n < len(f.last)-1 && sameCaller(chain[len(chain)-1-n], f.last[len(f.last)-1-n]) {
		n++
	}
	return n
}

// sameCaller reports whether two frames are the same place in the same method.
func sameCaller(a, b printassembly.Frame) bool { return a == b }

// sameCallers reports whether two lists of frames are equal.
func sameCallers(a, b []printassembly.Frame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameCaller(a[i], b[i]) {
			return false
		}
	}
	return true
}

// chainKey returns a text that identifies a chain. It does not depend on the bci and the line in the innermost method.
func chainKey(chain []printassembly.Frame) string {
	var b strings.Builder
	b.WriteString(chain[0].Name())
	for _, caller := range chain[1:] {
		fmt.Fprintf(&b, " %s@%d", caller.Name(), caller.BCI)
		if caller.File != "" { // native code has lines instead
			fmt.Fprintf(&b, ":%d", caller.Line)
		}
	}
	return b.String()
}

// name returns the name of a frame's method. The first time, this is the whole name. Later it is the name without the
// package.
func (f *fold) name(of printassembly.Frame) string {
	method := of.Method
	if !f.named[method] {
		f.named[method] = true
		return of.Name()
	}
	class, name, found := strings.Cut(method, "::")
	if !found {
		return of.Name()
	}
	hidden := ""
	if i := strings.IndexByte(class, '/'); i > 0 { // Spread$$Lambda/0x000000003a043920
		const kept = 4 // how many digits of a hidden class's address remain, to distinguish it from others
		class, hidden = class[:i], "/"+f.ellipsis+class[max(i+1, len(class)-kept):]
	}
	of.Method = class[strings.LastIndexByte(class, '.')+1:] + hidden + "::" + name
	return of.Name()
}
