package callstack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead reads stacks of 40 frames each, as a minute of a server has them.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	w := NewWriter(&text)
	nodes := 0
	for i := range 4000 {
		var at ID
		for depth := range 40 {
			at = w.Push(at, Frame{Kind: Compiled, PC: uint64(0x7f3c44d00000 + 64*(i>>(max(0, 12-depth/3))) + depth),
				CompileID: depth, BCI: 1, Line: depth,
				Name: fmt.Sprintf("org.acme.app.Handler%d::handle%d", i%100, depth)})
		}
		nodes = int(at)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		t, err := Read(strings.NewReader(text.String()), "stacks.txt")
		if err != nil || t.Len() != nodes {
			b.Fatal(err, t.Len())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*nodes), "ns/node")
}
