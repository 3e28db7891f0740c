package disasm

import (
	"encoding/hex"
	"strings"
	"sync"
	"testing"
)

// pc is the address of the tests' instructions.
const pc = 0x1000

// checker returns a function that decodes one instruction, given in hex, and compares its text in both syntaxes with
// objdump's.
func checker(t *testing.T) func(in, att, intel string) {
	return func(in, att, intel string) {
		t.Helper()
		code, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		for syntax, want := range [...]string{ATT: att, Intel: intel} {
			got, err := Decode(AMD64, Syntax(syntax), code, pc)
			if err != nil {
				t.Fatal(err)
			}
			if texts := join(got); texts != want {
				t.Errorf("%s: got %q, want %q", in, texts, want)
			}
		}
	}
}

// join returns the texts of several instructions, separated by semicolons.
func join(insts []Inst) string {
	var texts []string
	for _, in := range insts {
		texts = append(texts, in.Text)
	}
	return strings.Join(texts, "; ")
}

func TestArch(t *testing.T) {
	if !Supported(AMD64) || Supported("z80") {
		t.Error("want amd64 supported, and z80 not")
	}
	_, err := Decode("z80", ATT, []byte{0}, pc)
	if err == nil || !strings.Contains(err.Error(), `"z80"`) {
		t.Errorf("got error %v, want one that names z80", err)
	}
	got, err := Decode(AMD64, ATT, nil, pc)
	if err != nil || len(got) != 0 {
		t.Errorf("no code: got %v and error %v, want neither", got, err)
	}
}

func TestArchOf(t *testing.T) {
	check := func(name string, want Arch, supported bool) {
		t.Helper()
		if got := ArchOf(name); got != want || Supported(got) != supported {
			t.Errorf("%s: got %q, supported %v, want %q and %v", name, got, Supported(got), want, supported)
		}
	}
	check("amd64", AMD64, true)
	check("x86_64", AMD64, true)
	check("aarch64", ARM64, true)
	check("arm64", ARM64, true)
	check("ppc64le", PPC64LE, true)
	check("riscv64", RISCV64, true)
	check("s390x", S390X, true)
	check("loongarch64", Loong64, true)
	check("z80", "z80", false)
}

// TestConcurrent decodes code of every instruction set in two goroutines each, for the race detector.
func TestConcurrent(t *testing.T) {
	code := map[Arch][]byte{AMD64: unhex("e8fb000000c5f877c3"), ARM64: unhex("1f2003d5c0035fd6")}
	for _, arch := range otherArches {
		code[arch] = otherCode(otherSet(t, arch))
	}
	var wg sync.WaitGroup
	for arch := range decoders {
		if len(code[arch]) == 0 {
			t.Fatalf("no code for %s", arch)
		}
		for range 2 {
			wg.Go(func() {
				got, err := Decode(arch, ATT, code[arch], pc)
				if err != nil || len(got) < 2 {
					t.Errorf("%s: %d instructions, error %v", arch, len(got), err)
				}
			})
		}
	}
	wg.Wait()
}

func TestKindAndTarget(t *testing.T) {
	check := func(in string, kind Kind, target uint64) {
		t.Helper()
		code, _ := hex.DecodeString(in)
		got, _ := Decode(AMD64, ATT, code, pc)
		if len(got) != 1 || got[0].Kind != kind || got[0].Target != target {
			t.Errorf("%s: got %+v, want kind %d and target %#x", in, got, kind, target)
		}
	}
	check("e8fb000000", Call, 0x1100)
	check("ffd0", Call, 0)
	check("ff5010", Call, 0)
	check("ff18", Call, 0)
	check("e9fbfeffff", Jump, 0xf00)
	check("ebfe", Jump, 0x1000)
	check("f2e9fa000000", Jump, 0x1100)
	check("3effe0", Jump, 0)
	check("ff28", Jump, 0)
	check("0f85fa000000", CondJump, 0x1100)
	check("7510", CondJump, 0x1012)
	check("e2fe", CondJump, 0x1000)
	check("e310", CondJump, 0x1012)
	check("66e81020", Call, 0x3014)
	check("c3", Return, 0)
	check("f3c3", Return, 0)
	check("c21000", Return, 0)
	check("48cf", Return, 0)
	check("90", Plain, 0)
	check("0f0b", Plain, 0)
}

func TestTargetWraps(t *testing.T) {
	got, _ := Decode(AMD64, ATT, []byte{0xe9, 0, 0, 0, 0x80}, 0x10)
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
	same("48", "rex.W")
	same("66", "data16")
	same("f0", "lock")
	same("0f", ".byte 0xf")
}
