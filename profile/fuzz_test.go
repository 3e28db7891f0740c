package profile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// FuzzBuild joins any samples to any log. Four bytes of hits are one sample, which is near the start of some blob. Run
// it with -fuzzminimizetime=1x: the order of maps makes its coverage differ from run to run, so that minimizing does
// not end.
func FuzzBuild(f *testing.F) {
	method := c2(1, 1, "A::a", 0x1000, nops(64)) + c2(2, 2, "A::a", 0x1010, "e8fb f0ff ff90 90c3")
	f.Add([]byte(method+stub("copy", 0x100, nops(16))+codelet("iload  21 iload", 0x200, nops(16))), []byte("\x00\x01\x02\x03\x01\x02\x00\x13"))
	f.Add([]byte("x  [0x0, 0x10]  16 bytes\nx  [0xfffffffffffffff0, 0xffffffffffffffff]  15 bytes\n"), []byte("\x00\x0f\x02\x03\x01\x0e\x00\x13"))
	log := gasmtest.Capture(f, "jdk17-lean-none", gasmtest.Log)
	for _, mark := range []string{"Workload::dot", "itbl[0]", "(native)"} {
		i := bytes.Index(log, []byte(mark))
		f.Add(log[i-300:i+3000], []byte("\x00\x01\x02\x03\x00\x02\x00\x13\x01\xff\x80\x10"))
	}
	f.Fuzz(func(t *testing.T, log, hits []byte) {
		l, err := printassembly.NewLog(bytes.NewReader(log), int64(len(log)), "fuzz.log")
		if err != nil || len(l.Blobs) == 0 {
			return
		}
		b := NewBuilder(Config{
			JVMs:   []capture.JVM{{PID: 1, Log: l}, {PID: 2, Log: l, StartMonoNanos: 5e6}},
			Trials: []capture.Trial{{Windows: []capture.Window{always(1), always(2)}}, {Name: "bench", Windows: []capture.Window{window(2, 0, 40e6)}}},
			Parts:  true,
		})
		for ; len(hits) >= 4; hits = hits[4:] {
			s := sampler.Sample{PID: int(hits[3] & 3), MonoNanos: int64(hits[2]) * 1e6, Event: "cycles",
				PC: l.Blobs[int(hits[0])%len(l.Blobs)].Lo + uint64(hits[1])}
			if hits[3]&4 != 0 {
				s.Event = "misses"
			}
			if hits[3]&8 != 0 {
				s.Module = []string{"libc.so.6", sampler.KernelModule}[hits[3]>>4&1]
			}
			b.Add(&s)
		}
		opts := DefaultOptions()
		opts.Listings, opts.Hottest = 1000, true
		opts.SkipStubs = len(hits)&1 != 0
		require.Len(t, build(t, b, opts), 2)
	})
}
