// Package printing finds the samples that were taken while HotSpot printed code for gasm. HotSpot only prints code when
// gasm has asked for it. Printing is not the program's work, so these samples do not appear in the tables of a profile.
// They are counted in a row of their own in the profile's account, the table that says where each sample went.
//
// A compiler's thread prints a method after it has compiled it. Because samples have no stacks, printing is recognized
// by the sample's function. Some functions are also called for other work. Those only count as printing in the threads
// of compilers. This approach was compared with stacks from perf's DWARF unwinding, for javac under JDK 17 and 25. It
// finds 93 and 95 % of the samples below nmethod::print. 2 % of the samples that it finds are not below nmethod::print,
// mostly because their stacks are cut short. The samples that it misses are in functions that compilers call as well:
// memcpy, malloc, the kernel's scheduler.
package printing

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/sampler"
)

// textClasses are the classes of libjvm that only write text. Some (Elf…, Decoder) look up the name of a call's
// target for the printed code.
var textClasses = setOf("AbstractDisassembler", "AsmRemarks", "CodeComments", "CodeStrings", "DbgStrings",
	"Decoder", "DecoderLocker", "Disassembler", "DwarfFile", "ElfDecoder", "ElfFile", "ElfFuncDescTable", "ElfStringTable",
	"ElfSymbolTable", "FileReader", "MarkedFileReader", "NullDecoder", "decode_env",
	"defaultStream", "fdStream", "fileStream", "ttyLocker", "ttyUnlocker", "xmlStream", "xmlTextStream")

// readClasses are the classes of libjvm that format the printed text and read the compiled code. Compilers use other
// classes to write code, so in their threads these classes mean printing. Threads that are not compilers use them for
// other work.
var readClasses = setOf("bufferedStream", "outputStream", "stringStream", "ImmutableOopMap", "ImmutableOopMapPair",
	"ImmutableOopMapSet", "ImplicitExceptionTable", "OopMapStream", "PcDesc", "PcDescContainer", "RelocIterator",
	"ScopeDesc", "ThreadLocalStorage", "VMError")

// textFunctions are the prefixes of the names of libjvm's functions that print. They are compared with the name after
// the class: "print" matches "nmethod::print_nmethod" and "Symbol::print_value_on".
var textFunctions = []string{"print", "oop_print", "decode", "dump_", "nmethod_section_label", "reloc_string_for",
	"has_code_comment",
	"scope_desc_in", "find_blob", "as_klass_external_name", "as_quoted_ascii", "line_number_from_bci", "current_thread_id",
	"vsnprintf"}

// libraryFunctions are the functions of libc and the loader that HotSpot calls when it prints code, by the beginnings
// of their names. Threads of the JIT compilers hardly ever call them for anything else. Most of these functions format
// or write text. The others are dladdr and gettid, which HotSpot calls for each piece of text (defaultStream::hold).
var libraryFunctions = []string{"_IO_", "__GI__IO_", "__vfprintf", "vfprintf", "printf", "__printf", "__vsnprintf",
	"___vsnprintf", "vsnprintf",
	"_itoa_word", "read_int", "__strchr", "strchr", "write", "__write", "__libc_write", "__GI___libc_write",
	"new_do_write", "fwrite", "__fwrite",
	"fflush", "__overflow", "syscall", "gettid", "_dl_addr", "dladdr", "_dl_find_dso", "__tls_get_addr"}

// kernelFunctions are the prefixes of the names of functions in the kernel that run during a write to a file or
// during gettid.
var kernelFunctions = []string{
	"do_syscall_64", "x64_sys_call", "entry_SYSCALL_64", "syscall_exit_to_user_mode", "el0_svc", "invoke_syscall",
	"__do_sys_gettid", "__x64_sys_gettid", "__arm64_sys_gettid", "__task_pid_nr_ns", "__rcu_read_",
	"vfs_write", "ksys_write", "__x64_sys_write", "__arm64_sys_write", "new_sync_write", "rw_verify_area",
	"security_file_permission", "bpf_lsm_file_permission",
	"fdget", "__fdget", "fput", "__f_unlock_pos", "mutex_lock", "mutex_unlock", "down_write", "up_write",
	"ext4_", "__ext4_", "jbd2_", "xfs_", "btrfs_", "ovl_", "shmem_", "simple_write_", "iomap_", "block_write",
	"__block_write", "block_commit_write",
	"generic_perform_write", "generic_write_check", "generic_file_", "__generic_file_", "copy_folio_from_iter",
	"copy_page_from_iter", "fault_in_",
	"file_update_time", "file_modified", "file_remove_privs", "inode_needs_update", "inode_to_bdi", "current_time",
	"ktime_get_coarse",
	"balance_dirty_pages", "node_dirty_ok", "mark_buffer_dirty", "alloc_buffer_head", "create_empty_buffers", "__fsnotify",
	"fsnotify",
	"__filemap_get_folio", "__filemap_add_folio", "filemap_add_folio", "filemap_get_entry", "pagecache_get_page", "folio_",
	"xas_"}

// setOf returns a set of words.
func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// A printingFunction says in which threads a function prints code.
type printingFunction byte

const (
	neverPrints printingFunction = iota
	// printsInCompilers is for a function that is also called for other work, by other threads. Samples in this
	// function count as printing if they are in a compiler's thread.
	printsInCompilers
	alwaysPrints
)

// A Finder finds the samples that were taken while HotSpot printed code for gasm.
type Finder struct {
	known map[function]printingFunction
}

// A function is identified by its name (symbol) and by its module, which is a file or the kernel.
type function struct{ module, symbol string }

// maxKnown is the maximum number of functions that a Finder remembers. A libjvm.so has about 60,000 symbols.
const maxKnown = 1 << 17

// NewFinder returns a Finder, or nil if HotSpot printed no code. code is the value of [capture.Description].Code.
func NewFinder(code string) *Finder {
	if code != capture.CodePrinted && code != capture.CodeMixed {
		return nil
	}
	return &Finder{map[function]printingFunction{}}
}

// Has reports whether a sample was taken while its thread printed code. kind is the kind of the thread. A nil Finder
// finds no such sample.
func (p *Finder) Has(s *sampler.Sample, kind string) bool {
	if p == nil || s.Symbol == "" {
		return false
	}
	f := function{s.Module, s.Symbol}
	printing, ok := p.known[f]
	if !ok {
		printing = prints(f.module, f.symbol)
		if len(p.known) < maxKnown {
			p.known[f] = printing
		}
	}
	return printing == alwaysPrints || printing == printsInCompilers && kind == threads.Compilers
}

// prints returns the threads in which a function of a module prints code, judging by the names alone.
func prints(module, symbol string) printingFunction {
	inCompilers := false
	switch {
	case module == sampler.KernelModule:
		inCompilers = beginsWith(symbol, kernelFunctions)
	case strings.HasPrefix(module, "libjvm."):
		class, name, ok := strings.Cut(symbol, "::")
		if textClasses[class] {
			return alwaysPrints
		}
		inCompilers = ok && (readClasses[class] || beginsWith(name, textFunctions))
	case strings.HasPrefix(module, "libc.") || strings.HasPrefix(module, "libc-") || strings.HasPrefix(module, "ld-linux"):
		inCompilers = beginsWith(symbol, libraryFunctions)
	}
	if inCompilers {
		return printsInCompilers
	}
	return neverPrints
}

func beginsWith(name string, starts []string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(name, start) })
}
