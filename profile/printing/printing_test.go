package printing

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/sampler"
)

func TestPrints(t *testing.T) {
	for _, c := range []struct {
		module, symbol string
		want           printingFunction
	}{
		{"libjvm.so", "ElfSymbolTable::lookup", alwaysPrints},
		{"libjvm.so", "xmlStream::write_text", alwaysPrints},
		{"libjvm.so", "defaultStream::hold", alwaysPrints},
		{"libjvm.so", "outputStream::print", printsInCompilers},
		{"libjvm.so", "nmethod::print_code_comment_on", printsInCompilers},
		{"libjvm.so", "RelocIterator::initialize", printsInCompilers},
		{"libjvm.dylib", "os::current_thread_id", printsInCompilers},
		{"libjvm.so", "PhaseChaitin::Split", neverPrints},
		{"libjvm.so", "printf_something", neverPrints}, // in no class
		{"libjvm.so", "", neverPrints},
		{"libc.so.6", "__vfprintf_internal", printsInCompilers},
		{"libc-2.31.so", "_IO_file_xsputn", printsInCompilers},
		{"libc.so.6", "malloc", neverPrints},
		{"libcrypto.so.3", "write", neverPrints},
		{"ld-linux-x86-64.so.2", "__tls_get_addr", printsInCompilers},
		{sampler.KernelModule, "ext4_da_write_begin", printsInCompilers},
		{sampler.KernelModule, "__do_sys_gettid", printsInCompilers},
		{sampler.KernelModule, "clear_page_erms", neverPrints},
		{sampler.KernelModule, "futex_wait", neverPrints},
	} {
		assert.Equal(t, c.want, prints(c.module, c.symbol), "%s %s", c.module, c.symbol)
	}
}
