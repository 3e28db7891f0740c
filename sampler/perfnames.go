package sampler

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/fields"
)

// KernelStart is where the kernel's half of the address space begins, on amd64 and on arm64.
const KernelStart = 0xffff_8000_0000_0000

// parseSymbol returns the function's name, or "" for [unknown]. perf prints an offset after the name if it was asked
// for certain fields ("memcpy+0x1f"). The offset is cut off.
func parseSymbol(text string) string {
	if text == "[unknown]" {
		return ""
	}
	i := strings.LastIndex(text, "+0x")
	if i <= 0 || i+3 == len(text) {
		return text
	}
	for _, c := range []byte(text[i+3:]) {
		if !fields.IsHex(c) {
			return text
		}
	}
	return text[:i]
}

// A module is what parseModule finds out from the name that perf prints for a mapping.
type module struct {
	name string // the value of Sample.Module
	user bool   // the module is not the kernel, whatever the PC is
}

// at returns the Sample.Module for an address in the module. The address decides whether the module is the kernel,
// because for code in the kernel perf may print a file (/lib/modules/…/ext4.ko) or the name of a BPF program
// (bpf_prog_…).
func (m module) at(pc uint64) string {
	if pc >= KernelStart && !m.user {
		return KernelModule
	}
	return m.name
}

// Vsyscall is the page with the functions that old programs call to get the time.
const Vsyscall = "[vsyscall]"

// userPages are the pages of code or data that the kernel maps into a process. They count as user space, even
// [vsyscall], which lies in the kernel's half of the address space.
var userPages = []string{"[vdso]", "[vdso32]", "[vdsox32]", Vsyscall, "[vvar]", "[vectors]", "[uprobes]"}

// anonymousPrefixes begin the names of mappings without a file: anonymous memory, huge pages, and
// shared memory.
var anonymousPrefixes = []string{"//anon", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:", "anon_inode:", "[anon"}

// parseModule parses a mapping as perf prints it, without the parentheses.
func parseModule(text string) module {
	path := strings.TrimSuffix(text, " (deleted)")
	switch {
	case slices.Contains(userPages, path):
		return module{name: path, user: true}
	case path == "[heap]" || strings.HasPrefix(path, "[stack"):
		return module{user: true}
	case path == "[unknown]":
		return module{}
	case slices.ContainsFunc(anonymousPrefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) }):
		return module{}
	case strings.HasPrefix(path, "["): // [kernel.kallsyms], [guest.kernel.kallsyms.7], [nf_tables]
		return module{name: KernelModule}
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if isPerfMap(base) || isJitDump(base) {
		base = ""
	}
	return module{name: base}
}

// isPerfMap reports whether a name is like perf-24997.map, which perf prints in place of anonymous
// memory.
func isPerfMap(base string) bool {
	pid, ok := strings.CutPrefix(base, "perf-")
	if !ok {
		return false
	}
	pid, ok = strings.CutSuffix(pid, ".map")
	return ok && isDigits(pid)
}

// isJitDump reports whether a name is like jitted-24997-12.so. `perf inject --jit` writes such a file for each method
// that a JIT compiled, and puts its name in place of the code cache. The addresses remain those in memory.
func isJitDump(base string) bool {
	ids, ok := strings.CutPrefix(base, "jitted-")
	if !ok {
		return false
	}
	ids, ok = strings.CutSuffix(ids, ".so")
	pid, index, dash := strings.Cut(ids, "-")
	return ok && dash && isDigits(pid) && isDigits(index)
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
