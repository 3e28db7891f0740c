package xarch

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

// pc is the address of the code that the assemblers make.
const pc = 0x1000

// assemblers are the assemblers for the sources in testdata.
var assemblers = map[string]struct {
	prefix string // of the tools' names; Debian's package is "binutils-" and the prefix without its last dash
	flags  []string
}{
	"ppc64le": {"powerpc64le-linux-gnu-", []string{"-mpower10", "-mregnames"}},
	"riscv64": {"riscv64-linux-gnu-", []string{"-mno-relax", "-march=rv64gcv_zba_zbb_zbs"}},
	"s390x":   {"s390x-linux-gnu-", []string{"-march=z14"}},
	"loong64": {"loongarch64-linux-gnu-", []string{"-mno-relax"}},
}

var (
	// symbolOperand matches a target as RISC-V's objdump writes it: "beqz     a0,1042 <.text+0x42>".
	symbolOperand = regexp.MustCompile(`\b([0-9a-f]+) <[^>]*>$`)
	// distanceOperand matches a distance and the target after it, as LoongArch's objdump writes them:
	// "b 16 # 0x1010".
	distanceOperand = regexp.MustCompile(`-?[0-9]+ # 0x([0-9a-f]+)$`)
	// targetOperand matches a target in the form that all sets have after these replacements. Offsets from a register
	// are decimal: "jalr -8(t1)".
	targetOperand = regexp.MustCompile(`0x([0-9a-f]+)$`)
)

// writeListing assembles testdata/<arch>.s, disassembles the result with objdump, and writes <arch>.txt. A
// line of the source is one instruction. Its kind is in a comment, unless it is plain:
//
//	bl .+0x100		# call
func writeListing(t *testing.T, arch string) {
	t.Helper()
	tools := assemblers[arch]
	object := filepath.Join(t.TempDir(), "a.o")
	source := strings.TrimSuffix(listingFile(arch), ".txt") + ".s"
	run := func(tool string, args ...string) []byte {
		out, err := exec.Command(tools.prefix+tool, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s%s %v: %v\n%s", tools.prefix, tool, args, err, out)
		}
		return out
	}
	as := append(slices.Clone(tools.flags), "-o", object, source)
	dump := []string{"-d", "-w", "-z", "--no-show-raw-insn", "--adjust-vma=" + strconv.Itoa(pc), object}
	run("as", as...)
	listing := run("objdump", dump...)
	version, _, _ := bytes.Cut(run("objdump", "--version"), []byte("\n"))

	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	kindOf := sourceKinds(t, source)
	insts := parseListing(t, listing)
	if len(insts) != len(kindOf) {
		t.Fatalf("%s has %d instructions, the assembler made %d of them", source, len(kindOf), len(insts))
	}
	var b bytes.Buffer
	command := func(tool string, args []string, file string) {
		fmt.Fprintf(&b, "# %s%s %s %s\n", tools.prefix, tool, strings.Join(args, " "), file)
	}
	command("as", tools.flags, filepath.Base(source))
	command("objdump", dump[:len(dump)-1], "a.out")
	fmt.Fprintf(&b, "# %s\n", version)
	for i, in := range insts {
		target := uint64(0)
		if m := targetOperand.FindStringSubmatch(in.text); m != nil && kindOf[i] != asm.Plain {
			target, _ = strconv.ParseUint(m[1], 16, 64)
		}
		end := uint64(pc + len(code))
		if i+1 < len(insts) {
			end = insts[i+1].pc
		}
		fmt.Fprintf(&b, "%x %x %s %#x | %s\n", in.pc, code[in.pc-pc:end-pc], kinds[kindOf[i]], target, in.text)
	}
	if err := os.WriteFile(listingFile(arch), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sourceKinds returns the kind of each instruction of an assembler source.
func sourceKinds(t *testing.T, source string) []asm.Kind {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	var all []asm.Kind
	for line := range strings.Lines(string(text)) {
		inst, name, found := strings.Cut(strings.TrimSpace(line), "#")
		if inst == "" {
			continue
		}
		kind := 0
		if found {
			if kind = slices.Index(kinds, strings.TrimSpace(name)); kind < 0 {
				t.Fatalf("%s: no such kind: %q", source, line)
			}
		}
		all = append(all, asm.Kind(kind))
	}
	return all
}

// parseListing reads lines of objdump: "    1010: beq     0x1020".
func parseListing(t *testing.T, listing []byte) []listedInst {
	t.Helper()
	var all []listedInst
	for line := range strings.Lines(string(listing)) {
		addr, text, ok := strings.Cut(strings.TrimSpace(line), ":\t")
		if !ok {
			continue
		}
		text = symbolOperand.ReplaceAllString(disasmtest.Squeeze(text), "0x$1")
		in := listedInst{text: distanceOperand.ReplaceAllString(text, "0x$1")}
		var err error
		if in.pc, err = strconv.ParseUint(addr, 16, 64); err != nil {
			t.Fatalf("objdump: %q", line)
		}
		all = append(all, in)
	}
	return all
}
