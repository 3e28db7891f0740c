package codemap

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// BenchmarkCodeMap makes the map of as many blobs as a log of 400 MB has, and finds addresses in it.
func BenchmarkCodeMap(b *testing.B) {
	text := gasmtest.Capture(b, "jdk25-lean-none", gasmtest.Log)
	log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), "asm.log")
	if err != nil {
		b.Fatal(err)
	}
	var blobs []printassembly.Blob
	for i := range 200 {
		for _, blob := range log.Blobs {
			blob.UptimeMillis += int64(i) * 10_000
			blobs = append(blobs, blob)
		}
	}
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			New(blobs)
		}
	})
	m := New(blobs)
	b.Run("find", func(b *testing.B) {
		rnd := rand.New(rand.NewPCG(1, 2))
		for b.Loop() {
			blob := &blobs[rnd.IntN(len(blobs))]
			m.Find(blob.Lo+rnd.Uint64N(blob.Hi-blob.Lo), rnd.Int64N(2_000_000))
		}
	})
}
