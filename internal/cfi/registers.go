package cfi

import (
	"debug/elf"
	"encoding/binary"
)

// Registers has the registers of a thread in one of its stack frames, by their DWARF numbers. On x86-64, 0 is rax, 1
// rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, and 8 to 15 are r8 to r15. On aarch64, 0 to 30 are x0 to x30, and 31
// is sp.
type Registers struct {
	PC     uint64
	Values [32]uint64
	Known  uint32 // bit n is set if Values[n] is known
}

// Set sets the value of a register, whose number is below 32.
func (r *Registers) Set(number int, value uint64) {
	r.Values[number&31] = value
	r.Known |= 1 << (number & 31)
}

// Get returns the value of a register, whose number is below 32, and whether it is known.
func (r *Registers) Get(number int) (value uint64, known bool) {
	return r.Values[number&31], r.Known>>(number&31)&1 != 0
}

// Memory is a copy of a thread's stack, from the stack pointer of its innermost frame upwards.
type Memory struct {
	Base uint64 // the address of the first byte
	Data []byte
}

// Word returns the 8 bytes at an address as a number, if all of them are in the copy.
func (m Memory) Word(addr uint64) (word uint64, ok bool) {
	at := addr - m.Base
	if addr < m.Base || uint64(len(m.Data)) < 8 || at > uint64(len(m.Data)-8) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(m.Data[at:]), true
}

// read does the same as Word, but says why it fails: Wrong if the word is below the copy, Cut if it is beyond the
// copy's end.
func (m Memory) read(addr uint64) (uint64, Result) {
	word, ok := m.Word(addr)
	switch {
	case ok:
		return word, Caller
	case addr < m.Base:
		return 0, Wrong
	}
	return 0, Cut
}

// An arch is what this package knows about an instruction set.
type arch struct {
	sp byte // the number of the stack pointer
	// general is the number of registers in Registers. pc is the number that the program counter has in expressions.
	general, pc byte
	// preserved has the callee-saved registers: bit n for register n.
	preserved uint32
}

var arches = map[elf.Machine]*arch{
	// The callee-saved registers are rbx, rbp and r12 to r15, according to the System V ABI for AMD64, figure 3.4.
	// Figure 3.36 has their DWARF numbers.
	elf.EM_X86_64: {sp: 7, general: 16, pc: 16, preserved: 1<<3 | 1<<6 | 0xf000},
	// The callee-saved registers are x19 to x29, according to the Procedure Call Standard for the Arm 64-bit
	// Architecture, section 6.1.1. According to DWARF for the Arm 64-bit Architecture, section 4.1, 32 is the number of
	// the program counter.
	elf.EM_AARCH64: {sp: 31, general: 32, pc: 32, preserved: 0x3ff80000},
}
