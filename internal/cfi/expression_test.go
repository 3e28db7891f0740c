package cfi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExpressions computes a CFA with each operation.
func TestExpressions(t *testing.T) {
	t.Parallel()
	const minus1 = ^uint64(0)
	words := stack(0x1122334455667788, 2)
	r := registers(0x1003, rbx, 100, rsp, stackBase)
	evaluate := func(ops ...byte) (uint64, Result) {
		table := x86(t)
		f := frame{table: table, registers: &r, memory: words, cfa: stackBase + 8}
		at := len(table.data)
		table.data = append(table.data, ops...)
		return f.evaluate(rule{value: int32(at), length: uint16(len(ops))}, f.cfa)
	}
	check := func(want uint64, ops ...byte) {
		t.Helper()
		got, result := evaluate(ops...)
		assert.Equal(t, Caller, result)
		assert.Equal(t, want, got)
	}
	fails := func(want Result, ops ...byte) {
		t.Helper()
		_, result := evaluate(ops...)
		assert.Equal(t, want, result)
	}
	const one, two, three = dwLit0 + 1, dwLit0 + 2, dwLit0 + 3
	check(stackBase + 8)
	check(0, dwLit0)
	check(31, dwLit31)
	check(0x8877665544332211, dwAddr, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88)
	check(0xff, dwConst1u, 0xff)
	check(minus1, dwConst1u+1, 0xff)
	check(0xfffe, dwConst1u+2, 0xfe, 0xff)
	check(minus1-1, dwConst1u+3, 0xfe, 0xff)
	check(0xfffffffe, dwConst1u+4, 0xfe, 0xff, 0xff, 0xff)
	check(minus1-1, dwConst1u+5, 0xfe, 0xff, 0xff, 0xff)
	check(1<<63, dwConst1u+6, 0, 0, 0, 0, 0, 0, 0, 0x80)
	check(1<<63, dwConst8s, 0, 0, 0, 0, 0, 0, 0, 0x80)
	check(624485, dwConstu, 0xe5, 0x8e, 0x26)
	check(minus1-1, dwConsts, 0x7e)
	check(1<<63, dwConsts, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f)
	check(104, dwBreg0+rbx, 4)
	check(99, dwBregx, rbx, 0x7f)
	check(0x1003, dwBreg0+16, 0)
	check(0x1122334455667788, dwBreg0+rsp, 0, dwDeref)
	check(0x88, dwBreg0+rsp, 0, dwDerefSize, 1)
	check(0x55667788, dwBreg0+rsp, 0, dwDerefSize, 4)
	check(4, two, dwDup, dwPlus)
	check(2, two, one, dwDrop)
	check(2, two, one, dwOver)
	check(3, three, two, one, dwPick, 2)
	check(2, two, one, dwSwap)
	check(2, one, two, three, dwRot) // as 2, 1, 3 from the top
	check(1, one, two, three, dwRot, dwDrop)
	check(3, one, two, three, dwRot, dwDrop, dwDrop)
	check(3, dwNop, three)
	check(3, dwConsts, 0x7d, dwAbs)
	check(3, three, dwAbs)
	check(2, three, two, dwAnd)
	check(3, two, one, dwOr)
	check(1, three, two, dwXor)
	check(minus1-1, dwConsts, 0x7b, two, dwDiv) // -5/2
	check(0, three, dwConsts, 0x7f, dwAnd, three, dwMinus)
	check(1, dwConsts, 0x7f, two, dwMod) // the largest unsigned number is odd
	check(6, two, three, dwMul)
	check(minus1, one, dwNeg)
	check(minus1-1, one, dwNot)
	check(0x83, three, dwPlusUconst, 0x80, 0x01)
	check(24, three, three, dwShl)
	check(0, three, dwConst1u, 64, dwShl)
	check(1, three, one, dwShr)
	check(1, dwConsts, 0x7f, dwConst1u, 63, dwShr)
	check(minus1, dwConsts, 0x7f, three, dwShra)
	for op, want := range map[byte][3]uint64{ // -1 op 1, 1 op 1, 1 op -1
		dwEq: {0, 1, 0}, dwNe: {1, 0, 1}, dwLt: {1, 0, 0}, dwLe: {1, 1, 0}, dwGt: {0, 0, 1}, dwGe: {0, 1, 1},
	} {
		check(want[0], dwConsts, 0x7f, one, op)
		check(want[1], one, one, op)
		check(want[2], one, dwConsts, 0x7f, op)
	}
	check(2, two, dwSkip, 1, 0, three)
	check(2, two, one, dwBra, 1, 0, three)
	check(3, two, dwLit0, dwBra, 1, 0, three)
	check(0, dwLit0+5, one, dwMinus, dwDup, dwBra, 0xfa, 0xff) // counts down to 0

	fails(Unknown, dwBreg0, 0)
	fails(Unknown, dwBregx, 0x80, 0x01, 0)
	fails(Cut, dwBreg0+rsp, 16, dwDeref)
	fails(Cut, dwBreg0+rsp, 9, dwDeref)
	fails(Wrong, dwBreg0+rsp, 0x7f, dwDeref)
	fails(Damaged, dwBreg0+rsp, 0, dwDerefSize, 0)
	fails(Damaged, dwBreg0+rsp, 0, dwDerefSize, 9)
	fails(Damaged, dwDrop, dwDrop)
	fails(Damaged, dwDrop)
	fails(Damaged, dwPick, 1)
	fails(Damaged, one, dwLit0, dwMod)
	fails(Damaged, dwConst1u)
	fails(Damaged, dwSkip, 0xfc, 0xff)
	fails(Damaged, dwDup, dwSkip, 0xfc, 0xff)
	fails(Damaged, dwSkip, 0xfd, 0xff)
}
