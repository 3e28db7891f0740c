package sampler

import (
	"slices"
	"strings"
)

// kernelStart is where the kernel's half of the address space starts, on amd64
// and arm64 alike.
const kernelStart = 0xffff_8000_0000_0000

// An event is what perf's spelling of an event means.
type event struct {
	name     string // without PMU and modifiers
	userOnly bool   // the kernel is left out: u without k
}

// parseEvent takes an event as perf prints it, without the colon that ends it:
// "cycles:Pu", "cpu_core/cycles/u", "sched:sched_switch". The name is never
// empty when the text is not.
func parseEvent(text string) event {
	name, modifiers := text, ""
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		// pmu/terms/modifiers; a group is in braces, and not printed per sample.
		first := strings.IndexByte(text, '/')
		if first+1 < i && (i+1 == len(text) || isModifiers(text[i+1:])) {
			name, modifiers = text[first+1:i], text[i+1:]
		}
	} else if i := strings.LastIndexByte(text, ':'); i > 0 && isModifiers(text[i+1:]) {
		name, modifiers = text[:i], text[i+1:]
	}
	return event{
		name:     name,
		userOnly: strings.Contains(modifiers, "u") && !strings.Contains(modifiers, "k"),
	}
}

// EventName is the bare name, as in [Sample.Event], of an event as a user names
// it: "cycles" for "cycles:P".
func EventName(spec string) string { return parseEvent(spec).name }

// isModifiers tells modifiers ("u", "Pu", "ppp", "uH") from the name of a
// tracepoint ("sched_switch", "hub_up"). Only p is given more than once.
func isModifiers(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !strings.ContainsRune("ukhpPGHSDIWebRX", rune(c)) {
			return false
		}
		if c != 'p' && strings.IndexByte(text[i+1:], c) >= 0 {
			return false
		}
	}
	return text != "" && strings.Count(text, "p") <= 3
}

// parseSymbol returns the function's name, "" for [unknown]. Some field lists
// give an offset ("memcpy+0x1f"): it is cut.
func parseSymbol(text string) string {
	if text == "[unknown]" {
		return ""
	}
	i := strings.LastIndex(text, "+0x")
	if i <= 0 || i+3 == len(text) {
		return text
	}
	for _, c := range []byte(text[i+3:]) {
		if !isHex(c) {
			return text
		}
	}
	return text[:i]
}

// A module is what perf's name of a mapping means.
type module struct {
	name string // as in Sample.Module
	user bool   // not the kernel, whatever the PC
}

// at returns the Sample.Module of a PC in the module. The kernel's own image
// and modules may stand with their file, a BPF program with its name: the PC
// decides.
func (m module) at(pc uint64) string {
	if pc >= kernelStart && !m.user {
		return KernelModule
	}
	return m.name
}

// userPages are the pages that the kernel maps into a process for it to run.
// [vsyscall] lies in the kernel's half of the address space.
var userPages = []string{"[vdso]", "[vdso32]", "[vdsox32]", "[vsyscall]", "[vvar]", "[vectors]", "[uprobes]"}

// memory starts the names of mappings that are not a file's: what the kernel
// names so, shared memory, and huge pages.
var memory = []string{"//anon", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:", "anon_inode:", "[anon"}

// parseModule takes the mapping as perf prints it, without the parentheses.
func parseModule(text string) module {
	path := strings.TrimSuffix(text, " (deleted)")
	switch {
	case slices.Contains(userPages, path):
		return module{name: path, user: true}
	case path == "[heap]" || strings.HasPrefix(path, "[stack"):
		return module{user: true}
	case path == "[unknown]":
		return module{}
	case slices.ContainsFunc(memory, func(start string) bool { return strings.HasPrefix(path, start) }):
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

// isPerfMap knows perf-24997.map, which perf puts in place of anonymous memory.
func isPerfMap(base string) bool {
	pid, ok := strings.CutPrefix(base, "perf-")
	if !ok {
		return false
	}
	pid, ok = strings.CutSuffix(pid, ".map")
	return ok && isDigits(pid)
}

// isJitDump knows jitted-24997-12.so, which `perf inject --jit` puts in place of
// a JIT's method. Its addresses are those of the method.
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
