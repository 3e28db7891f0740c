package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/fields"
)

// kernelSymbols are the functions of the kernel and its modules. Several recordings may use them at once.
//
// It takes 50 ms to read 120000 functions. Most of that time is spent in the kernel, which generates the text of
// /proc/kallsyms while it is read. Therefore only as much of the text is read as a lookup needs. The kernel's own
// functions come first, sorted by address (scripts/kallsyms.c sorts them). Functions of modules, and code that the
// kernel generated, such as BPF programs, come next and are not sorted. Kernels that also list their data
// (CONFIG_KALLSYMS_ALL) list the data after the functions.
type kernelSymbols struct {
	mu      sync.Mutex
	users   int            // guarded by recent's mutex
	file    *os.File       // nil in tests
	unread  *bufio.Reader  // the part of the text that was not read yet; nil when all of it has been read
	ordered bool           // all symbols so far are functions of the kernel itself, in the order of addresses
	symbols []kernelSymbol // sorted by start
	text    []byte         // the names of all symbols; only few of them are ever looked up
	names   map[uint32]kernelName
}

// The variable recent has the kernelSymbols that were opened last, as long as a recording uses them, or there are
// keepers, see KeepKernelSymbols.
var recent struct {
	sync.Mutex
	symbols *kernelSymbols
	opened  time.Time
	keepers int
}

// shareSymbols is how long recordings that begin share the symbols of an earlier one. Code of modules and BPF programs
// that are loaded meanwhile has the name of the function before it.
const shareSymbols = 10 * time.Minute

// KeepKernelSymbols has recordings that follow one another share the kernel's symbols. The caller must call release.
func KeepKernelSymbols() (release func()) {
	recent.Lock()
	defer recent.Unlock()
	recent.keepers++
	return sync.OnceFunc(func() {
		recent.Lock()
		defer recent.Unlock()
		if recent.keepers--; recent.keepers == 0 {
			recent.symbols.closeUnused()
		}
	})
}

// openKernelSymbols returns the symbols of this machine's kernel. They are empty if the file can't be opened. The
// caller must call release.
func openKernelSymbols() *kernelSymbols {
	recent.Lock()
	defer recent.Unlock()
	if recent.symbols == nil || time.Since(recent.opened) > shareSymbols {
		f, err := os.Open("/proc/kallsyms")
		if err != nil {
			return &kernelSymbols{} // notes says that there are no names
		}
		recent.symbols.closeUnused()
		recent.symbols, recent.opened = newKernelSymbols(f), time.Now()
		recent.symbols.file = f
	}
	recent.symbols.users++
	return recent.symbols
}

// release ends a use of the symbols.
func (k *kernelSymbols) release() {
	recent.Lock()
	defer recent.Unlock()
	k.users--
	if recent.symbols != k || recent.keepers == 0 {
		k.closeUnused()
	}
}

// closeUnused closes the file if no recording uses the symbols. Then no more symbols are read. The caller holds the
// mutex of recent.
func (k *kernelSymbols) closeUnused() {
	if k == nil || k.users > 0 {
		return
	}
	if recent.symbols == k {
		recent.symbols = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unread = nil
	k.file.Close() // does nothing if it is nil or was closed
}

// A kernelSymbol has the address at which a function begins, and the position of its name in the text.
type kernelSymbol struct {
	start  uint64
	lo, hi uint32
}

// A kernelName is a function's name and its module, as perf script prints both.
type kernelName struct{ symbol, module string }

// Estimates for the kernels of distributions, with their modules: usualSymbols is the largest number of functions, and
// usualName is the average length of their names in bytes.
const usualSymbols, usualName = 1 << 18, 32

// kernelItself is what perf calls the kernel without its modules.
const kernelItself = "[kernel.kallsyms]"

// newKernelSymbols returns the symbols in the text of /proc/kallsyms. It reads nothing yet; readFor reads from r when a
// symbol is needed. The text is:
//
//	ffffffff81000000 T _stext
//	ffffffff81b954cc t iowrite16
//	ffffffffc0200000 t nft_do_chain	[nf_tables]
//
// Data and lines that can't be parsed are skipped. If the user may not see the addresses, all addresses in the text are
// 0, and there are no symbols.
func newKernelSymbols(r io.Reader) *kernelSymbols {
	// Allocate enough for most kernels at once. Memory that is never written to costs nothing, while growing the slices
	// would take more time than reading the text.
	return &kernelSymbols{
		unread:  bufio.NewReaderSize(r, 64<<10),
		ordered: true,
		symbols: make([]kernelSymbol, 0, usualSymbols),
		text:    make([]byte, 0, usualSymbols*usualName),
		names:   map[uint32]kernelName{},
	}
}

// empty reports whether no symbol was read.
func (k *kernelSymbols) empty() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.symbols) == 0
}

