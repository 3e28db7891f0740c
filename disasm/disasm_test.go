package disasm

import (
	"strings"
	"sync"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

// pc is the address of the tests' instructions.
const pc = 0x1000

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

// TestEveryArch decodes two instructions of each instruction set, in two goroutines for the race detector.
func TestEveryArch(t *testing.T) {
	want := map[Arch]struct{ code, text string }{
		AMD64:   {"e8fb000000c3", "call   0x1100; ret"},
		ARM64:   {"04000014c0035fd6", "b      0x1010; ret"},
		PPC64LE: {"100000482000804e", "b      0x1010; blr"},
		RISCV64: {"6f0000018280", "j      0x1010; ret"},
		S390X:   {"a7f4000807fe", "j      0x1010; br     %r14"},
		Loong64: {"001000502000004c", "b      0x1010; ret"},
	}
	var wg sync.WaitGroup
	for arch := range decoders {
		code := disasmtest.Unhex(t, want[arch].code)
		for range 2 {
			wg.Go(func() {
				got, err := Decode(arch, ATT, code, pc)
				if text := disasmtest.Join(got); err != nil || text != want[arch].text || want[arch].text == "" {
					t.Errorf("%s: got %q and error %v, want %q", arch, text, err, want[arch].text)
				}
			})
		}
	}
	wg.Wait()
}
