package xarch

import (
	"bufio"
	"encoding/hex"
	"flag"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

var assemble = flag.Bool("assemble", false, "write testdata/*.txt anew, with this machine's GNU assemblers")

// arches are the decoders, by the names of their listings in testdata.
var arches = map[string]disasmtest.Decoder{
	"loong64": decoder(Loong64, 4),
	"ppc64le": decoder(PPC64LE, 4, 8),
	"riscv64": decoder(RISCV64, 2, 4),
	"s390x":   decoder(S390X, 2, 4, 6),
}

// decoder describes an instruction set whose instructions have these lengths, the shortest one first.
func decoder(decode func(code []byte, pc uint64) []asm.Inst, lengths ...int) disasmtest.Decoder {
	return disasmtest.Decoder{
		Decode:   func(_ asm.Syntax, code []byte, pc uint64) []asm.Inst { return decode(code, pc) },
		Syntaxes: []asm.Syntax{asm.ATT}, Lengths: lengths, Shortest: lengths[0],
	}
}

// A listedInst is an instruction of testdata/<arch>.txt: the assembler's result for a line of <arch>.s.
type listedInst struct {
	pc     uint64
	code   []byte
	kind   asm.Kind
	target uint64
	text   string // objdump's spelling
}

// kinds are the kinds by their names in testdata.
var kinds = []string{
	asm.Plain: "plain", asm.Call: "call", asm.Jump: "jump", asm.CondJump: "condjump", asm.Return: "return",
}

// readListing reads testdata/<arch>.txt. Its lines have the form
//
//	1008 01010048 jump 0x100 | ba 0x100
//
// with address, bytes, kind, target of a direct jump or call (else 0), and text with single blanks.
func readListing(t testing.TB, arch string) []listedInst {
	t.Helper()
	f, err := os.Open(listingFile(arch))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []listedInst
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
		all = append(all, listedInst{addr, code, asm.Kind(kind), target, text})
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no instruction", f.Name())
	}
	return all
}

func listingFile(arch string) string { return "testdata/" + arch + ".txt" }

// codeOf returns the code of all instructions of a set, one after the other.
func codeOf(insts []listedInst) []byte {
	var code []byte
	for _, in := range insts {
		code = append(code, in.code...)
	}
	return code
}

// TestListings compares what the decoders return with the source and with objdump's text. Length, kind and target must
// be equal. If the text differs, spellings must have the decoder's.
func TestListings(t *testing.T) {
	for arch, d := range arches {
		t.Run(arch, func(t *testing.T) {
			if *assemble {
				writeListing(t, arch)
			}
			known, used := spellings[arch], map[string]bool{}
			want := readListing(t, arch)
			got := d.Decode(asm.ATT, codeOf(want), want[0].pc)
			if len(got) != len(want) {
				t.Fatalf("%d instructions, want %d", len(got), len(want))
			}
			seen := map[asm.Kind]int{}
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
				if disasmtest.Squeeze(g.Text) != text {
					t.Errorf("%x: % x: got %q, want %q", w.pc, w.code, disasmtest.Squeeze(g.Text), text)
				}
			}
			for kind, name := range kinds {
				if seen[asm.Kind(kind)] == 0 {
					t.Errorf("the table has no instruction of kind %s", name)
				}
			}
			for text := range known {
				if !used[text] {
					t.Errorf("spellings has %q, which no longer differs: strike it", text)
				}
			}
			t.Logf("%d instructions, %d of them spelled otherwise than objdump does", len(want), len(known))
		})
	}
}

// TestSingle decodes each instruction alone, to check that none depends on the bytes after it.
func TestSingle(t *testing.T) {
	for arch, d := range arches {
		for _, in := range readListing(t, arch) {
			got := d.Decode(asm.ATT, in.code, in.pc)
			if len(got) != 1 || got[0].Kind != in.kind || got[0].Target != in.target {
				t.Errorf("%s: % x: got %+v, want %+v", arch, in.code, got, in)
			}
		}
	}
}

// FuzzDecode takes the instruction set as a number, so that all sets share one corpus. To fuzz only one set, put its
// name into the environment variable GASM_FUZZ_ARCH.
func FuzzDecode(f *testing.F) {
	names := slices.Sorted(maps.Keys(arches))
	for set, name := range names {
		for _, in := range readListing(f, name) {
			f.Add(byte(set), in.code, in.pc)
		}
	}
	only := slices.Index(names, os.Getenv("GASM_FUZZ_ARCH"))
	f.Fuzz(func(t *testing.T, set byte, code []byte, pc uint64) {
		if only >= 0 {
			set = byte(only)
		}
		arches[names[int(set)%len(names)]].Check(t, code, pc)
	})
}

// TestRandomBytes decodes bytes that are not code. z/Architecture's come after opcodes that have many instructions.
func TestRandomBytes(t *testing.T) {
	for name, d := range arches {
		starts := [][]byte{{}}
		if name == "s390x" {
			starts = [][]byte{{}, {0xe7}, {0xe7, 0, 0, 0, 0}, {0xb9}, {0xb3}, {0xec}, {0xed}, {0xe3}, {0xe5}}
		}
		t.Run(name, func(t *testing.T) { d.CheckRandom(t, 2_000, starts...) })
	}
}
