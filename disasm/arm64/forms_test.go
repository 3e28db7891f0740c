package arm64

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
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

var dumpForms = flag.Bool("forms", false, "write testdata/forms.txt.gz anew, with this machine's objdump")

const formsFile = "testdata/forms.txt.gz"

// A knownForm is a group of instructions that Decode and objdump spell differently: those with x&mask == value.
type knownForm struct {
	mask, value uint32
	fits        func(x uint32) bool
	want, got   string // beginnings of the texts
	count       int    // number of its lines in the file
	why         string
}

var knownForms = []knownForm{
	{0xfe400000, 0x68400000, ldpswUnpredictable, ".inst", "ldpsw", 2,
		"a register is loaded twice, or is the base that is written back: unpredictable; objdump refuses only ldpsw"},
	{0xfff00000, 0xd5100000, nil, "msr ", "msr s2_", 1, "objdump names more system registers, here of tracing"},
	{0xfff00000, 0xd5300000, nil, "mrs ", "mrs ", 2, "objdump names more system registers, here of tracing"},
}

// ldpswUnpredictable reports whether a load of a pair loads the same register twice, or loads the base register that
// it updates.
func ldpswUnpredictable(x uint32) bool {
	first, second, base := asm.Bits(x, 0, 5), asm.Bits(x, 10, 5), asm.Bits(x, 5, 5)
	writesBack := x>>23&1 != 0
	return first == second || writesBack && (first == base || second == base)
}

// TestEveryForm compares every row of our tables with objdump's text for the row with random operands. The
// differences are in knownForms.
func TestEveryForm(t *testing.T) {
	if *dumpForms {
		writeForms(t)
	}
	words, texts := readForms(t)
	var code []byte
	for _, x := range words {
		code = binary.LittleEndian.AppendUint32(code, x)
	}
	got := Decode(code, pc)
	counts := make([]int, len(knownForms))
	for i, x := range words {
		text := disasmtest.Squeeze(got[i].Text)
		if text == texts[i] {
			continue
		}
		known := slices.IndexFunc(knownForms, func(k knownForm) bool {
			return x&k.mask == k.value && (k.fits == nil || k.fits(x)) &&
				strings.HasPrefix(texts[i], k.want) && strings.HasPrefix(text, k.got)
		})
		if known < 0 {
			t.Errorf("%08x: got %q, want %q", x, text, texts[i])
			continue
		}
		counts[known]++
	}
	for i, k := range knownForms {
		if counts[i] != k.count {
			t.Errorf("%d differences because %s, want %d", counts[i], k.why, k.count)
		}
	}
	checkEveryFormHit(t, words)
}

// checkEveryFormHit fails for each row of our tables that matches none of the words.
func checkEveryFormHit(t *testing.T, words []uint32) {
	t.Helper()
	for _, f := range sortedForms() {
		if !slices.ContainsFunc(words, f.fits) {
			t.Errorf("%s has no instruction of the form %08x/%08x %s: run with -forms", formsFile, f.value, f.mask, f)
		}
	}
}

// fits reports whether x can be spelled by f. Another form may be preferred.
func (f *form) fits(x uint32) bool {
	if x&f.mask != f.value {
		return false
	}
	b, ok := appendPieces(nil, f.mnemonic, x, pc)
	if ok {
		_, ok = appendPieces(b, f.args, x, pc)
	}
	return ok
}

// String returns the fixed parts of a form, with a dot for each operand.
func (f *form) String() string {
	var b strings.Builder
	for _, p := range slices.Concat(f.mnemonic, f.args) {
		b.WriteString(p.fixed)
		if p.op != nil {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// sortedForms returns each form of our tables once, sorted. Families are in maps, so the order of the tables varies.
func sortedForms() []*form {
	seen := make(map[*form]bool)
	var forms []*form
	for _, bucket := range allForms() {
		for _, f := range bucket {
			if !seen[f] {
				seen[f] = true
				forms = append(forms, f)
			}
		}
	}
	slices.SortFunc(forms, func(a, b *form) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.mask, b.mask), cmp.Compare(a.String(), b.String()))
	})
	return forms
}

// writeForms disassembles instructions of each form with objdump, and writes a line for each: "d65f03c0 ret".
func writeForms(t *testing.T) {
	t.Helper()
	const perForm = 16
	random := rand.New(rand.NewPCG(1, 2))
	var code []byte
	for _, f := range sortedForms() {
		fits := false
		for i := 0; i < perForm || !fits && i < 1<<16; i++ { // at least one whose operands match the form
			x := random.Uint32()&^f.mask | f.value
			if ok := f.fits(x); i < perForm || ok {
				fits = fits || ok
				code = binary.LittleEndian.AppendUint32(code, x)
			}
		}
	}
	var b bytes.Buffer
	for i, in := range objdump.Disassemble(t, asm.ATT, []disasmtest.Blob{{PC: pc, Code: code}})[0] {
		fmt.Fprintf(&b, "%08x %s\n", binary.LittleEndian.Uint32(code[instLen*i:]), disasmtest.Squeeze(in.Text))
	}
	gasmtest.WriteGzip(t, formsFile, b.Bytes())
}

// readForms reads the file of writeForms.
func readForms(t *testing.T) (words []uint32, texts []string) {
	t.Helper()
	for line := range strings.Lines(string(gasmtest.Gunzip(t, formsFile))) {
		digits, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		x, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || text == "" {
			t.Fatalf("%s: bad line %q", formsFile, line)
		}
		words, texts = append(words, uint32(x)), append(texts, text)
	}
	if len(words) == 0 {
		t.Fatalf("%s is empty", formsFile)
	}
	return words, texts
}

// glossaryLine matches a line of the glossary in operand.go: name, meaning, example.
var glossaryLine = regexp.MustCompile(`(?m)^//\t<([^>]+)> +(.*?)  +(\S.*)$`)

// TestGlossary checks that the glossary has every operand, no others, and examples that are objdump's.
func TestGlossary(t *testing.T) {
	source, err := os.ReadFile("operand.go")
	if err != nil {
		t.Fatal(err)
	}
	_, texts := readForms(t)
	explained := map[string]bool{}
	for _, m := range glossaryLine.FindAllStringSubmatch(string(source), -1) {
		name, example := m[1], m[3]
		explained[name] = true
		operandNamed(name) // panics if there is none
		start, cut := strings.CutSuffix(example, "…")
		known := slices.ContainsFunc(texts, func(text string) bool {
			return text == example || cut && strings.HasPrefix(text, start)
		})
		if !known && !slices.Contains(glossaryOwnExamples, example) {
			t.Errorf("<%s>: %s does not have the example %q", name, formsFile, example)
		}
	}
	count := 0
	for _, ops := range operandMaps {
		for name := range ops {
			count++
			sample := laneOf.ReplaceAllString(numbered.ReplaceAllString(name, "${1}1"), "${1}b1")
			if !explained[name] && !explained[sample] {
				t.Errorf("the glossary does not have <%s>", name)
			}
		}
	}
	if count == 0 || len(explained) == 0 {
		t.Errorf("%d operands, %d of them explained", count, len(explained))
	}
}

var (
	numbered = regexp.MustCompile(`^((?:list|post|lane)[a-z]?)[1-4]$`) // <list3> is explained at <list1>
	laneOf   = regexp.MustCompile(`^(post|lane)[bhsd]1$`)              // <laneh1> is explained at <laneb1>
)

// glossaryOwnExamples are instructions in TestDecode.
var glossaryOwnExamples = []string{"br x8", "mov sp, x1", "add v0.4s, v1.4s, v2.4s", "nop"}