// readFor reads the text up to the function that contains pc. If there is no such function, it reads all of the text.
func (k *kernelSymbols) readFor(pc uint64) {
	for k.unread != nil && !k.knows(pc) {
		line, err := k.unread.ReadSlice('\n')
		k.add(line)
		if err != nil && err != bufio.ErrBufferFull {
			k.unread = nil
			k.file.Close()                                                    // does nothing if it is nil
			k.symbols, k.text = slices.Clone(k.symbols), slices.Clone(k.text) // frees what was allocated too much
			byStart := func(a, b kernelSymbol) int { return cmp.Compare(a.start, b.start) }
			if !slices.IsSortedFunc(k.symbols, byStart) {
				slices.SortStableFunc(k.symbols, byStart)
			}
		}
	}
}

// knows reports whether the function that contains an address has already been read.
func (k *kernelSymbols) knows(pc uint64) bool {
	n := len(k.symbols)
	return k.ordered && n > 0 && k.symbols[0].start <= pc && pc < k.symbols[n-1].start
}

// add adds the symbol of a line, if the line has one.
func (k *kernelSymbols) add(line []byte) {
	start, rest, ok := fields.CutHex(line)
	if !ok || start == 0 || len(rest) <= 2 || !isFunction(rest[0]) {
		return
	}
	name := bytes.TrimSuffix(rest[2:], []byte("\n"))
	if n := len(k.symbols); n > 0 && start < k.symbols[n-1].start || bytes.HasSuffix(name, []byte("]")) {
		k.ordered = false
	}
	lo := uint32(len(k.text))
	k.text = append(k.text, name...)
	k.symbols = append(k.symbols, kernelSymbol{start, lo, uint32(len(k.text))})
}

// isFunction reports whether a symbol with this type is a function. The type is a letter, as nm prints it.
func isFunction(kind byte) bool { return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W' }

// at returns the name of the function at an address. The symbol is "" if the function is unknown.
func (k *kernelSymbols) at(pc uint64) kernelName {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readFor(pc)
	i, _ := slices.BinarySearchFunc(k.symbols, pc, func(s kernelSymbol, pc uint64) int {
		if s.start <= pc {
			return -1
		}
		return 1
	})
	if i == 0 {
		return kernelName{module: kernelItself}
	}
	best := k.symbols[i-1]
	for j := i - 2; j >= 0 && k.symbols[j].start == best.start; j-- {
		if k.underscores(k.symbols[j]) <= k.underscores(best) {
			best = k.symbols[j]
		}
	}
	name, known := k.names[best.lo]
	if !known {
		symbol, module := fields.CutWord(k.text[best.lo:best.hi])
		name = kernelName{string(symbol), kernelItself}
		if len(module) > 0 {
			name.module = string(module)
		}
		k.names[best.lo] = name
	}
	return name
}

// underscores returns the number of underscores at the start of a name. If a function has several names, gasm uses the
// name with the fewest, because it is usually the one that people know.
func (k *kernelSymbols) underscores(s kernelSymbol) int {
	name := k.text[s.lo:s.hi]
	return len(name) - len(bytes.TrimLeft(name, "_"))
}
