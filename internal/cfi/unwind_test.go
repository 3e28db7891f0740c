package cfi

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// DWARF's numbers of registers.
const (
	rax, rbx, rbp, rsp, r10, r12, r13 = 0, 3, 6, 7, 10, 12, 13
	x0, x19, x29, x30, sp             = 0, 19, 29, 30, 31
)

// equal compares registers: the same ones must be known, and these must have the same values. The values of unknown
// registers don't matter.
func equal(t *testing.T, want, got Registers, what any) {
	t.Helper()
	for i := range got.Values {
		if got.Known>>i&1 == 0 {
			got.Values[i] = 0
		}
		if want.Known>>i&1 == 0 {
			want.Values[i] = 0
		}
	}
	assert.Equal(t, want, got, what)
}

// step checks the caller that Unwind finds. r's pc is also the address in the file.
func step(t *testing.T, table *Table, r Registers, m Memory, want Registers) {
	t.Helper()
	for range 2 { // the second time, the row is cached
		got := r
		result, err := table.Unwind(r.PC, true, &got, m)
		require.NoError(t, err)
		require.Equal(t, Caller, result)
		equal(t, want, got, r.PC)
	}
}

// fails checks a result that leaves the registers as they are.
func fails(t *testing.T, table *Table, r Registers, m Memory, want Result) {
	t.Helper()
	got := r
	result, err := table.Unwind(r.PC, true, &got, m)
	assert.Equal(t, want, result)
	assert.Equal(t, want == Damaged, err != nil, "%v", err)
	assert.Equal(t, r, got)
}

// TestFramePointer: push rbp; mov rbp, rsp; … pop rbp; ret. GCC writes no row for the pop alone.
func TestFramePointer(t *testing.T) {
	table := x86(t,
		opAdvance<<6|1, opDefCFAOffset, 16, opOffset<<6|rbp, 2,
		opAdvance<<6|3, opDefCFARegister, rbp,
		opAdvance1, 0x50, opDefCFA, rsp, 8)
	const top = stackBase + 0x40
	caller := registers(0xca11, rbx, 1, rbp, 2)
	want := func(sp uint64) Registers {
		w := caller
		w.Set(rsp, sp)
		return w
	}
	step(t, table, registers(0x1000, rax, 5, rbx, 1, rbp, 2, rsp, stackBase), stack(0xca11), want(stackBase+8))
	step(t, table, registers(0x1001, rbx, 1, rbp, 3, rsp, stackBase), stack(2, 0xca11), want(stackBase+16))
	step(t, table, registers(0x1010, rbx, 1, rbp, stackBase+8, rsp, stackBase), stack(9, 2, 0xca11), want(stackBase+24))
	// After the pop, rbp's slot is below the stack pointer.
	step(t, table, registers(0x1054, rbx, 1, rbp, 2, rsp, stackBase), stack(0xca11), want(stackBase+8))
	fails(t, table, registers(0x1010, rbp, top, rsp, stackBase), stack(1, 2, 3), Cut)
	fails(t, table, registers(0x1010, rsp, stackBase), stack(1, 2, 3), Unknown)
	fails(t, table, registers(0x1010, rbp, stackBase-64, rsp, stackBase), stack(1, 2, 3), Wrong)
	fails(t, table, registers(0x1000, rsp, stackBase-8), stack(1, 2, 3), Wrong)
	fails(t, table, registers(0x0fff, rsp, stackBase), stack(1, 2, 3), NoFunction)
	fails(t, table, registers(0x1101, rsp, stackBase), stack(1, 2, 3), NoFunction)
}

