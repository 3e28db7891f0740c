package disasmtest

import (
	"flag"
	"slices"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// Misses is the maximum number of differences that a test prints.
var Misses = flag.Int("misses", 20, "how many differences to print")

// A Disputed range is code that older versions of objdump decode differently from the decoder.
type Disputed struct {
	Lo, Hi uint64
	Until  int // the first version of objdump that agrees with the decoder; 242 means 2.42
	Why    string
}

// Parity compares every instruction of the blobs in testdata, or in the logs of -logs, with GNU objdump's. The test
// fails if an instruction differs outside the fixture's disputed ranges.
func (d Decoder) Parity(t *testing.T, tool Objdump, disputed map[string][]Disputed) {
	t.Helper()
	sets := Blobs
	if *logs != "" {
		sets = logBlobs
	}
	for name, blobs := range sets(t) {
		for _, syntax := range d.Syntaxes {
			t.Run(name+"/"+[...]string{asm.ATT: "att", asm.Intel: "intel"}[syntax], func(t *testing.T) {
				insts := tool.Disassemble(t, syntax, blobs)
				version := tool.version(t)
				agreed := func(r Disputed) bool { return r.Until <= version }
				d.compare(t, syntax, blobs, insts, slices.DeleteFunc(slices.Clone(disputed[name]), agreed))
			})
		}
	}
}

// compare compares the decoder's instructions of each blob with objdump's.
func (d Decoder) compare(t *testing.T, syntax asm.Syntax, blobs []Blob, all [][]asm.Inst, ranges []Disputed) {
	t.Helper()
	used := make([]bool, len(ranges))
	compared, differences := 0, 0
	for i, want := range all {
		got := d.Decode(syntax, blobs[i].Code, blobs[i].PC)
		for _, w := range want {
			compared++
			text, ok := take(&got, w)
			if ok && (text == Squeeze(w.Text) || SharedSpelling(text) == SharedSpelling(w.Text)) {
				continue
			}
			at := slices.IndexFunc(ranges, func(r Disputed) bool { return r.Lo <= w.Addr && w.Addr < r.Hi })
			if at >= 0 {
				used[at] = true
				continue
			}
			if differences++; differences <= *Misses {
				off := w.Addr - blobs[i].PC
				t.Errorf("%x: % x: got %q, want %q", w.Addr, blobs[i].Code[off:off+uint64(w.Len)], text, w.Text)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	for i, r := range ranges {
		if !used[i] {
			t.Errorf("no difference in [%x, %x), which is disputed (%s): strike it", r.Lo, r.Hi, r.Why)
		}
	}
	t.Logf("%d of %d instructions differ from objdump's, %d ranges disputed", differences, compared, len(ranges))
}

// take removes instructions from *got: those that cover the bytes of the instruction want, and all instructions before
// them. It returns the text of the first one that covers these bytes, and whether it alone covers exactly these bytes.
// If neither decoder could decode the bytes, the text of want is returned instead, and several instructions in got are
// accepted: our decoder returns undecodable bytes one by one, whereas objdump returns them together with their
// prefixes.
func take(got *[]asm.Inst, want asm.Inst) (string, bool) {
	for len(*got) > 0 && (*got)[0].Addr < want.Addr {
		*got = (*got)[1:]
	}
	if len(*got) == 0 || (*got)[0].Addr != want.Addr {
		return "", false
	}
	first := (*got)[0]
	end := want.Addr
	bad := true
	for len(*got) > 0 && end < want.Addr+uint64(want.Len) {
		end += uint64((*got)[0].Len)
		bad = bad && (*got)[0].Bad
		*got = (*got)[1:]
	}
	ok := end == want.Addr+uint64(want.Len)
	if bad && want.Bad {
		return Squeeze(want.Text), ok
	}
	return Squeeze(first.Text), ok && first.Len == want.Len
}
