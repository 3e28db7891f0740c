package collect

import (
	"cmp"
	"debug/elf"
	"os"
	"slices"

	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/sampler"
)

// kernelMemory is the file that shows the kernel's memory as an ELF core file. Only root can read it, and some kernels
// don't have it.
const kernelMemory = "/proc/kcore"

const (
	// mostKernelPCs limits the number of addresses in the kernel that are counted. mostKernelFunctions limits the number
	// of functions whose code is read.
	mostKernelPCs, mostKernelFunctions = 1 << 14, 200
	// longestKernelFunction is an upper bound for the size of a function, in bytes. What seems to be a larger
	// function is either several functions for which kallsyms lacks symbols, or the last function before a gap.
	longestKernelFunction = 32 << 10
	// leastKernelSamples is the number of samples that a function needs for its code to be read.
	leastKernelSamples = 2
)

// A kernelFunction is a function of the kernel that has samples.
type kernelFunction struct {
	name    string
	lo, hi  uint64
	samples int
}

// countKernel counts a sample in the kernel.
func (d *drain) countKernel(pc uint64) {
	if d.kernelPCs == nil {
		d.kernelPCs = map[uint64]int{}
	}
	if d.kernelPCs[pc] > 0 || len(d.kernelPCs) < mostKernelPCs {
		d.kernelPCs[pc]++
	}
}

// KernelCode returns the code of the kernel's functions that have the most samples, as it is in memory now: the kernel
// patches its own code. It returns nil if the code can't be read. It must be called after Stop.
func (n *Native) KernelCode() []nativecode.Function {
	d := n.drain
	if d.kernel == nil || len(d.kernelPCs) == 0 {
		return nil
	}
	f, err := os.Open(kernelMemory)
	if err != nil {
		return nil
	}
	defer f.Close()
	memory, err := native.NewELF(f)
	if err != nil {
		return nil
	}
	return readKernelCode(memory, d.kernel.hottest(d.kernelPCs))
}

// hottest returns the functions with the most samples. pcs has the number of samples at each address.
func (k *kernelSymbols) hottest(pcs map[uint64]int) []kernelFunction {
	found := map[uint64]*kernelFunction{}
	for pc, n := range pcs {
		lo, hi, ok := k.rangeOf(pc)
		if !ok {
			continue
		}
		if found[lo] == nil {
			found[lo] = &kernelFunction{name: k.at(lo).symbol, lo: lo, hi: hi}
		}
		found[lo].samples += n
	}
	var all []kernelFunction
	for _, f := range found {
		if f.samples >= leastKernelSamples && f.name != "" {
			all = append(all, *f)
		}
	}
	slices.SortFunc(all, func(a, b kernelFunction) int {
		return cmp.Or(cmp.Compare(b.samples, a.samples), cmp.Compare(a.lo, b.lo))
	})
	return all[:min(len(all), mostKernelFunctions)]
}

// rangeOf returns the range of the function at an address. It ends where the next function begins. ok is false if there
// is no next function, or if it is too far away.
func (k *kernelSymbols) rangeOf(pc uint64) (lo, hi uint64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, _ := slices.BinarySearchFunc(k.symbols, pc, func(s kernelSymbol, pc uint64) int {
		if s.start <= pc {
			return -1
		}
		return 1
	})
	if i == 0 || i == len(k.symbols) {
		return 0, 0, false
	}
	lo, hi = k.symbols[i-1].start, k.symbols[i].start
	return lo, hi, hi-lo <= longestKernelFunction
}

// readKernelCode reads the code of functions from the kernel's memory. It leaves out functions whose addresses are
// not in the file.
func readKernelCode(memory *elf.File, functions []kernelFunction) []nativecode.Function {
	var all []nativecode.Function
	for _, f := range functions {
		for _, p := range memory.Progs {
			if p.Type != elf.PT_LOAD || f.lo < p.Vaddr || f.hi-p.Vaddr > p.Filesz {
				continue
			}
			code := make([]byte, f.hi-f.lo)
			if n, _ := p.ReadAt(code, int64(f.lo-p.Vaddr)); n == len(code) {
				all = append(all, nativecode.Function{Module: sampler.KernelModule, Symbol: f.name, Arch: native.ArchOf(memory),
					Lo: f.lo, Code: code})
				break
			}
		}
	}
	return all
}
