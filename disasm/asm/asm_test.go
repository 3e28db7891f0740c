package asm

import (
	"slices"
	"testing"
)

func TestFields(t *testing.T) {
	check := func(x uint32, at, n int, bits uint32, signed uint64) {
		t.Helper()
		if got := Bits(x, at, n); got != bits {
			t.Errorf("Bits(%#x, %d, %d): got %#x, want %#x", x, at, n, got, bits)
		}
		if got := Signed(x, at, n); got != signed {
			t.Errorf("Signed(%#x, %d, %d): got %#x, want %#x", x, at, n, got, signed)
		}
	}
	check(0xabcd, 4, 8, 0xbc, 0xffffffffffffffbc)
	check(0xabcd, 4, 7, 0x3c, 0x3c)
	check(0x80000000, 31, 1, 1, 0xffffffffffffffff)
	check(0x7fffffff, 0, 26, 0x3ffffff, 0xffffffffffffffff)
	check(0, 0, 1, 0, 0)
}

func TestSetTexts(t *testing.T) {
	insts := make([]Inst, 3)
	SetTexts(insts, []byte("retnop"), []int{3, 3, 6})
	if got := []string{insts[0].Text, insts[1].Text, insts[2].Text}; !slices.Equal(got, []string{"ret", "", "nop"}) {
		t.Errorf("got %q", got)
	}
}

func TestAppendHex(t *testing.T) {
	if got := string(AppendHex([]byte("$"), 0x1F0)); got != "$0x1f0" {
		t.Errorf("got %q", got)
	}
}
