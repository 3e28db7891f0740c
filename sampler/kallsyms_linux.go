package sampler

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
)

// kernelSymbols are the functions of the kernel and its modules.
type kernelSymbols struct {
	symbols []kernelSymbol // sorted by start
	text    []byte         // all names, of which few are ever asked for
	names   map[uint32]kernelName
}

// A kernelSymbol is where a function starts, and where its name is in the text.
type kernelSymbol struct {
	start  uint64
	lo, hi uint32
}

// A kernelName is a function's name and where it is, as perf script prints both.
type kernelName struct{ symbol, module string }

// How many functions the kernels of distributions have at most, with their modules, and
// how long a name is on average, in bytes.
const usualSymbols, usualName = 1 << 18, 32

// kernelItself is what perf calls the kernel without its modules.
const kernelItself = "[kernel.kallsyms]"

// parseKallsyms reads the text of /proc/kallsyms:
//
//	ffffffff81000000 T _stext
//	ffffffff81b954cc t iowrite16
//	ffffffffc0200000 t nft_do_chain	[nf_tables]
//
// Data is left out. For a user who may not see the addresses all of them are 0, and the
// result has no symbols.
func parseKallsyms(r io.Reader) (*kernelSymbols, error) {
	// Memory that is not written takes none. To grow costs more time than to read.
	k := &kernelSymbols{
		symbols: make([]kernelSymbol, 0, usualSymbols),
		text:    make([]byte, 0, usualSymbols*usualName),
		names:   map[uint32]kernelName{},
	}
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if start, rest, ok := cutHex(line); ok && start != 0 && len(rest) > 2 && isFunction(rest[0]) {
			lo := uint32(len(k.text))
			k.text = append(k.text, bytes.TrimSuffix(rest[2:], []byte("\n"))...)
			k.symbols = append(k.symbols, kernelSymbol{start, lo, uint32(len(k.text))})
		}
		if err != nil && err != bufio.ErrBufferFull {
			byStart := func(a, b kernelSymbol) int { return cmp.Compare(a.start, b.start) }
			if !slices.IsSortedFunc(k.symbols, byStart) { // modules come in no order
				slices.SortStableFunc(k.symbols, byStart)
			}
			if err == io.EOF {
				err = nil
			}
			return k, err
		}
	}
}

// isFunction tells the types of symbols that are functions, as nm has them.
func isFunction(kind byte) bool { return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W' }

// at names the function at an address.
func (k *kernelSymbols) at(pc uint64) kernelName {
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
		symbol, module := cutWord(k.text[best.lo:best.hi])
		name = kernelName{string(symbol), kernelItself}
		if len(module) > 0 {
			name.module = string(module)
		}
		k.names[best.lo] = name
	}
	return name
}

// underscores is with how many underscores a name starts. Of several names of one
// function the one with the fewest is the one that people know.
func (k *kernelSymbols) underscores(s kernelSymbol) int {
	name := k.text[s.lo:s.hi]
	return len(name) - len(bytes.TrimLeft(name, "_"))
}
