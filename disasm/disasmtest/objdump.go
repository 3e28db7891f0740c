package disasmtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// An Objdump is the objdump of GNU binutils for an instruction set.
type Objdump struct {
	Name, Package string // the name of the program, and the Debian package that contains it
	Target        string // objdump's --help must list this target: "elf64-x86-64"
	Machine       uint16 // the instruction set's number in an ELF header (e_machine)
}

// Disassemble disassembles all blobs in one run of GNU objdump. The blobs become the sections of one ELF file, each at
// its own address. Bad is true for an instruction if objdump could not decode it or one of its operands.
func (o Objdump) Disassemble(t testing.TB, syntax asm.Syntax, blobs []Blob) [][]asm.Inst {
	t.Helper()
	tool, err := exec.LookPath(o.Name)
	if err != nil {
		t.Skipf("GNU objdump is not installed (apt-get install %s)", o.Package)
	}
	if out, _ := exec.Command(tool, "--help").Output(); !bytes.Contains(out, []byte(o.Target)) {
		t.Skipf("%s here is not GNU's, or knows no %s", o.Name, o.Target)
	}
	file := filepath.Join(t.TempDir(), "blobs.elf")
	if err := os.WriteFile(file, elfFile(o.Machine, blobs), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-D", "-z", "-w", "--no-show-raw-insn", file}
	if syntax == asm.Intel {
		args = append(args, "-M", "intel")
	}
	out, err := exec.Command(tool, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	return parseObjdump(t, out, blobs)
}

// elfFile returns an ELF file without symbols whose sections s0, s1, … are the blobs.
func elfFile(machine uint16, blobs []Blob) []byte {
	const ehdr, shdr = 64, 64
	names, data := []byte{0}, []byte(nil)
	sections := make([]byte, shdr) // the first section is null by definition
	section := func(name string, typ uint32, flags, addr uint64, body []byte) {
		h := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
		h = binary.LittleEndian.AppendUint32(h, typ)
		for _, v := range []uint64{flags, addr, uint64(ehdr + len(data)), uint64(len(body)), 0, 1, 0} {
			h = binary.LittleEndian.AppendUint64(h, v)
		}
		names = append(append(names, name...), 0)
		data = append(data, body...)
		sections = append(sections, h...)
	}
	const progbits, strtab, allocExec = 1, 3, 6
	for i, b := range blobs {
		section("s"+strconv.Itoa(i), progbits, allocExec, b.PC, b.Code)
	}
	section("names", strtab, 0, 0, append(bytes.Clone(names), "names\x00"...))

	h := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	le := binary.LittleEndian
	h = le.AppendUint32(le.AppendUint16(le.AppendUint16(h, 1), machine), 1) // relocatable, machine, version
	h = le.AppendUint64(le.AppendUint64(le.AppendUint64(h, 0), 0), uint64(ehdr+len(data)))
	h = le.AppendUint32(h, 0)
	for _, v := range []uint16{ehdr, 0, 0, shdr, uint16(len(blobs) + 2), uint16(len(blobs) + 1)} {
		h = le.AppendUint16(h, v)
	}
	return append(append(h, data...), sections...)
}

// version returns the version of the program: 240 for "GNU objdump (GNU Binutils for Debian) 2.40".
func (o Objdump) version(t testing.TB) int {
	t.Helper()
	out, err := exec.Command(o.Name, "--version").Output()
	if err != nil {
		t.Skipf("%s --version: %v", o.Name, err)
	}
	m := regexp.MustCompile(`^.* ([0-9]+)\.([0-9]+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s --version: %q", o.Name, out)
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	return 100*major + minor
}

var (
	vectorRange    = regexp.MustCompile(`\{v([0-9]+)\.([0-9a-z]+)-v([0-9]+)\.[0-9a-z]+\}`)
	stringOperand  = regexp.MustCompile(`%[de]s:\((%[a-z]+)\)`)
	stringOperandI = regexp.MustCompile(`\b[de]s:\[`)
)

// SharedSpelling replaces the spellings that differ between versions of objdump with a common one, and all white space
// with single blanks:
//
//	{v0.16b-v2.16b}     {v0.16b, v1.16b, v2.16b}   2.40 writes ranges of three and four registers, 2.44 also of two
//	%es:(%rdi) es:[rdi] (%rdi) [rdi]               2.47 omits the usual segment of string instructions
//	.byte 0             .byte 0x0                  2.44 writes a single zero byte without 0x
//	shl %eax            shl $1,%eax                2.41 writes the 1 that is not encoded
func SharedSpelling(text string) string {
	text = Squeeze(text)
	text = vectorRange.ReplaceAllStringFunc(text, func(list string) string {
		m := vectorRange.FindStringSubmatch(list)
		first, _ := strconv.Atoi(m[1])
		last, _ := strconv.Atoi(m[3])
		var regs []string
		for n := first; ; n = (n + 1) & 31 {
			regs = append(regs, "v"+strconv.Itoa(n)+"."+m[2])
			if n == last&31 {
				break
			}
		}
		return "{" + strings.Join(regs, ", ") + "}"
	})
	text = strings.Replace(text, " $1,", " ", 1)
	text = stringOperand.ReplaceAllString(text, "($1)")
	text = stringOperandI.ReplaceAllString(text, "[")
	if text == ".byte 0" {
		return ".byte 0x0"
	}
	return text
}

var symbolNote = regexp.MustCompile(`([0-9a-f]+) <[^>]*>`)

// parseObjdump reads lines such as "  7fae08938080:	mov    %rax,%rbx" below "Disassembly of section s7:". It returns
// the instructions of each blob.
func parseObjdump(t testing.TB, out []byte, blobs []Blob) [][]asm.Inst {
	t.Helper()
	all := make([][]asm.Inst, len(blobs))
	cur := -1
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		line := sc.Text()
		if name, ok := strings.CutPrefix(line, "Disassembly of section s"); ok {
			cur, _ = strconv.Atoi(strings.TrimSuffix(name, ":"))
			continue
		}
		addr, text, ok := strings.Cut(line, ":\t")
		if !ok || cur < 0 {
			continue
		}
		pc, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64)
		if err != nil {
			t.Fatalf("objdump: %q", line)
		}
		if strings.Contains(text, "<") {
			text = symbolNote.ReplaceAllString(text, "0x$1")
		}
		text = strings.TrimRight(text, " ")
		text, _, _ = strings.Cut(text, "  // note: ") // arm64: why the instruction is unpredictable
		bad := strings.Contains(text, "(bad)") || strings.HasPrefix(text, ".inst")
		all[cur] = append(all[cur], asm.Inst{Addr: pc, Text: text, Bad: bad})
	}
	for i, b := range blobs {
		end := b.PC + uint64(len(b.Code))
		for j := len(all[i]) - 1; j >= 0; j-- {
			all[i][j].Len = int(end - all[i][j].Addr)
			end = all[i][j].Addr
		}
	}
	return all
}
