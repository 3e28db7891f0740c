package printassembly

import (
	"bytes"
	"testing"

	"github.com/gasm-profiler/gasm/disasm"
)

// BenchmarkIndex indexes about 100 MB: copies of a real log.
func BenchmarkIndex(b *testing.B) {
	log := bytes.Repeat(readCapture(b, "jdk25-full-hsdis"), 12)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	blobs := 0
	for b.Loop() {
		x, err := readIndex(bytes.NewReader(log), int64(len(log)), "bench.log")
		if err != nil || x.Damaged > 0 {
			b.Fatal(err, x)
		}
		blobs += len(x.Blobs)
	}
	b.ReportMetric(float64(blobs)/b.Elapsed().Seconds(), "blobs/s")
}

// BenchmarkCode reads the code of all blobs of a log.
func BenchmarkCode(b *testing.B) {
	for _, name := range []string{"jdk25-lean-none", "jdk25-full-hsdis"} {
		b.Run(name, func(b *testing.B) {
			log := readCapture(b, name)
			l, err := NewLog(bytes.NewReader(log), int64(len(log)), name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			insts := 0
			for b.Loop() {
				for i := range l.Blobs {
					c, err := l.Code(&l.Blobs[i], disasm.ATT)
					if err != nil {
						b.Fatal(err)
					}
					insts += len(c)
				}
			}
			b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "insts/s")
		})
	}
}