// TestReturnAddress: a return address may be the first byte after a function, or where another row begins. An exact PC
// just after the last byte of a function belongs to that function, unless another one begins there.
func TestReturnAddress(t *testing.T) {
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x1000, 0x10, opDefCFAOffset, 16)
	s.function(0x1010, 0x10, opAdvance<<6|8, opDefCFAOffset, 24)
	table := s.table(t, elf.EM_X86_64)
	for _, c := range []struct {
		pc    uint64
		exact bool
		want  uint64 // the word on the stack that is the return address
	}{
		{0x100f, true, 2}, {0x1010, true, 1}, {0x1017, true, 1},
		{0x1018, true, 3}, {0x101f, true, 3}, {0x1020, true, 3},
		{0x1001, false, 2}, {0x1010, false, 2}, {0x1011, false, 1}, {0x1018, false, 1}, {0x1020, false, 3},
	} {
		r := registers(c.pc, rsp, stackBase)
		result, err := table.Unwind(c.pc, c.exact, &r, stack(1, 2, 3))
		require.NoError(t, err)
		assert.Equal(t, Caller, result, "%#x", c.pc)
		assert.Equal(t, c.want, r.PC, "%#x", c.pc)
	}
	r := registers(0x1021, rsp, stackBase)
	for _, c := range []struct {
		pc    uint64
		exact bool
	}{{0x1000, false}, {0x1021, false}, {0x1021, true}, {0, false}, {0, true}} {
		result, err := table.Unwind(c.pc, c.exact, &r, stack(1, 2, 3))
		require.NoError(t, err)
		assert.Equal(t, NoFunction, result, "%#x", c.pc)
	}
}

