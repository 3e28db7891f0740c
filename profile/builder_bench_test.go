package profile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// BenchmarkAdd counts the samples of a real capture, again and again.
func BenchmarkAdd(b *testing.B) {
	text := gasmtest.Capture(b, "jdk25-lean-none", gasmtest.Log)
	log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), "asm.log")
	require.NoError(b, err)
	samples := realSamples(b, gasmtest.Capture(b, "jdk25-lean-none", gasmtest.Samples))
	start := firstSample(b, samples, log.PID)
	builder := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: log.PID, Log: log, StartMonoNanos: start}}})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		builder.Add(&samples[i%len(samples)])
	}
}
