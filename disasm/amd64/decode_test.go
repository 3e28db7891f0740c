package amd64

import (
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

// pc is the address of the tests' instructions.
const pc = 0x1000

var decoder = disasmtest.Decoder{Decode: Decode, Syntaxes: []asm.Syntax{asm.ATT, asm.Intel}, Shortest: 1}

var objdump = disasmtest.Objdump{
	Name: "objdump", Package: "binutils", Target: "elf64-x86-64", Machine: 62,
}

// checker returns a function that decodes one instruction, given in hex, and compares its text in both syntaxes with
// objdump's.
func checker(t *testing.T) func(in, att, intel string) {
	return func(in, att, intel string) {
		t.Helper()
		code := disasmtest.Unhex(t, in)
		for syntax, want := range [...]string{asm.ATT: att, asm.Intel: intel} {
			if got := disasmtest.Join(Decode(asm.Syntax(syntax), code, pc)); got != want {
				t.Errorf("%s: got %q, want %q", in, got, want)
			}
		}
	}
}

func TestNothing(t *testing.T) {
	if got := Decode(asm.ATT, nil, pc); len(got) != 0 {
		t.Errorf("no code: got %v", got)
	}
}

func TestKindAndTarget(t *testing.T) {
	check := func(in string, kind asm.Kind, target uint64) {
		t.Helper()
		got := Decode(asm.ATT, disasmtest.Unhex(t, in), pc)
		if len(got) != 1 || got[0].Kind != kind || got[0].Target != target {
			t.Errorf("%s: got %+v, want kind %d and target %#x", in, got, kind, target)
		}
	}
	check("e8fb000000", asm.Call, 0x1100)
	check("ffd0", asm.Call, 0)
	check("ff5010", asm.Call, 0)
	check("ff18", asm.Call, 0)
	check("e9fbfeffff", asm.Jump, 0xf00)
	check("ebfe", asm.Jump, 0x1000)
	check("f2e9fa000000", asm.Jump, 0x1100)
	check("3effe0", asm.Jump, 0)
	check("ff28", asm.Jump, 0)
	check("0f85fa000000", asm.CondJump, 0x1100)
	check("7510", asm.CondJump, 0x1012)
	check("e2fe", asm.CondJump, 0x1000)
	check("e310", asm.CondJump, 0x1012)
	check("66e81020", asm.Call, 0x3014)
	check("c3", asm.Return, 0)
	check("f3c3", asm.Return, 0)
	check("c21000", asm.Return, 0)
	check("48cf", asm.Return, 0)
	check("90", asm.Plain, 0)
	check("0f0b", asm.Plain, 0)
}

func TestTargetWraps(t *testing.T) {
	got := Decode(asm.ATT, []byte{0xe9, 0, 0, 0, 0x80}, 0x10)
	if want := uint64(0xffffffff80000015); got[0].Target != want {
		t.Errorf("got %#x, want %#x", got[0].Target, want)
	}
}

// TestBad checks bytes that are not an instruction.
func TestBad(t *testing.T) {
	same := func(in, want string) { t.Helper(); checker(t)(in, want, want) }
	same("06", ".byte 0x6")
	same("d6c3", ".byte 0xd6; ret")
	same("4806c3", ".byte 0x48; .byte 0x6; ret") // objdump: rex.W (bad)
	same("0f04c3", ".byte 0xf; .byte 0x4; ret")  // an opcode is skipped completely
	same("c5f8ffc3", ".byte 0xc5; .byte 0xf8; .byte 0xff; ret")
	same("62f17c48ffc3", ".byte 0x62; .byte 0xf1; .byte 0x7c; .byte 0x48; .byte 0xff; ret")
	same("6290c3", ".byte 0x62; nop; ret") // no such opcode map
}

// TestCut checks instructions that are cut off by the end of the code.
func TestCut(t *testing.T) {
	same := func(in, want string) { t.Helper(); checker(t)(in, want, want) }
	same("e8f8f8f8", ".byte 0xe8; clc; clc; clc")
	same("c5f8", ".byte 0xc5; clc")
	checker(t)("c5f858", ".byte 0xc5; clc; pop    %rax", ".byte 0xc5; clc; pop    rax")
	checker(t)("62f17c4858",
		".byte 0x62; int1; jl     0x104c; pop    %rax",
		".byte 0x62; int1; jl     0x104c; pop    rax")
	checker(t)("d51901", ".byte 0xd5; sbb    %eax,(%rcx)", ".byte 0xd5; sbb    DWORD PTR [rcx],eax")
	same("d5", ".byte 0xd5")
	same("62f47c1801", ".byte 0x62; hlt; jl     0x101c; .byte 0x1")
	same("48", "rex.W")
	same("66", "data16")
	same("f0", "lock")
	same("0f", ".byte 0xf")
}

var disputedRanges = map[string][]disasmtest.Disputed{
	"jdk17-lean-none": {
		{Lo: 0x7fae0897c138, Hi: 0x7fae0897c140, Until: apx,
			Why: "a table of bytes, 62 61 60 66 65 64 6a 69: 62 may begin an APX instruction"},
		{Lo: 0x7fae0897c168, Hi: 0x7fae0897c170, Until: apx, Why: "the same"},
	},
	"jdk25-lean-none": {
		{Lo: 0x7f2493b385b8, Hi: 0x7f2493b385e2, Until: apx,
			Why: "APX instructions: HotSpot tries whether the system keeps r16 and r31"},
		{Lo: 0x7f2493bc6db8, Hi: 0x7f2493bc6dc0, Until: apx,
			Why: "a table of bytes, 62 61 60 66 65 64 6a 69"},
		{Lo: 0x7f2493bc6de8, Hi: 0x7f2493bc6df0, Until: apx, Why: "the same"},
	},
}

// apx is the first version of objdump that knows APX.
const apx = 242

// TestParity compares every instruction of HotSpot's code with GNU objdump's.
func TestParity(t *testing.T) {
	decoder.Parity(t, objdump, disputedRanges)
}

func FuzzDecode(f *testing.F) {
	disasmtest.AddSeeds(f)
	f.Add([]byte{evex, 0xf1, 0x7c, 0x48, 0x58, 0xc0}, uint64(0))
	f.Add([]byte{rex2Prefix, 0x76, 0x8d, 0x7c, 0x20, 0x01, evex, 0xf4, 0x6c, 0x1c, 0x83, 0xc1, 0x7b}, uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) { decoder.Check(t, code, pc) })
}

// TestRandomBytes decodes bytes that are not code.
func TestRandomBytes(t *testing.T) {
	decoder.CheckRandom(t, 20_000, []byte{}, []byte{vex2}, []byte{vex3}, []byte{evex}, []byte{evex, 0xf1, 0x7d, 0x48},
		[]byte{evex, 0xf5, 0x7d, 0x48}, []byte{0x0f}, []byte{0x66, 0x0f, 0x38}, []byte{0xf2, 0x48, 0x0f, 0x3a},
		[]byte{0xd9}, []byte{0x67}, []byte{rex2Prefix}, []byte{evex, 0xdc, 0x7c}, []byte{evex, 0xe2, 0x78})
}

// BenchmarkDecode decodes the machine code in one HotSpot log.
func BenchmarkDecode(b *testing.B) {
	decoder.Benchmark(b, disasmtest.Blobs(b)["jdk25-lean-none"])
}
