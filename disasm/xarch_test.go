package disasm

import (
	"bufio"
	"encoding/hex"
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var assemble = flag.Bool("assemble", false, "write testdata/other/*.txt anew, with this machine's GNU assemblers")

// otherArches are the instruction sets without a capture. Their spelling is that of golang.org/x/arch.
var otherArches = []Arch{PPC64LE, RISCV64, S390X, Loong64}

// unhex decodes the hexadecimal digits in a test's table.
func unhex(digits string) []byte {
	code, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return code
}

// An otherInst is an instruction of testdata/other/<arch>.txt: the assembler's result for a line of <arch>.s.
type otherInst struct {
	pc     uint64
	code   []byte
	kind   Kind
	target uint64
	text   string // objdump's spelling
}

// kinds are the kinds by their names in testdata/other.
var kinds = []string{Plain: "plain", Call: "call", Jump: "jump", CondJump: "condjump", Return: "return"}

// otherSet reads testdata/other/<arch>.txt. Its lines have the form
//
//	1008 01010048 jump 0x100 | ba 0x100
//
// with address, bytes, kind, target of a direct jump or call (else 0), and text with single blanks.
func otherSet(t testing.TB, arch Arch) []otherInst {
	t.Helper()
	f, err := os.Open(otherFile(arch))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []otherInst
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		facts, text, _ := strings.Cut(sc.Text(), " | ")
		words := strings.Fields(facts)
		if len(words) != 4 {
			t.Fatalf("%s: bad line %q", f.Name(), sc.Text())
		}
		addr, err1 := strconv.ParseUint(words[0], 16, 64)
		code, err2 := hex.DecodeString(words[1])
		kind := slices.Index(kinds, words[2])
		target, err3 := strconv.ParseUint(words[3], 0, 64)
		if err1 != nil || err2 != nil || err3 != nil || kind < 0 || text == "" {
			t.Fatalf("%s: bad line %q", f.Name(), sc.Text())
		}
		all = append(all, otherInst{addr, code, Kind(kind), target, text})
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no instruction", f.Name())
	}
	return all
}

func otherFile(arch Arch) string { return "testdata/other/" + string(arch) + ".txt" }

// otherCode returns the code of all instructions of a set, one after the other.
func otherCode(insts []otherInst) []byte {
	var code []byte
	for _, in := range insts {
		code = append(code, in.code...)
	}
	return code
}

// TestOtherSets compares Decode's results with the source and with objdump's text. Length, kind and target must be
// equal. If the text differs, otherSpellings must have Decode's.
func TestOtherSets(t *testing.T) {
	for _, arch := range otherArches {
		t.Run(string(arch), func(t *testing.T) {
			if *assemble {
				writeOtherSet(t, arch)
			}
			known, used := otherSpellings[arch], map[string]bool{}
			want := otherSet(t, arch)
			got, err := Decode(arch, ATT, otherCode(want), want[0].pc)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Fatalf("%d instructions, want %d", len(got), len(want))
			}
			seen := map[Kind]int{}
			for i, w := range want {
				g := got[i]
				seen[w.kind]++
				if g.Addr != w.pc || g.Len != len(w.code) || g.Kind != w.kind || g.Target != w.target {
					t.Errorf("%x: % x: %s: got %+v, want %+v", w.pc, w.code, w.text, g, w)
				}
				text := w.text
				if ours, ok := known[text]; ok {
					used[text] = true
					text = ours
				}
				if squeeze(g.Text) != text {
					t.Errorf("%x: % x: got %q, want %q", w.pc, w.code, squeeze(g.Text), text)
				}
			}
			for kind, name := range kinds {
				if seen[Kind(kind)] == 0 {
					t.Errorf("the table has no instruction of kind %s", name)
				}
			}
			for text := range known {
				if !used[text] {
					t.Errorf("otherSpellings has %q, which no longer differs: strike it", text)
				}
			}
			t.Logf("%d instructions, %d of them spelled otherwise than objdump does", len(want), len(known))
		})
	}
}

// TestOtherSingle decodes each instruction alone, to check that none depends on the bytes after it.
func TestOtherSingle(t *testing.T) {
	for _, arch := range otherArches {
		for _, in := range otherSet(t, arch) {
			got, err := Decode(arch, ATT, in.code, in.pc)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || got[0].Kind != in.kind || got[0].Target != in.target {
				t.Errorf("%s: % x: got %+v, want %+v", arch, in.code, got, in)
			}
		}
	}
}
