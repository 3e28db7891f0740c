package profile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/sampler"
)

// FuzzBuild joins any samples to any log. Four bytes of hits are one sample, which is near the start of some blob. Run
// it with -fuzzminimizetime=1x: the order of maps makes its coverage differ from run to run, so that minimizing does
// not end.
func FuzzBuild(f *testing.F) {
	method := c2(1, 1, "A::a", 0x1000, nops(64)) + c2(2, 2, "A::a", 0x1010, "e8fb f0ff ff90 90c3")
	f.Add([]byte(method+stub("copy", 0x100, nops(16))+codelet("iload  21 iload", 0x200, nops(16))),
		[]byte("\x00\x01\x02\x03\x01\x02\x00\x13"))
	f.Add([]byte("x  [0x0, 0x10]  16 bytes\nx  [0xfffffffffffffff0, 0xffffffffffffffff]  15 bytes\n"),
		[]byte("\x00\x0f\x02\x03\x01\x0e\x00\x13"))
	log := gasmtest.Capture(f, "jdk17-lean-none", gasmtest.Log)
	for _, mark := range []string{"Workload::dot", "itbl[0]", "(native)"} {
		i := bytes.Index(log, []byte(mark))
		f.Add(log[i-300:i+3000], []byte("\x00\x01\x02\x03\x00\x02\x00\x13\x01\xff\x80\x10"))
	}
	stacks := fuzzStacks(f)
	f.Fuzz(func(t *testing.T, log, hits []byte) {
		l, err := printassembly.NewLog(bytes.NewReader(log), int64(len(log)), "fuzz.log")
		if err != nil || len(l.Blobs) == 0 {
			return
		}
		var under *calltree.Under
		if len(log)%3 == 0 {
			under = calltree.NewUnder(calltree.Pattern("A::a"), stacks)
		}
		b := NewBuilder(choice.Config{
			JVMs: []capture.JVM{{PID: 1, Log: l}, {PID: 2, Log: l, StartMonoNanos: 5e6}},
			Trials: []capture.Trial{{Windows: []capture.Window{always(1), always(2)}},
				{Name: "bench", Windows: []capture.Window{window(2, 0, 40e6)}}},
			Parts:  true,
			Stacks: stacks,
			Under:  under,
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
			s.Stack = callstack.ID(hits[1] & 15) // some of these stacks do not exist
			b.Add(&s)
		}
		opts := choice.DefaultOptions()
		opts.Listings, opts.Hottest = 1000, true
		opts.SkipStubs = len(hits)&1 != 0
		opts.Locations, opts.By = true, []calltree.Pattern{"A::a", "A::*"}
		profiles := build(t, b, opts)
		require.Len(t, profiles, 2)
		for _, p := range profiles {
			for e, a := range p.Accounts {
				var located, split int64
				for _, l := range p.Locations {
					located += l.Counts[e]
				}
				for _, by := range p.By {
					split += by.Counts[e]
				}
				require.Equal(t, a.Profiled, located)
				require.Equal(t, a.Profiled, split)
				require.Equal(t, a.Profiled, a.Stacks())
				require.Equal(t, a.Profiled, p.Stacks.TopDown(calltree.Limits{}).Nodes[0].Counts[e])
			}
		}
	})
}

// fuzzStacks returns stacks with a frame of each kind.
func fuzzStacks(f *testing.F) *calltree.Stacks {
	f.Helper()
	var text bytes.Buffer
	w := callstack.NewWriter(&text)
	for k := callstack.Compiled; k <= callstack.NoCaller; k++ {
		w.Push(callstack.ID(k/2), callstack.Frame{Kind: k, BCI: callstack.Unknown, Line: callstack.Unknown, Name: "A::a"})
	}
	require.NoError(f, w.Flush())
	tree, err := callstack.Read(&text, "stacks.txt")
	require.NoError(f, err)
	return calltree.NewStacks(tree)
}
