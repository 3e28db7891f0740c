package stack

import (
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// TestGarbage walks stacks that no thread has. They consist of random words from a real JVM's code, heap and
// libraries, and the registers point anywhere. No walk may take long, and no stack may have more frames than it has
// words.
func TestGarbage(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	gasmtest.NeedNative(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Stacks.java"))
	cmd := exec.Command(gasmtest.NeedJava(t), "-cp", classes, "Stacks", "forever")
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	pid := cmd.Process.Pid
	w, out := NewWalker(shared.NewJVMs()), callstack.NewWriter(io.Discard)
	require.Eventually(t, func() bool {
		now := monotonic.Nanos()
		j := w.process(pid, now)
		j.tryAt = 0
		j.open(now)
		j.poll(now)
		return j.openJVM != nil && len(j.view.Cache.Blobs()) > 500
	}, time.Minute, 20*time.Millisecond, "the JVM compiles methods")
	mappings := native.NewResolver()
	maps, err := native.ReadMaps(pid)
	require.NoError(t, err)
	mappings.Add(maps...)

	random := rand.New(rand.NewPCG(1, 2))
	blobs := w.jvms[pid].view.Cache.Blobs()
	word := func(stack uint64) uint64 {
		switch random.IntN(6) {
		case 0:
			return random.Uint64()
		case 1:
			return uint64(random.IntN(1 << 16))
		case 2: // an address in the stack
			return stack + uint64(random.IntN(1<<17)) - 1<<15
		case 3:
			m := maps[random.IntN(len(maps))]
			return m.Lo + random.Uint64N(m.Hi-m.Lo+1)
		}
		b := blobs[random.IntN(len(blobs))]
		return b.Lo + random.Uint64N(b.Hi-b.Lo+1)
	}
	longest, most := time.Duration(0), 0
	for range 5000 {
		sp := 0x7f0000000000 + random.Uint64N(1<<40)&^7
		if random.IntN(50) == 0 {
			sp = random.Uint64() // wraps around, or is not aligned
		}
		state := &perfevent.ThreadState{ABI: perfevent.ABI64, Stack: make([]byte, random.IntN(4<<10))}
		for i := range state.Regs {
			state.Regs[i] = word(sp)
		}
		state.Regs[perfevent.SP] = sp
		for i := 0; i+8 <= len(state.Stack); i += 8 {
			x := word(sp)
			for k := range 8 {
				state.Stack[i+k] = byte(x >> (8 * k))
			}
		}
		r := &perfevent.Record{Kind: perfevent.Sample, Mode: perfevent.User, PID: int32(pid), TID: int32(pid),
			MonoNanos: monotonic.Nanos(), IP: state.Regs[perfevent.IP], ThreadState: state}
		if random.IntN(4) == 0 {
			r.Mode = perfevent.Kernel
		}
		began := time.Now()
		w.Walk(out, r, mappings)
		longest, most = max(longest, time.Since(began)), max(most, len(w.walk.frames))
		// Each physical frame except the leaf takes a word of the stack. In addition, a method may have inlined
		// frames.
		physical := 0
		for _, f := range w.walk.frames {
			if f.Kind != callstack.Inlined {
				physical++
			}
		}
		require.LessOrEqual(t, physical, len(state.Stack)/8+2)
	}
	t.Logf("at most %v and %d frames", longest, most)
	assert.Less(t, longest, 10*time.Second)
}
