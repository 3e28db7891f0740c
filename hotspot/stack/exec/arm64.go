package exec

import (
	"encoding/binary"
	"strings"
)

// The registers of aarch64 that the conventions name.
const (
	x3  = 3
	x13 = 13
	x19 = 19
	x29 = 29
	x30 = 30
	sp  = 31 // register 31 in operands that can't be xzr
)

// ARM64 is aarch64. ARM64JDK17 is aarch64 as JDK 8 to 19 use it.
var ARM64, ARM64JDK17 = newARM64(x19), newARM64(x13)

func newARM64(senderSP reg) *Arch {
	return &Arch{
		registers: 32, sp: sp, fp: x29, link: x30,
		preserved: []int{x29}, // no other register is ever needed to find a caller
		kept:      1<<sp | 0x3ff80000,
		names: strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 " +
			"x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp"),
		senderSP: senderSP, exceptionPC: x3,
		step: armLen, decode: decodeARM64, padding: paddingARM64, notEntrant: notEntrantARM64, polls: pollsARM64,
	}
}

// armLen is the length of an instruction in bytes.
const armLen = 4

// notEntrantARM64 returns the seed of a verified entry. Its first instruction is a nop, which HotSpot overwrites with a
// branch or an illegal instruction when it makes the method not entrant (NativeJump::patch_verified_entry). Threads may
// still be in the code after it.
func notEntrantARM64(entry uint64, code []byte, _ int) Seed {
	if in := decodeARM64(code); in.op == opJump || in.op == opStop {
		return Called(entry + armLen)
	}
	return Called(entry)
}

// paddingARM64 reports whether code begins with "udf #0".
func paddingARM64(code []byte) bool {
	return len(code) < armLen || binary.LittleEndian.Uint32(code) == 0
}

// pollsARM64 reports whether a SafepointBlob has "str x20, [x29, #8]" before its first call. This instruction stores
// the address of the poll as the return address, because x30 does not have it.
func pollsARM64(code []byte) bool {
	const strX20, blr, blrMask = 0xf90007b4, 0xd63f0000, 0xfffffc1f
	for ; len(code) >= armLen; code = code[armLen:] {
		switch x := binary.LittleEndian.Uint32(code); {
		case x == strX20:
			return true
		case x&blrMask == blr:
			return false
		}
	}
	return false
}