func TestRules(t *testing.T) {
	r := registers(0x1000, rax, 10, rbx, 11, rbp, 12, r10, 13, r12, 14, r13, 15, rsp, stackBase)
	memory := stack(0xca11, 1, stackBase+8, 3)
	for _, c := range []struct {
		what         string
		instructions []byte
		want         Registers
	}{
		{"offset", []byte{opOffset<<6 | rbx, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, // -1
			registers(0xca11, rbx, stackBase+8, rbp, 12, r12, 14, r13, 15)},
		{"offset extended", []byte{opOffsetExtendedSF, rbx, 0x7f},
			registers(0xca11, rbx, stackBase+8, rbp, 12, r12, 14, r13, 15)},
		{"negative offset", []byte{opNegativeOffset, rbx, 1},
			registers(0xca11, rbx, stackBase+8, rbp, 12, r12, 14, r13, 15)},
		{"register", []byte{opRegister, rbx, rax, opSameValue, r10, opUndefined, r12},
			registers(0xca11, rbx, 10, rbp, 12, r10, 13, r13, 15)},
		{"val offset", []byte{opValOffset, rbx, 2, opValOffsetSF, r12, 0x7f},
			registers(0xca11, rbx, stackBase-8, rbp, 12, r12, stackBase+16, r13, 15)},
		{"expressions, with the CFA on the stack", []byte{
			opExpression, rbx, 2, dwLit0 + 16, dwPlus, opValExpression, rbp, 2, dwLit0 + 16, dwPlus},
			registers(0xca11, rbx, 3, rbp, stackBase+24, r12, 14, r13, 15)},
		{"restore", []byte{opUndefined, rbx, opRestore<<6 | rbx, opUndefined, rbp, opRestoreExtended, rbp},
			registers(0xca11, rbx, 11, rbp, 12, r12, 14, r13, 15)},
		{"a saved register is beyond the copy", []byte{opOffsetExtendedSF, rbx, 0x70, opRegister, rbp, 1},
			registers(0xca11, r12, 14, r13, 15)},
		{"floating-point registers", []byte{opOffset<<6 | 17, 3, opOffsetExtended, 0x80, 0x01, 3, opUndefined, 0x7f},
			registers(0xca11, rbx, 11, rbp, 12, r12, 14, r13, 15)},
		{"the stack pointer itself", []byte{opValOffset, rsp, 1},
			registers(0xca11, rbx, 11, rbp, 12, r12, 14, r13, 15, rsp, stackBase)},
		{"ignored", []byte{opNop, opArgsSize, 8, opNegateRAState, opDefCFASF, rsp, 0x7f},
			registers(0xca11, rbx, 11, rbp, 12, r12, 14, r13, 15)},
		{"rows of later addresses", []byte{
			opAdvance2, 0, 1, opUndefined, rbx, opAdvance4, 0, 0, 1, 0, opUndefined, rbp},
			registers(0xca11, rbx, 11, rbp, 12, r12, 14, r13, 15)},
	} {
		if _, ok := c.want.Get(rsp); !ok {
			c.want.Set(rsp, stackBase+8)
		}
		t.Log(c.what)
		step(t, x86(t, c.instructions...), r, memory, c.want)
	}
}

// TestSetLoc: DW_CFA_set_loc has an operand: the address at which the next row begins, in the encoding that the CIE
// says.
func TestSetLoc(t *testing.T) {
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	at := sectionBase + len(s.data) + 4 + 13 + 1 // after the length, 13 more bytes of the FDE's head, and the opcode
	distance := binary.LittleEndian.AppendUint32(nil, uint32(0x1020-at))
	s.function(0x1000, 0x100, slices.Concat([]byte{opSetLoc}, distance, []byte{opDefCFAOffset, 16})...)
	table := s.table(t, elf.EM_X86_64)
	step(t, table, registers(0x101f, rsp, stackBase), stack(1, 2), registers(1, rsp, stackBase+8))
	step(t, table, registers(0x1020, rsp, stackBase), stack(1, 2), registers(2, rsp, stackBase+16))
}

// TestRememberState: an epilogue in the middle of a function.
func TestRememberState(t *testing.T) {
	table := x86(t, opDefCFAOffset, 24, opOffset<<6|rbx, 2, opRememberState,
		opAdvance<<6|0x10, opDefCFAOffset, 8, opRestore<<6|rbx,
		opAdvance<<6|0x10, opRestoreState)
	memory := stack(1, 2, 3)
	for _, pc := range []uint64{0x1000, 0x100f, 0x1020, 0x10ff} {
		step(t, table, registers(pc, rbx, 9, rsp, stackBase), memory, registers(3, rbx, 2, rsp, stackBase+24))
	}
	step(t, table, registers(0x1010, rbx, 9, rsp, stackBase), memory, registers(1, rbx, 9, rsp, stackBase+8))
}

// TestBottom: clone3 and _start have no caller.
func TestBottom(t *testing.T) {
	fails(t, x86(t, opUndefined, 16), registers(0x1000, rsp, stackBase), stack(1), Bottom)
	fails(t, arm64(t, opUndefined, x30), registers(0x1000, sp, stackBase, x30, 5), stack(1), Bottom)
}

// TestPLT: a stub of the PLT is jmp (6 bytes), push (5 bytes), jmp. Its address is a multiple of 16.
func TestPLT(t *testing.T) {
	table := x86(t, plt...)
	memory := stack(1, 2)
	for _, stub := range []uint64{0x1000, 0x1010, 0x10f0} {
		for offset := range uint64(16) {
			want := registers(1, rsp, stackBase+8)
			if offset >= 11 {
				want = registers(2, rsp, stackBase+16)
			}
			step(t, table, registers(stub+offset, rsp, stackBase), memory, want)
		}
	}
}

var plt = []byte{opDefCFAExpression, 11, dwBreg0 + rsp, 8, dwBreg0 + 16, 0, dwLit0 + 15, dwAnd, dwLit0 + 11, dwGe,
	dwLit0 + 3, dwShl, dwPlus}

// TestRealignedStack: GCC realigns the stack of functions with AVX. lea r10, [rsp+8]; and rsp, -32; push [r10-8]; push
// rbp; mov rbp, rsp; push r10. The CFA is then in memory.
func TestRealignedStack(t *testing.T) {
	table := x86(t,
		opAdvance<<6|5, opDefCFA, r10, 0,
		opAdvance<<6|8, opExpression, rbp, 2, dwBreg0+rbp, 0,
		opAdvance<<6|5, opDefCFAExpression, 3, dwBreg0+rbp, 0x78, dwDeref)
	memory := stack(0xf0, stackBase+48, 2, 0xca11, 0, 0xca11)
	want := registers(0xca11, rbp, 2, rsp, stackBase+48)
	step(t, table, registers(0x1012, rbp, stackBase+16, rsp, stackBase), memory, want)
	step(t, table, registers(0x1006, rbp, 2, r10, stackBase+48, rsp, stackBase+24), memory, want)
	fails(t, table, registers(0x1006, rbp, 2, rsp, stackBase+24), memory, Unknown)
}

// TestRegisterAfterExpression: assembler functions of libgcrypt compute the CFA with an expression, and later from a
// register again. The offset is then the last one that was set, be it before the expression or since.
func TestRegisterAfterExpression(t *testing.T) {
	table := x86(t, opDefCFAOffset, 16, opAdvance<<6|1, opDefCFAExpression, 2, dwBreg0+rsp, 24,
		opAdvance<<6|1, opDefCFARegister, rsp,
		opAdvance<<6|1, opDefCFAExpression, 2, dwBreg0+rsp, 24, opDefCFAOffset, 8,
		opAdvance<<6|1, opDefCFARegister, rsp)
	for i, word := range []uint64{2, 3, 2, 3, 1} {
		want := registers(word, rsp, stackBase+8*word)
		step(t, table, registers(0x1000+uint64(i), rsp, stackBase), stack(1, 2, 3), want)
	}
}

// TestSignalFrame: __restore_rt has all registers in the ucontext on the stack. All of them are known in the code that
// was interrupted.
func TestSignalFrame(t *testing.T) {
	s := &section{}
	s.cie("zRS", 16, opDefCFAExpression, 3, dwBreg0+rsp, 8, dwDeref,
		opExpression, rax, 2, dwBreg0+rsp, 16, opExpression, rbx, 2, dwBreg0+rsp, 24,
		opExpression, 16, 2, dwBreg0+rsp, 0)
	s.function(0x1000, 9)
	table := s.table(t, elf.EM_X86_64)
	memory := stack(0xca11, stackBase+0x100, 5, 6)
	for _, pc := range []uint64{0x1001, 0x1009} { // the handler's return address; after the system call
		r := registers(pc, rax, 1, rbx, 2, rbp, 3, r10, 4, rsp, stackBase)
		result, err := table.Unwind(pc, pc == 0x1009, &r, memory)
		require.NoError(t, err)
		assert.Equal(t, Interrupted, result)
		equal(t, registers(0xca11, rax, 5, rbx, 6, rbp, 3, r10, 4, rsp, stackBase+0x100), r, pc)
	}
	// The signal has interrupted code whose stack is elsewhere.
	memory = stack(0xca11, 0x1000, 5, 6)
	r := registers(0x1001, rsp, stackBase)
	result, err := table.Unwind(0x1001, true, &r, memory)
	require.NoError(t, err)
	assert.Equal(t, Interrupted, result)
	equal(t, registers(0xca11, rax, 5, rbx, 6, rsp, 0x1000), r, "")
}

// TestLinkRegister: stp x29, x30, [sp, -32]!; … ldp x29, x30, [sp], 32; ret.
func TestLinkRegister(t *testing.T) {
	table := arm64(t, opNegateRAState,
		opAdvance<<6|4, opDefCFAOffset, 32, opOffset<<6|x29, 4, opOffset<<6|x30, 3,
		opAdvance<<6|0x20, opDefCFAOffset, 0)
	const signed = 0x002a_0000_0000_ca11
	memory := stack(7, signed, 8, 9)
	step(t, table, registers(0x1000, x0, 1, x19, 2, x29, 3, x30, signed, sp, stackBase), memory,
		registers(signed, x19, 2, x29, 3, sp, stackBase))
	step(t, table, registers(0x1004, x19, 2, x29, 3, x30, 4, sp, stackBase), memory,
		registers(signed, x19, 2, x29, 7, sp, stackBase+32))
	// Both registers were loaded, but the row still refers to their slots.
	step(t, table, registers(0x1024, x19, 2, x29, 7, x30, signed, sp, stackBase+32), memory,
		registers(signed, x19, 2, x29, 7, sp, stackBase+32))
	fails(t, table, registers(0x1000, sp, stackBase), memory, Unknown)
	fails(t, table, registers(0x1004, sp, stackBase+0x40), memory, Cut)
}

// TestDamagedRows: a damaged function does not spoil the others.
func TestDamagedRows(t *testing.T) {
	const evaluated = "its .eh_frame has a rule or an expression that is damaged"
	for what, c := range map[string]struct {
		want         string
		instructions []byte
	}{
		"unknown instruction": {"it has the unknown instruction 0x3e", []byte{0x3e}},
		"nothing remembered":  {"it restores a state that it has not remembered", []byte{opRestoreState}},
		"much remembered":     {"it remembers more than 32", bytes.Repeat([]byte{opRememberState}, 33)},
		"cut off":             {"an instruction is cut off", []byte{0, 0, 0, 0, 0, opDefCFA, rsp}},
		"long number": {"an instruction is cut off",
			append([]byte{opArgsSize}, bytes.Repeat([]byte{255}, 11)...)},
		"expression beyond end":   {"an instruction is cut off", []byte{opDefCFAExpression, 100, dwLit0}},
		"expression without end":  {evaluated, []byte{opDefCFAExpression, 3, dwSkip, 0xfd, 0xff}},
		"expression jumps out":    {evaluated, []byte{opDefCFAExpression, 3, dwSkip, 1, 0}},
		"expression needs a word": {evaluated, []byte{opDefCFAExpression, 1, dwPlus}},
		"empty expression":        {evaluated, []byte{opDefCFAExpression, 0}},
		"division by 0":           {evaluated, []byte{opDefCFAExpression, 3, dwLit0, dwLit0, dwDiv}},
		"unknown operation":       {evaluated, []byte{opDefCFAExpression, 1, 0xff}},
		"return address in rip":   {evaluated, []byte{opSameValue, 16}},
		"large offset":            {evaluated, []byte{opOffset<<6 | 16, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		"large CFA":               {evaluated, []byte{opDefCFAOffset, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		"long program":            {"at most 32768 are read", bytes.Repeat([]byte{opNop}, maxInstructions+8)},
	} {
		s := &section{}
		s.cie("zR", 16, x86Entry...)
		s.function(0x1000, 0x100, c.instructions...)
		s.function(0x1100, 0x100)
		table := s.table(t, elf.EM_X86_64)
		require.NoError(t, table.Damage())
		for range 2 {
			r := registers(0x1010, rsp, stackBase)
			result, err := table.Unwind(0x1010, true, &r, stack(1, 2))
			assert.Equal(t, Damaged, result, what)
			assert.ErrorContains(t, err, c.want, what)
		}
		step(t, table, registers(0x1100, rsp, stackBase), stack(1, 2), registers(1, rsp, stackBase+8))
	}
}

// TestCost: rows that take long to compute are computed only while the table has time left for them. Other rows are not
// affected.
func TestCost(t *testing.T) {
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x1000, 0x100, bytes.Repeat([]byte{opRememberState, opRestoreState}, 500)...)
	s.function(0x2000, 0x100)
	table := s.table(t, elf.EM_X86_64)
	table.spare = 100_000
	computed := 0
	for pc := uint64(0x1000); pc < 0x1100; pc++ {
		r := registers(pc, rsp, stackBase)
		if result, err := table.Unwind(pc, true, &r, stack(1)); result == Caller {
			computed++
		} else {
			require.ErrorContains(t, err, "the functions of this file have too many instructions")
		}
	}
	assert.Greater(t, computed, 5)
	assert.Less(t, computed, 15)
	step(t, table, registers(0x2000, rsp, stackBase), stack(1), registers(1, rsp, stackBase+8))
}

// TestNoAllocation: a step with a cached row needs no memory, even if the row has an expression.
func TestNoAllocation(t *testing.T) {
	for _, table := range []*Table{x86(t, plt...), x86(t, opValExpression, rbx, 2, dwLit0+1, dwPlus)} {
		r := registers(0x1000, rsp, stackBase)
		m := stack(0x1000)
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			r.PC = 0x1000
			r.Set(rsp, stackBase)
			if result, err := table.Unwind(0x1000, true, &r, m); result != Caller || err != nil {
				t.Error(result, err)
			}
		}))
	}
}

// TestRowsAreBounded: the cache of rows is emptied when it is full.
func TestRowsAreBounded(t *testing.T) {
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x1000, 2*maxRows)
	table := s.table(t, elf.EM_X86_64)
	for pc := uint64(0x1000); pc < 0x1000+2*maxRows; pc++ {
		r := registers(pc, rsp, stackBase)
		if result, err := table.Unwind(pc, true, &r, stack(1)); result != Caller || err != nil {
			t.Fatalf("%#x: %v, %v", pc, result, err)
		}
		if len(table.rows) > maxRows {
			t.Fatalf("%d rows", len(table.rows))
		}
	}
}
