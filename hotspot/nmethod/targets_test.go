package nmethod

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMovedConstant(t *testing.T) {
	check := func(code string, want uint64, ok bool) {
		t.Helper()
		got, moved := movedConstant(fromHex(code))
		assert.Equal(t, ok, moved, code)
		assert.Equal(t, want, got, code)
	}
	check("48b80807060504030201", 0x0102030405060708, true)   // to rax
	check("49bb7856341200000000", 0x12345678, true)           // to r11
	check("d519bf0807060504030201", 0x0102030405060708, true) // to r31
	check("d508b87856341200000000", 0x12345678, true)         // to rax, with REX2
	check("d511bf0807060504030201", 0, false)                 // 32 bits
	check("d599bf0807060504030201", 0, false)                 // bswap
	check("d519bf08070605040302", 0, false)                   // cut
	check("48b808070605040302", 0, false)
	check("48c7c008070605", 0, false)
	check("d5", 0, false)
	check("", 0, false)
}
