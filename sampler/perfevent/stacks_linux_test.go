package perfevent

import (
	"encoding/binary"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

func TestDecodeState(t *testing.T) {
	const kernel, leaf, caller = contextKernel, 0xffffffff81000000, 0xffffffff81000abc
	check := func(want ThreadState, data []byte) {
		t.Helper()
		state := ThreadState{ABI: ABI32, Stack: []byte{9}, Chain: []uint64{9}} // as an earlier record may have left it
		state.Regs[1] = 9
		var r Record
		require.True(t, decode(data, &r))
		decodeState(data, &state)
		assert.Equal(t, want.ABI, state.ABI)
		assert.Equal(t, string(want.Stack), string(state.Stack))
		assert.Equal(t, want.Chain, append([]uint64(nil), state.Chain...))
		for i, value := range state.Regs {
			if want.ABI == NoABI || registerMask>>i&1 == 0 {
				assert.Zero(t, value)
			} else {
				assert.EqualValues(t, 100+i, value)
			}
		}
		for n := headerSize; n < len(data); n += 8 { // nothing is read after the end of a record that is cut
			decodeState(data[:n:n], &state)
			assert.LessOrEqual(t, len(state.Stack), n)
		}
	}
	bytes := func(stack ...uint64) (found []byte) {
		for _, w := range stack {
			found = binary.NativeEndian.AppendUint64(found, w)
		}
		return found
	}
	check(ThreadState{ABI: ABI64, Chain: []uint64{caller}, Stack: bytes(1, 2, 3)},
		stacked([]uint64{kernel, leaf, caller}, 2, 32, 24, 1, 2, 3, 4))
	check(ThreadState{ABI: ABI32, Chain: []uint64{leaf, caller}, Stack: bytes(1)},
		stacked([]uint64{kernel, leaf + 4, leaf, caller}, 1, 8, 8, 1))
	check(ThreadState{ABI: ABI64, Chain: []uint64{caller}},
		stacked([]uint64{kernel, leaf, caller, 1<<64 - 512, 0x7f00}, 2, 8, 0, 1)) // user space
	check(ThreadState{ABI: ABI64}, stacked(nil, 2, 0, 0))
	check(ThreadState{Chain: []uint64{caller}}, stacked([]uint64{kernel, leaf, caller}, 0, 0, 0)) // a thread of the kernel
	// What no kernel writes.
	check(ThreadState{ABI: ABI64}, stacked(nil, 2, 8, 16, 1))
	check(ThreadState{ABI: ABI64}, stacked(nil, 2, 16, 8, 1))
	check(ThreadState{ABI: ABI64}, stacked(nil, 2, 1<<63, 8, 1))
	check(ThreadState{ABI: ABI64}, stacked(nil, 2, 1<<64-8, 8, 1))
	check(ThreadState{}, stacked(nil, 0, 8, 8, 1))
	check(ThreadState{}, stacked([]uint64{leaf, caller}, 3, 8, 8, 1))
	long := stacked([]uint64{kernel, caller}, 2, 8, 8, 1)
	for _, n := range []uint64{1 << 20, 1 << 61, 1<<64 - 1} {
		binary.NativeEndian.PutUint64(long[sampleSize:], n)
		check(ThreadState{}, long)
	}
}

func TestStackLimits(t *testing.T) {
	check := func(ring, allowed, stack, asked, hertz, events, cpus int, pause time.Duration) {
		t.Helper()
		l := limitsOf(&Options{Stacks: asked, Frequency: hertz, Events: make([]Event, events), DrainEvery: pause})
		assert.Equal(t, ring, l.ring(cpus))
		assert.Equal(t, stack, l.fitting(min(ring, allowed)))
		assert.Zero(t, stack%8)
		if stack > smallestStack {
			assert.LessOrEqual(t, leastPauses*l.samples*float64(recordSize(stack)), float64(min(ring, allowed)))
		}
	}
	const ms, root = time.Millisecond, 1 << 30
	check(64<<20, root, MaxStack, 1<<20, 1001, 1, 2, 20*ms)
	check(16<<20, root, 16<<10, 16<<10, 1001, 1, 2, 20*ms)
	check(32<<20, root, MaxStack, MaxStack, 201, 2, 2, 20*ms)
	check(64<<20, root, MaxStack, MaxStack, 19999, 1, 2, 20*ms)
	check(1<<19, root, 4096, 4096, 11, 1, 2, 20*ms) // a ring is not smaller than without stacks
	check(4<<20, root, MaxStack, MaxStack, 1001, 1, 100, 20*ms)
	check(64<<20, 512<<10, 12744, MaxStack, 1001, 1, 2, 20*ms) // a user other than root
	check(64<<20, 32<<10, smallestStack, MaxStack, 1001, 1, 2, 20*ms)
	check(8<<20, 32<<10, 4096, 4099, 1001, 1, 2, 20*ms)
}

// openHelper samples a helper with stacks.
func openHelper(t *testing.T, h helper, frequency, stack int) *Set {
	t.Helper()
	gasmtest.NeedNative(t)
	if registerMask == 0 {
		t.Skip("gasm does not know the registers of", runtime.GOARCH)
	}
	clock, err := Lookup("cpu-clock", "", "cpu-clock", "")
	require.NoError(t, err)
	s, err := OpenRunning([]int{h.pid}, Options{Events: []Event{clock}, Frequency: frequency, Stacks: stack,
		DrainEvery: 20 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// drainUntil drains a set again and again until enough returns true. It calls sample for each sample of the thread
// tid.
func drainUntil(t *testing.T, s *Set, tid int, sample func(*Record), enough func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !enough(); {
		require.True(t, time.Now().Before(end), "this takes too long")
		s.Wait(20 * time.Millisecond)
		s.Drain(false, func(r *Record) {
			if r.Kind == Sample && r.TID == int32(tid) {
				sample(r)
			}
		})
	}
}

// TestStackOfThread samples a thread with a known pattern on its stack.
func TestStackOfThread(t *testing.T) {
	for _, size := range []int{MaxStack, 4096} {
		h := startHelper(t, "computes")
		s := openHelper(t, h, 499, size)
		assert.LessOrEqual(t, s.Stacks(), size)
		t.Logf("%d of %d bytes of stack, %d KiB of rings, %d descriptors", s.Stacks(), size, s.Memory()>>10, s.Descriptors())
		users, marks := 0, 0
		drainUntil(t, s, h.tid, func(r *Record) {
			require.NotNil(t, r.ThreadState)
			require.Equal(t, ABI64, r.ABI)
			sp := r.StackPointer()
			require.LessOrEqual(t, len(r.Stack), s.Stacks())
			if r.Mode == User {
				users++
				require.Equal(t, r.IP, r.ProgramCounter())
				require.Empty(t, r.Chain)
			} else {
				require.NotEqual(t, r.IP, r.ProgramCounter())
			}
			if sp > h.pattern || h.pattern-sp > 2048 {
				return // the thread was on the separate stack of Go's scheduler
			}
			pattern := r.Stack[h.pattern-sp:]
			require.GreaterOrEqual(t, len(pattern), min(8*marked, s.Stacks()-2048))
			for i := range min(marked, len(pattern)/8) {
				require.EqualValues(t, mark+i, uint64At(pattern, 8*i), "word %d", i)
			}
			marks++
		}, func() bool { return users >= 50 && marks >= 50 })
	}
}

// TestStackInKernel samples a thread that spends its time in a system call.
func TestStackInKernel(t *testing.T) {
	h := startHelper(t, "calls")
	s := openHelper(t, h, 499, MaxStack)
	if s.UserOnly(0) {
		t.Skip("this user may not see the kernel")
	}
	inKernel, marks := 0, 0
	const kernelStart = 0xffff_8000_0000_0000
	drainUntil(t, s, h.tid, func(r *Record) {
		if r.Mode != Kernel {
			return
		}
		inKernel++
		require.Less(t, r.ProgramCounter(), uint64(kernelStart))
		require.NotEmpty(t, r.Chain, "the system call's functions")
		require.NotEqual(t, r.IP, r.Chain[0])
		for _, address := range r.Chain {
			require.GreaterOrEqual(t, address, uint64(kernelStart))
			require.Less(t, address, uint64(contextMax))
		}
		if sp := r.StackPointer(); sp <= h.pattern && h.pattern-sp < uint64(len(r.Stack))-8 {
			require.EqualValues(t, mark, uint64At(r.Stack, int(h.pattern-sp)))
			marks++
		}
	}, func() bool { return inKernel >= 50 && marks >= 50 })
}

// TestStackOfNobody checks that a user other than root gets stacks, too, in a size that depends on how much memory
// the user may lock.
func TestStackOfNobody(t *testing.T) {
	gasmtest.NeedNative(t)
	asNobody(t, "TestStackOfThread")
}

// TestStackWithLittleMemory checks the size of stacks for a user who may not lock more memory than
// perf_event_mlock_kb. For root there is no limit, so root runs this test as the user nobody.
func TestStackWithLittleMemory(t *testing.T) {
	if os.Geteuid() == 0 {
		gasmtest.NeedNative(t)
		asNobody(t, "TestStackWithLittleMemory")
		return
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{}))
	h := startHelper(t, "computes")
	for _, frequency := range []int{99, 999, 1999} {
		s := openHelper(t, h, frequency, MaxStack)
		ring := s.Memory()/len(s.cpus) - os.Getpagesize()
		t.Logf("%d Hz: %d KiB for each CPU, %d bytes of stack", frequency, ring>>10, s.Stacks())
		assert.Equal(t, s.Stacks(), limitsOf(&Options{Stacks: MaxStack, Frequency: frequency, Events: make([]Event, 1),
			DrainEvery: 20 * time.Millisecond}).fitting(ring))
		samples := 0
		drainUntil(t, s, h.tid, func(r *Record) {
			require.LessOrEqual(t, len(r.Stack), s.Stacks())
			samples++
		}, func() bool { return samples >= 20 })
		s.Close()
	}
}

// TestStacksLost checks that samples for which a ring has no room are counted as lost, and that later samples are
// intact.
func TestStacksLost(t *testing.T) {
	h := startHelper(t, "computes")
	s := openHelper(t, h, 4999, MaxStack)
	for end := time.Now().Add(time.Minute); s.Lost(0) == 0; time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(end), "no sample was lost, or this kernel is older than 6.0")
	}
	samples, after, lost := 0, 0, uint64(0)
	for end := time.Now().Add(time.Minute); after < 50; {
		require.True(t, time.Now().Before(end), "this takes too long")
		s.Drain(false, func(r *Record) {
			switch r.Kind {
			case Lost:
				lost += r.Count
			case Sample:
				require.Equal(t, ABI64, r.ABI)
				samples++
				if lost > 0 {
					after++
				}
			}
		})
		s.Wait(time.Millisecond)
	}
	require.NoError(t, s.Disable())
	s.Drain(true, func(r *Record) {
		if r.Kind == Lost {
			lost += r.Count
		}
	})
	assert.Positive(t, lost)
	assert.LessOrEqual(t, lost, s.Lost(0)+s.Lost(0)/100+10, "records that are not samples can be lost, too")
	t.Logf("%d samples, %d lost", samples, s.Lost(0))
}

// newStackSet returns a set with one ring in this process's own memory.
func newStackSet(size int) *Set {
	return &Set{rings: []*Ring{newRing(size)}, heads: make([]uint64, 1), tails: make([]uint64, 1),
		byID: map[uint64]descriptor{42: {}}, stack: MaxStack}
}

// numbered returns the record of a sample whose stack contains only the number n. The size of the stack depends on n.
func numbered(n, nanos uint64) []byte {
	stack := make([]uint64, 1+n*37%4000)
	for i := range stack {
		stack[i] = n
	}
	data := stacked(nil, 2, 8*uint64(len(stack)), 8*(uint64(len(stack))-n%uint64(len(stack))), stack...)
	binary.NativeEndian.PutUint64(data[32:], nanos)
	return data
}

// checkNumbered checks that r is the sample that numbered has returned for n.
func checkNumbered(t *testing.T, n uint64, r *Record) {
	t.Helper()
	require.NotEmpty(t, r.Stack)
	for i := 0; i < len(r.Stack); i += 8 {
		if got := uint64At(r.Stack, i); got != n {
			t.Fatalf("sample %d has the stack of sample %d", n, got)
		}
	}
}

// TestStatePool checks that a stack is copied if it is needed for longer than the ring has it. The copies must reuse
// the same memory.
func TestStatePool(t *testing.T) {
	s := newStackSet(1 << 20)
	written, given := uint64(0), uint64(0)
	round := func() {
		for range 2 { // in the second round, the kernel overwrites what was taken in the first one
			for range 20 {
				require.True(t, s.rings[0].write(numbered(written, written)))
				written++
			}
			s.fill(math.MaxInt64)
			s.free()
			assert.Equal(t, s.rings[0].page.Data_head, s.rings[0].page.Data_tail)
		}
		s.Drain(true, func(r *Record) {
			checkNumbered(t, given, r)
			given++
		})
		require.Equal(t, written, given)
	}
	for range 40 {
		round()
	}
	free := len(s.pool.free)
	for range 40 {
		round()
	}
	assert.Equal(t, free, len(s.pool.free))
	assert.LessOrEqual(t, free, 41)
	assert.LessOrEqual(t, s.pool.bytes, 41*2*8*4000)
	for range 2 * maxFree / MaxStack {
		s.pool.put(&ThreadState{kept: make([]byte, MaxStack)})
	}
	assert.LessOrEqual(t, s.pool.bytes, maxFree)
	sum := 0
	for len(s.pool.free) > 0 {
		sum += cap(s.pool.get().kept)
	}
	assert.LessOrEqual(t, sum, maxFree)
	assert.Zero(t, s.pool.bytes)
}

// TestStacksStayInRing checks that samples that are too new to be returned stay in the ring and are not copied,
// unless the ring is half full.
func TestStacksStayInRing(t *testing.T) {
	s := newStackSet(1 << 20)
	ring := s.rings[0]
	written, given := uint64(0), uint64(0)
	give := func(r *Record) {
		checkNumbered(t, given, r)
		given++
	}
	write := func(n int, nanos int64) {
		for range n {
			require.True(t, ring.write(numbered(written, uint64(nanos))))
			written++
		}
	}
	for range 100 { // several times around the ring
		hour := monotonic.Nanos() + int64(time.Hour)
		write(5, monotonic.Nanos()-int64(time.Second))
		write(5, hour)
		before := given
		assert.Equal(t, 5+1, s.Drain(false, give))
		assert.Equal(t, before+5, given)
		assert.Positive(t, s.Drain(false, give), "there are samples")
		assert.Equal(t, before+5, given)
		assert.Less(t, ring.page.Data_tail, ring.page.Data_head)
		assert.Empty(t, s.batch)

		for ring.page.Data_head-ring.page.Data_tail < uint64(len(ring.data)/2) {
			write(1, hour)
		}
		s.Drain(false, give)
		assert.Equal(t, ring.page.Data_head, ring.page.Data_tail)
		assert.Equal(t, before+5, given)
		s.Drain(true, give)
		assert.Equal(t, written, given)
	}
}

// BenchmarkDrainStacks drains 20 samples at a time, as in a recording at 1000 Hz. Each sample has room for 64 KiB of
// stack, of which the given number of bytes is used.
func BenchmarkDrainStacks(b *testing.B) {
	for name, valid := range map[string]uint64{"8KiB": 8 << 10, "16KiB": 16 << 10, "64KiB": 64<<10 - 512} {
		b.Run(name, func(b *testing.B) {
			s := newStackSet(8 << 20)
			const size = 64<<10 - 512
			record := stacked([]uint64{contextKernel, 1, 2, 3}, 2, size, valid, make([]uint64, size/8)...)
			ring := s.rings[0]
			for ring.write(record) {
			}
			full := ring.page.Data_head
			ring.page.Data_head = 0
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if ring.page.Data_head += 20 * uint64(len(record)); ring.page.Data_head > full {
					ring.page.Data_head, ring.page.Data_tail = 20*uint64(len(record)), 0 // the same samples again
				}
				n += s.Drain(true, func(*Record) {})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/sample")
		})
	}
}
