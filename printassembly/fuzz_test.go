package printassembly

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/gasm-profiler/gasm/disasm"
)

// addSeeds adds pieces of the captures as seeds: the headers, and some lines around each of a few marks, cut off at
// arbitrary bytes.
func addSeeds(f *testing.F) {
	for _, name := range captures {
		log := readCapture(f, name)
		f.Add(log[:1500])
		for _, mark := range []string{"Workload::dot", "itbl[0]", "(native)", "invokehandle", "mov    0x18(%rax)\n",
			"; ImmutableOopMap",
			"argument handler #", "Decoding VtableStub vtbl", "Decoding compiled method", "OopMapSet contains", ".clone()"} {
			if i := bytes.Index(log, []byte(mark)); i >= 0 {
				f.Add(log[max(0, i-300):min(len(log), i+3000)])
			}
		}
	}
	for _, text := range []string{
		header + "<writer thread='1'/>\n" + nmethod(10, "A::a", 0x1000)[:250] + "\n<writer thread='2'/>\n" +
			nmethod(11, "B::b", 0x2000),
		"StubRoutines::a [0x0, 0x10[ (16 bytes)\n[MachCode]\n  0x0: 9090 90",
		"x  [0xffffffffffffff00, 0xffffffffffffffff]  255 bytes\n  0xffffffffffffffff: 9090",
		"Decoding X [0x1, 0x9]\r\n  0x1:   nop\r\n",
		"Decoding X [0x1, 0x9]\n\n 0x1: no row\n",
	} {
		f.Add([]byte(text))
	}
}

// FuzzIndex indexes arbitrary bytes.
func FuzzIndex(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := NewLog(bytes.NewReader(in), int64(len(in)), "fuzz.log")
		if err != nil {
			var format *FormatError
			if l != nil || !errors.As(err, &format) {
				t.Fatalf("log %v, error %v", l, err)
			}
			return
		}
		checkIndex(t, l.Index)
		byLine := lineIndex(in)
		if len(byLine.Blobs) == 0 && len(l.Blobs) == 0 {
			byLine.Blobs = l.Blobs // empty or nil
		}
		if l.indent == 0 && !reflect.DeepEqual(byLine, *l.Index) {
			t.Fatalf("got %#v, line by line %#v", *l.Index, byLine)
		}
		if bytes.Contains(in, []byte{'\r'}) || l.Cut {
			return
		}
		crlf := bytes.ReplaceAll(in, []byte("\n"), []byte("\r\n"))
		other, err := NewLog(bytes.NewReader(crlf), int64(len(crlf)), "fuzz.log")
		if err != nil || len(other.Blobs) != len(l.Blobs) || other.Damaged != l.Damaged ||
			!reflect.DeepEqual(other.Header, l.Header) {
			t.Fatalf("with CRLF: %v, %+v, without: %+v", err, other, l)
		}
	})
}

// FuzzCode reads the code of all blobs that are found in arbitrary bytes.
func FuzzCode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := NewLog(bytes.NewReader(in), int64(len(in)), "fuzz.log")
		if err != nil {
			return
		}
		for i := range l.Blobs {
			att, intel := code(t, l, &l.Blobs[i]), []Instruction(nil)
			checkCode(t, &l.Blobs[i], att)
			if intel, err = l.Code(&l.Blobs[i], disasm.Intel); err != nil || len(att) != len(intel) {
				t.Fatalf("%d instructions in AT&T syntax, %d in Intel syntax, %v", len(att), len(intel), err)
			}
		}
	})
}
