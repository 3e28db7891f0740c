package amd64

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var (
	dumpOpcodes   = flag.String("opcodes", "", "write testdata/opcodes/SET.txt.gz anew, for these `sets` (legacy,vex)")
	dumpTool      = flag.String("objdump", "objdump", "with -opcodes: the `program` that disassembles")
	acceptOpcodes = flag.Bool("accept", false, "write testdata/opcodes/known.txt anew")
)

// opcodeSets contain all opcodes, with several prefixes and operands. Compilers generate few of them, and many are not
// instructions.
var opcodeSets = []struct {
	name string
	code func() []byte
}{
	{"legacy", everyLegacy},
	{"vex", everyVEX},
	{"evex", everyEVEX},
	{"rex2", everyREX2},
	{"map4", everyMap4},
	{"egpr", everyEGPR},
}

const knownOpcodes = "testdata/opcodes/known.txt"

// TestEveryOpcode compares opcodeSets with objdump's texts, in both syntaxes. known.txt lists the differences with
// their numbers, by the reasons in opcodeReasons. The test fails if a difference appears or disappears.
func TestEveryOpcode(t *testing.T) {
	counts, examples := map[string]*[2]int{}, map[string]string{}
	for _, set := range opcodeSets {
		code := set.code()
		if slices.Contains(strings.Split(*dumpOpcodes, ","), set.name) {
			writeTruth(t, set.name, code)
		}
		for syntax, insts := range readTruth(t, set.name, code) {
			for _, d := range compareSlots(set.name, asm.Syntax(syntax), code, insts) {
				line := d.line(t)
				if counts[line] == nil {
					counts[line] = new([2]int)
				}
				counts[line][syntax]++
				examples[line] = d.String()
			}
		}
	}
	for _, r := range opcodeReasons {
		if !r.used {
			t.Errorf("no difference has the reason %s (%s, %s): strike it", r.name, r.want, r.got)
		}
	}
	var got bytes.Buffer
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		n := counts[line]
		fmt.Fprintf(&got, "%s %d %d\n", line, n[asm.ATT], n[asm.Intel])
	}
	if *acceptOpcodes {
		if err := os.WriteFile(knownOpcodes, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(knownOpcodes)
	if err != nil {
		t.Fatal(err)
	}
	reportLines(t, strings.Split(got.String(), "\n"), strings.Split(string(known), "\n"), examples)
}

// reportLines fails for each line that is in only one of the two lists.
func reportLines(t *testing.T, got, want []string, examples map[string]string) {
	t.Helper()
	only := func(a, b []string, what string) {
		in := map[string]bool{}
		for _, line := range b {
			in[line] = true
		}
		shown := 0
		for _, line := range a {
			if in[line] || shown == *disasmtest.Misses {
				continue
			}
			shown++
			key := line
			for range 2 { // remove the two numbers
				key = key[:max(strings.LastIndexByte(key, ' '), 0)]
			}
			t.Errorf("%s: %s; for example %s", what, line, examples[key])
		}
	}
	only(got, want, "not in known.txt")
	only(want, got, "in known.txt, but no longer so")
}

// A difference is an instruction that Decode and objdump spell differently.
type difference struct {
	set        string
	code       []byte
	want, got  string
	wantBad    bool // objdump indicates that the bytes are not an instruction
	gotUnknown bool // Decode returns .byte
}

func (d difference) String() string {
	return fmt.Sprintf("% x: objdump %q, Decode %q", d.code, d.want, d.got)
}

// line returns the line of known.txt that counts d: reason, set, and the mnemonics of objdump and of Decode.
func (d difference) line(t *testing.T) string {
	t.Helper()
	want, got := mnemonic(d.want), mnemonic(d.got)
	switch {
	case d.wantBad:
		want = "-"
	case d.gotUnknown:
		got = "-"
	}
	for i := range opcodeReasons {
		r := &opcodeReasons[i]
		if r.fits(d, want, got) {
			r.used = true
			return strings.Join([]string{r.name, d.set, want, got}, " ")
		}
	}
	t.Errorf("%s: %v: no reason in opcodeReasons fits", d.set, d)
	return strings.Join([]string{"?", d.set, want, got}, " ")
}

// mnemonic returns the first word of a text that is not a prefix.
func mnemonic(text string) string {
	words := strings.Fields(text)
	for len(words) > 1 && (strings.HasPrefix(words[0], "{") || strings.HasPrefix(words[0], "0x") || // "{rex2 0x8}"
		slices.Contains(prefixWords, words[0])) {
		words = words[1:]
	}
	return words[0]
}

var prefixWords = strings.Fields("data16 repz repnz rep lock cs ds es ss fs gs addr32 bnd notrack")

// badMark matches objdump's ways to say that the bytes are not an instruction, or not a valid one: "(bad)",
// "vmovs{bad}", "{rn-bad}", and "?" for a register that does not exist, as in "mov %ecx,%?".
var badMark = regexp.MustCompile(`\bbad\b|[ ,]%?\?`)

// compareSlots decodes the instruction at the start of each slot and returns the differences. If neither finds an
// instruction, they may skip different numbers of bytes.
func compareSlots(set string, syntax asm.Syntax, code []byte, truth []asm.Inst) []difference {
	var all []difference
	x := x86{syntax: syntax, names: spellings()}
	for _, w := range truth {
		off := w.Addr - opcodePC
		x.code, x.pc, x.bad, x.buf = code[off:], w.Addr, 0, x.buf[:0]
		in := x.next()
		text := disasmtest.Squeeze(string(x.buf))
		if in.Len == w.Len && text == w.Text {
			continue
		}
		wantBad := badMark.MatchString(w.Text)
		if wantBad && in.Bad {
			continue
		}
		all = append(all, difference{set, code[off : off+uint64(w.Len)], w.Text, text, wantBad, in.Bad})
	}
	return all
}

const opcodePC = 0x7f0000000000

func truthFile(set string) string { return "testdata/opcodes/" + set + ".txt.gz" }

// writeTruth disassembles code with objdump, and writes a line per slot, which has the length and the text in both
// syntaxes:
//
//	4|vaddps %zmm1,%zmm2,%zmm3|vaddps zmm3,zmm2,zmm1
func writeTruth(t *testing.T, set string, code []byte) {
	t.Helper()
	var texts [2][]asm.Inst
	tool := objdump
	tool.Name = *dumpTool
	for syntax := range texts {
		blobs := []disasmtest.Blob{{PC: opcodePC, Code: code}}
		for _, in := range tool.Disassemble(t, asm.Syntax(syntax), blobs)[0] {
			if (in.Addr-opcodePC)%slot == 0 {
				texts[syntax] = append(texts[syntax], in)
			}
		}
	}
	var b bytes.Buffer
	for i, in := range texts[asm.ATT] {
		fmt.Fprintf(&b, "%d|%s|%s\n", in.Len, disasmtest.Squeeze(in.Text), disasmtest.Squeeze(texts[asm.Intel][i].Text))
	}
	gasmtest.WriteGzip(t, truthFile(set), b.Bytes())
}

// readTruth reads what writeTruth wrote for code.
func readTruth(t *testing.T, set string, code []byte) (texts [2][]asm.Inst) {
	t.Helper()
	at := uint64(opcodePC)
	for line := range strings.Lines(string(gasmtest.Gunzip(t, truthFile(set)))) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		n, err := strconv.Atoi(parts[0])
		if err != nil || len(parts) != 3 {
			t.Fatalf("%s: bad line %q", truthFile(set), line)
		}
		for syntax := range texts {
			texts[syntax] = append(texts[syntax], asm.Inst{Addr: at, Len: n, Text: parts[1+syntax]})
		}
		at += slot
	}
	if len(code) == 0 || len(texts[asm.ATT]) != len(code)/slot {
		t.Fatalf("%s has %d slots, the code has %d", truthFile(set), len(texts[asm.ATT]), len(code)/slot)
	}
	return texts
}
