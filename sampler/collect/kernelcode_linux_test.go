package collect

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// coreFile returns an ELF core file with memory at an address, in the form of /proc/kcore.
func coreFile(t *testing.T, addr uint64, memory []byte) *elf.File {
	t.Helper()
	const headers = 64 + 56
	var b bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_CORE), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64,
		Phentsize: 56, Phnum: 1}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	require.NoError(t, binary.Write(&b, binary.LittleEndian, h))
	require.NoError(t, binary.Write(&b, binary.LittleEndian,
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: 7, Off: headers, Vaddr: addr,
			Filesz: uint64(len(memory)), Memsz: uint64(len(memory))}))
	b.Write(memory)
	f, err := native.NewELF(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	return f
}

// TestKernelCode checks that the code of sampled functions is read from the addresses that kallsyms has.
func TestKernelCode(t *testing.T) {
	const base = 0xffffffff81000000
	names := newKernelSymbols(strings.NewReader(`ffffffff81000000 T first
ffffffff81000010 T __copy
ffffffff81000010 T copy
ffffffff81000030 t cold
ffffffff81000040 t far
ffffffff81100000 t beyond
`))
	memory := make([]byte, 0x80)
	for i := range memory {
		memory[i] = byte(i)
	}
	pcs := map[uint64]int{base + 1: 2, base + 0x12: 3, base + 0x2f: 4, base + 0x30: 1, base + 0x41: 9, base + 0x100000: 5}
	for pc := range pcs {
		names.at(pc) // gasm also does this when it writes the samples' text
	}
	hottest := names.hottest(pcs)
	assert.Equal(t, []kernelFunction{{"copy", base + 0x10, base + 0x30, 7}, {"first", base, base + 0x10, 2}}, hottest)
	code := readKernelCode(coreFile(t, base, memory), append(hottest,
		kernelFunction{"outside", base + 0x70, base + 0x90, 2}))
	assert.Equal(t, []nativecode.Function{
		{Module: "kernel", Symbol: "copy", Arch: disasm.AMD64, Lo: base + 0x10, Code: memory[0x10:0x30]},
		{Module: "kernel", Symbol: "first", Arch: disasm.AMD64, Lo: base, Code: memory[:0x10]}}, code)
}
