package exec

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A share counts instructions of some code.
type share struct {
	all      int // instructions that are not padding
	known    int // instructions whose frames are known
	assumed  int // the ones among known that were not reached from the seeds
	disagree int // instructions that were reached, but whose frames are unknown
}

func (s *share) add(table *Table, c Code) {
	for _, in := range disassemble(c) {
		if c.arch.padding(c.Bytes[in.Addr-c.Lo:]) || in.Bad {
			continue
		}
		s.all++
		if f, ok := table.At(in.Addr); ok {
			s.known++
			if f.Assumed {
				s.assumed++
			}
		} else if table.at[in.Addr-c.Lo] == noFrame {
			s.disagree++
		}
	}
}

// dispatch is what most codelets end with: jmp *(%r10,%rbx,8).
var dispatch = []byte{0x41, 0xff, 0x24, 0xda}

// TestBlobs executes all of HotSpot's code in testdata, and compares the frames with those of an emulator. The frame
// sizes of the methods are not known, so nothing is assumed of code that is not reached.
func TestBlobs(t *testing.T) {
	var methods, stubs, codelets share
	var ran emulated
	for _, b := range blobs(t) {
		c, counted := AMD64.Stub(b.lo, b.code, ""), &stubs
		switch {
		case b.nmethod:
			c, counted = AMD64.NMethod(b.lo, b.code, Method{}), &methods
		case bytes.Contains(b.code, dispatch):
			c, counted = AMD64.Codelet(b.lo, b.code, ""), &codelets
		}
		table := Analyze(c)
		counted.add(table, c)
		got := emulateAll(t, c, table, 5)
		ran.all, ran.known, ran.returns = ran.all+got.all, ran.known+got.known, ran.returns+got.returns
		if t.Failed() {
			t.Logf("nmethod: %v, code at %#x", b.nmethod, b.lo)
			return
		}
	}
	t.Logf("methods %+v, stubs %+v, codelets %+v, emulated %+v", methods, stubs, codelets, ran)
	assert.Greater(t, float64(methods.known), 0.85*float64(methods.all))
	assert.Less(t, float64(methods.disagree), 0.001*float64(methods.all))
	assert.Greater(t, float64(ran.known), 0.95*float64(ran.all))
}

// BenchmarkAnalyze executes all methods in testdata.
func BenchmarkAnalyze(b *testing.B) {
	all := blobs(b)
	size, n := 0, 0
	var codes []Code
	for _, blob := range all {
		if blob.nmethod {
			size += len(blob.code)
			codes = append(codes, AMD64.NMethod(blob.lo, blob.code, Method{FrameSize: 48, FrameComplete: 16}))
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range codes {
			Analyze(c)
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/method")
	b.ReportMetric(float64(size)/float64(len(codes)), "bytes/method")
}
