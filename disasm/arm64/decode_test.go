package arm64

import (
	"encoding/binary"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

// pc is the address of the tests' instructions.
const pc = 0x1000

var decoder = disasmtest.Decoder{
	Decode:   func(_ asm.Syntax, code []byte, pc uint64) []asm.Inst { return Decode(code, pc) },
	Syntaxes: []asm.Syntax{asm.ATT}, Lengths: []int{instLen}, Shortest: instLen,
}

var objdump = disasmtest.Objdump{
	Name: "aarch64-linux-gnu-objdump", Package: "binutils-aarch64-linux-gnu",
	Target: "elf64-littleaarch64", Machine: 183,
}

// TestDecode checks instructions that HotSpot generates, and the aliases that objdump prefers. The texts are
// objdump's.
func TestDecode(t *testing.T) {
	check := func(x uint32, want string, flow ...uint64) {
		t.Helper()
		got := Decode(binary.LittleEndian.AppendUint32(nil, x), pc)
		if len(got) != 1 || got[0].Text != want {
			t.Errorf("%08x: got %q, want %q", x, disasmtest.Join(got), want)
		}
		if flow = append(flow, 0, 0)[:2]; got[0].Kind != asm.Kind(flow[0]) || got[0].Target != flow[1] {
			t.Errorf("%08x: got %+v, want kind %d and target %#x", x, got[0], flow[0], flow[1])
		}
	}
	kind := func(k asm.Kind) uint64 { return uint64(k) }

	// Control flow.
	check(0x14000004, "b      0x1010", kind(asm.Jump), 0x1010)
	check(0x97fffffc, "bl     0xff0", kind(asm.Call), 0xff0)
	check(0x54000080, "b.eq   0x1010  // b.none", kind(asm.CondJump), 0x1010)
	check(0x5400008e, "b.al   0x1010", kind(asm.Jump), 0x1010)
	check(0xb4000085, "cbz    x5, 0x1010", kind(asm.CondJump), 0x1010)
	check(0x3707ffe3, "tbnz   w3, #0, 0xffc", kind(asm.CondJump), 0xffc)
	check(0xd61f0100, "br     x8", kind(asm.Jump))
	check(0xd63f0100, "blr    x8", kind(asm.Call))
	check(0xd65f03c0, "ret", kind(asm.Return))
	check(0xd65f0100, "ret    x8", kind(asm.Return))
	check(0xd65f0bff, "retaa", kind(asm.Return))
	check(0x10000000, "adr    x0, 0x1000")
	check(0xb0000000, "adrp   x0, 0x2000")
	check(0xd4200000, "brk    #0x0")
	check(0x000000ff, "udf    #255")

	// Aliases.
	check(0xaa0103e0, "mov    x0, x1")
	check(0x910003fd, "mov    x29, sp")
	check(0x9100003f, "mov    sp, x1")
	check(0xd503201f, "nop")
	check(0xd2800008, "mov    x8, #0x0  // #0")
	check(0x92800000, "mov    x0, #0xffffffffffffffff  // #-1")
	check(0xb27be3e8, "mov    x8, #0x3fffffffffffffe0  // #4611686018427387872")
	check(0xb27bebe8, "orr    x8, xzr, #0xffffffffffffffe0") // movn can load this
	check(0xd2a00000, "movz   x0, #0x0, lsl #16")
	check(0xf2a00020, "movk   x0, #0x1, lsl #16")
	check(0xeb08001f, "cmp    x0, x8")
	check(0xcb2863ff, "sub    sp, sp, x8")
	check(0x531c7c00, "lsr    w0, w0, #28")
	check(0xd37df000, "lsl    x0, x0, #3")
	check(0x93407c00, "sxtw   x0, w0")
	check(0xd3401c00, "ubfx   x0, x0, #0, #8")
	check(0x1a9f17e0, "cset   w0, eq  // eq = none")
	check(0x9a880100, "csel   x0, x8, x8, eq  // eq = none")

	// Memory.
	check(0xf9428788, "ldr    x8, [x28, #1288]")
	check(0xf85f83a0, "ldur   x0, [x29, #-8]")
	check(0xf8410c20, "ldr    x0, [x1, #16]!")
	check(0xf8617840, "ldr    x0, [x2, x1, lsl #3]")
	check(0xb861d840, "ldr    w0, [x2, w1, sxtw #2]")
	check(0xa9bf7bfd, "stp    x29, x30, [sp, #-16]!")
	check(0xad400420, "ldp    q0, q1, [x1]")
	check(0xc8dffc20, "ldar   x0, [x1]")
	check(0x38bfc020, "ldaprb w0, [x1]")
	check(0xf8e10002, "ldaddal x1, x2, [x0]")
	check(0x7821001f, "staddh w1, [x0]")
	check(0xc8e3fc02, "casal  x3, x2, [x0]")
	check(0x48207c82, "casp   x0, x1, x2, x3, [x4]")
	check(0xf8a18002, "swpa   x1, x2, [x0]")
	check(0xd5033bbf, "dmb    ish")
	check(0xd50b7420, "dc     zva, x0")
	check(0xd53bd040, "mrs    x0, tpidr_el0")

	// Floating point, vectors, cryptography, SVE.
	check(0x1e6e1000, "fmov   d0, #1.000000000000000000e+00")
	check(0x1e602008, "fcmp   d0, #0.0")
	check(0x9e780000, "fcvtzs x0, d0")
	check(0x4ea28420, "add    v0.4s, v1.4s, v2.4s")
	check(0x4ea11c20, "mov    v0.16b, v1.16b")
	check(0x4c9f2020, "st1    {v0.16b-v3.16b}, [x1], #64")
	check(0x0d40e4bf, "ld3r   {v31.4h, v0.4h, v1.4h}, [x5]")
	check(0x4e284820, "aese   v0.16b, v1.16b")
	check(0x9ac14c00, "crc32x w0, w0, x1")
	check(0x0ee0e000, "pmull  v0.1q, v0.1d, v0.1d")
	check(0x2518e3e7, "ptrue  p7.b")
	check(0x2588610e, "mov    p14.b, p8.b")
	check(0x2587610e, "orr    p14.b, p8/z, p8.b, p7.b")
	check(0xa5e0bd51, "ld1d   {z17.d}, p7/z, [x10]")

	check(0xffffffff, ".inst  0xffffffff ; undefined")
}

// TestCut checks the bytes after the last whole instruction.
func TestCut(t *testing.T) {
	got := Decode([]byte{0x1f, 0x20, 0x03, 0xd5, 1, 2, 3}, pc)
	if want := "nop; .byte 0x1; .byte 0x2; .byte 0x3"; disasmtest.Join(got) != want {
		t.Errorf("got %q, want %q", disasmtest.Join(got), want)
	}
}

// TestParity compares every instruction of HotSpot's code with GNU objdump's.
func TestParity(t *testing.T) {
	decoder.Parity(t, objdump, nil)
}

func FuzzDecode(f *testing.F) {
	disasmtest.AddSeeds(f)
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) { decoder.Check(t, code, pc) })
}

// TestRandomBytes decodes bytes that are not code.
func TestRandomBytes(t *testing.T) {
	decoder.CheckRandom(t, 2_000, []byte{})
}

// BenchmarkDecode decodes the machine code in one HotSpot log.
func BenchmarkDecode(b *testing.B) {
	decoder.Benchmark(b, disasmtest.Blobs(b)["jdk21-arm64-lean-none"])
}
