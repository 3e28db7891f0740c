package perfevent

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// words returns the bytes of a record that has a header and words of 8 bytes.
func words(kind uint32, misc uint16, body ...uint64) []byte {
	data := binary.NativeEndian.AppendUint32(nil, kind)
	data = binary.NativeEndian.AppendUint16(data, misc)
	data = binary.NativeEndian.AppendUint16(data, 0)
	for _, w := range body {
		data = binary.NativeEndian.AppendUint64(data, w)
	}
	binary.NativeEndian.PutUint16(data[6:], uint16(len(data)))
	return data
}

// two returns a word that consists of two 32-bit values.
func two(lo, hi uint32) uint64 {
	return binary.NativeEndian.Uint64(binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, lo), hi))
}

// name returns the words of a text that is padded with zeros.
func name(text string) (found []uint64) {
	bytes := append([]byte(text), make([]byte, 8-len(text)%8)...)
	for ; len(bytes) > 0; bytes = bytes[8:] {
		found = append(found, binary.NativeEndian.Uint64(bytes))
	}
	return found
}

// by returns the words that the kernel writes at the end of each record that is not a sample: process 7, thread 8,
// the time, CPU 1, event 42.
func by(nanos uint64) []uint64 { return []uint64{two(7, 8), nanos, two(1, 0), 42} }

const minus1 = ^uint32(0)

func TestDecode(t *testing.T) {
	check := func(want Record, data []byte) {
		t.Helper()
		var got Record
		assert.True(t, decode(data, &got))
		assert.Equal(t, want, got)
		assert.EqualValues(t, 42, identifier(data))
		for n := headerSize; n < len(data); n += 8 { // if a record is cut off, nothing after its end is read
			decode(data[:n:n], &got)
			if n >= headerSize+8 {
				identifier(data[:n:n])
			}
		}
	}
	sample := []uint64{42, 0x7f0000001234, two(7, 8), 99, two(1, 0)}
	check(Record{Kind: Sample, Mode: User, CPU: 1, PID: 7, TID: 8, by: 8, MonoNanos: 99, IP: 0x7f0000001234},
		words(unix.PERF_RECORD_SAMPLE, 2, sample...))
	check(Record{Kind: Sample, Mode: Kernel, CPU: 1, PID: 7, TID: 8, by: 8, MonoNanos: 99, IP: 0x7f0000001234},
		words(unix.PERF_RECORD_SAMPLE, 1, sample...))
	check(Record{Kind: Sample, Mode: Other, CPU: 1, PID: 7, TID: 8, by: 8, MonoNanos: 99, IP: 0x7f0000001234},
		words(unix.PERF_RECORD_SAMPLE, 5, sample...))
	sample[2] = two(minus1, minus1)
	check(Record{Kind: Sample, Mode: Kernel, CPU: 1, PID: -1, TID: -1, by: -1, MonoNanos: 99, IP: 0x7f0000001234},
		words(unix.PERF_RECORD_SAMPLE, 1, sample...))

	check(Record{Kind: Comm, CPU: 1, PID: 70, TID: 80, by: 8, MonoNanos: 5, Name: "C2 CompilerThre"},
		words(unix.PERF_RECORD_COMM, 0, slices.Concat([]uint64{two(70, 80)}, name("C2 CompilerThre"), by(5))...))
	check(Record{Kind: Comm, Exec: true, CPU: 1, PID: 70, TID: 80, by: 8, MonoNanos: 5, Name: "java"},
		words(unix.PERF_RECORD_COMM, 1<<13, slices.Concat([]uint64{two(70, 80)}, name("java"), by(5))...))
	check(Record{Kind: Fork, CPU: 1, PID: 70, PPID: 7, TID: 80, PTID: 8, by: 8, MonoNanos: 5},
		words(unix.PERF_RECORD_FORK, 0, slices.Concat([]uint64{two(70, 7), two(80, 8), 5}, by(5))...))
	check(Record{Kind: Exit, CPU: 1, PID: 7, PPID: 3, TID: 8, PTID: 3, by: 8, MonoNanos: 5},
		words(unix.PERF_RECORD_EXIT, 0, slices.Concat([]uint64{two(7, 3), two(8, 3), 5}, by(5))...))
	check(Record{Kind: Lost, CPU: 1, PID: 7, TID: 8, by: 8, MonoNanos: 5, Count: 43},
		words(unix.PERF_RECORD_LOST, 0, slices.Concat([]uint64{42, 43}, by(5))...))
	check(Record{Kind: Throttle, CPU: 1, PID: 7, TID: 8, by: 8, MonoNanos: 5},
		words(unix.PERF_RECORD_THROTTLE, 0, slices.Concat([]uint64{5, 42, 42}, by(5))...))
	mapping := []uint64{two(70, 80), 0x1000, 0x2000, 0x3000, two(8, 1), 123, 0, two(5, 2)}
	check(Record{Kind: Mapping, CPU: 1, PID: 70, TID: 80, by: 8, MonoNanos: 5,
		Map: &Mapped{Lo: 0x1000, Hi: 0x3000, FileOffset: 0x3000, Major: 8, Minor: 1, Inode: 123, Path: "/usr/lib/libjvm.so"}},
		words(unix.PERF_RECORD_MMAP2, 2, slices.Concat(mapping, name("/usr/lib/libjvm.so"), by(5))...))

	var r Record
	assert.False(t, decode(words(unix.PERF_RECORD_AUX, 0, slices.Concat([]uint64{1, 2, 3}, by(5))...), &r))
}

// stacked returns the record of a sample with a call chain, registers and a stack. Register i has the value 100+i; if
// abi is 0, there are no registers. size and valid are the sizes that the record states for the stack.
func stacked(chain []uint64, abi, size, valid uint64, stack ...uint64) []byte {
	body := slices.Concat([]uint64{42, 0xffffffff81000000, two(7, 8), 99, two(1, 0)}, []uint64{uint64(len(chain))}, chain,
		[]uint64{abi})
	if abi != 0 {
		for mask := registerMask; mask != 0; mask &= mask - 1 {
			body = append(body, 100+uint64(bits.TrailingZeros64(mask)))
		}
	}
	body = append(body, size)
	if size != 0 {
		body = append(append(body, stack...), valid)
	}
	return words(unix.PERF_RECORD_SAMPLE, miscKernel, body...)
}

// FuzzDecode checks that records that are cut off, or that have arbitrary content, do no harm.
func FuzzDecode(f *testing.F) {
	f.Add(words(unix.PERF_RECORD_SAMPLE, 2, 42, 1, two(7, 8), 99, two(1, 0)))
	f.Add(words(unix.PERF_RECORD_COMM, 0, slices.Concat([]uint64{two(70, 80)}, name("java"), by(5))...))
	f.Add(words(unix.PERF_RECORD_LOST, 0, slices.Concat([]uint64{42, 43}, by(5))...))
	f.Add(words(unix.PERF_RECORD_MMAP2, 2, slices.Concat([]uint64{two(7, 8), 1, 2, 3, 4, 5, 6, 7}, name("/x"), by(5))...))
	f.Add(stacked([]uint64{contextKernel, 0xffffffff81000000, 0xffffffff81000001}, 2, 32, 16, 1, 2, 3, 4))
	f.Add(stacked(nil, 0, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < headerSize+8 {
			return
		}
		var r Record
		if decode(data, &r) && (r.Kind == 0 || r.Kind == Mapping && r.Map == nil) {
			t.Errorf("%+v", r)
		}
		identifier(data)

		var state ThreadState
		decodeState(data[:len(data):len(data)], &state)
		switch {
		case len(state.Stack) > 0 && !bytes.Contains(data[sampleSize:], state.Stack):
			t.Errorf("a stack that is not in the record: %x", state.Stack)
		case state.ABI == NoABI && (len(state.Stack) > 0 || state.Regs != [registers]uint64{}):
			t.Errorf("no ABI: %+v", state)
		}
		for _, address := range state.Chain {
			if address >= contextMax || !bytes.Contains(data, binary.NativeEndian.AppendUint64(nil, address)) {
				t.Errorf("an address that is not in the record: %x", address)
			}
		}
	})
}

// newRing returns a ring in this process's own memory.
func newRing(size int) *Ring {
	return &Ring{page: &unix.PerfEventMmapPage{}, data: make([]byte, size)}
}

// write appends a record, as the kernel does.
func (r *Ring) write(record []byte) bool {
	if r.page.Data_head+uint64(len(record))-r.page.Data_tail > uint64(len(r.data)) {
		return false
	}
	n := copy(r.data[r.page.Data_head%uint64(len(r.data)):], record)
	copy(r.data, record[n:])
	r.page.Data_head += uint64(len(record))
	return true
}

// TestRing writes and reads records of many lengths, so that they cross the end of a ring at different positions.
func TestRing(t *testing.T) {
	r := newRing(4096)
	random := rand.New(rand.NewPCG(1, 2))
	var written, got [][]byte
	for range 5000 {
		record := words(uint32(random.IntN(20)), 0, make([]uint64, 1+random.IntN(60))...)
		for i := headerSize; i < len(record); i++ {
			record[i] = byte(random.Uint32())
		}
		if !r.write(record) {
			r.Read(r.Head(), func(data []byte) { got = append(got, slices.Clone(data)) })
			require.True(t, r.write(record))
		}
		written = append(written, record)
	}
	r.Read(r.Head(), func(data []byte) { got = append(got, slices.Clone(data)) })
	require.Equal(t, len(written), len(got))
	for i := range written {
		require.Equal(t, written[i], got[i], "record %d", i)
	}
	assert.Equal(t, r.page.Data_head, r.page.Data_tail)

	r.write([]byte{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // a length of 0
	r.Read(r.Head(), func([]byte) { t.Error("no record") })
	assert.Equal(t, r.page.Data_head, r.page.Data_tail, "and what comes behind it can be read")
}

// TestDrainInOrder checks that records of several rings are returned in the order of their times. The newest ones are
// kept back, because earlier records may still arrive.
func TestDrainInOrder(t *testing.T) {
	s := &Set{rings: []*Ring{newRing(4096), nil, newRing(4096)}, heads: make([]uint64, 3),
		byID: map[uint64]descriptor{42: {event: 1}}}
	now := uint64(monotonic.Nanos())
	const ms = 1_000_000
	at := func(ring int, nanos uint64) {
		s.rings[ring].write(words(unix.PERF_RECORD_SAMPLE, 2, 42, nanos, two(7, 8), nanos, two(uint32(ring), 0)))
	}
	var got []uint64
	give := func(r *Record) {
		assert.Equal(t, 1, r.Event)
		got = append(got, now-r.IP)
	}
	at(0, now-900*ms)
	at(0, now-500*ms)
	at(0, now-600*ms) // from an interrupt while the one before was written
	at(2, now-700*ms)
	at(2, now-1)
	assert.Equal(t, 5, s.Drain(false, give))
	assert.Equal(t, []uint64{900 * ms, 700 * ms, 600 * ms, 500 * ms}, got)
	at(0, now-2)
	assert.Equal(t, 1, s.Drain(true, give))
	assert.Equal(t, []uint64{2, 1}, got[4:])
	assert.Zero(t, s.Drain(true, give))
	assert.Len(t, got, 6)
}

// TestDrainMemory checks that the memory of a set does not grow with the number of records that pass through its
// rings.
func TestDrainMemory(t *testing.T) {
	gasmtest.NeedTime(t)
	s := &Set{rings: []*Ring{newRing(largestRing), newRing(largestRing)}, heads: make([]uint64, 2),
		byID: map[uint64]descriptor{42: {}}}
	given, nanos, last, ordered := 0, uint64(0), int64(0), true
	drain := func(more int) {
		record := words(unix.PERF_RECORD_SAMPLE, 2, 42, 0, two(7, 8), 0, two(0, 0))
		for until := given + more; given < until; {
			for i := 0; ; i++ {
				nanos += 1000
				binary.NativeEndian.PutUint64(record[32:], nanos)
				if !s.rings[i%2].write(record) {
					break
				}
			}
			s.Drain(false, func(r *Record) {
				given++
				ordered = ordered && r.MonoNanos > last
				last = r.MonoNanos
			})
		}
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	drain(100_000)
	before := heap()
	more := 10_000_000
	if gasmtest.RaceDetector {
		more /= 10 // each round takes 20 times as long
	}
	drain(more)
	grown := heap() - before
	t.Logf("%d bytes more in memory after %d samples", grown, more)
	assert.Less(t, grown, int64(100<<10), "a record takes 100 bytes")
	assert.True(t, ordered)
	runtime.KeepAlive(s)
}

// TestFollowed checks which records are kept if gasm has attached to a process.
func TestFollowed(t *testing.T) {
	check := func(f *followed, want bool, r Record) {
		t.Helper()
		assert.Equal(t, want, f.keep(&r), "%+v", r)
	}
	// Events were opened on thread 8 at time 100, but it has also inherited events of thread 7.
	f := &followed{tids: map[int32]int64{7: 50, 8: 100}}
	check(f, true, Record{Kind: Sample, TID: 7, by: 7, owner: 7})
	check(f, true, Record{Kind: Sample, TID: 8, by: 8, owner: 8})
	check(f, false, Record{Kind: Sample, TID: 8, by: 8, owner: 7})
	// it came later
	check(f, true, Record{Kind: Sample, TID: 9, by: 9, owner: 7})
	// the birth of thread 8
	check(f, true, Record{Kind: Fork, PID: 1, PPID: 1, TID: 8, PTID: 7, by: 7, owner: 7, MonoNanos: 90})
	// ignored: thread 8 has its own events
	check(f, false, Record{Kind: Sample, TID: 8, by: 8, owner: 7})
	// reported twice
	check(f, false, Record{Kind: Fork, PID: 1, PPID: 1, TID: 10, PTID: 8, by: 8, owner: 7, MonoNanos: 150})
	// another thread 8
	check(f, true, Record{Kind: Fork, PID: 1, PPID: 1, TID: 8, PTID: 7, by: 7, owner: 7, MonoNanos: 200})
	check(f, true, Record{Kind: Sample, TID: 8, by: 8, owner: 7})

	f = &followed{pids: map[int32]bool{1: true}}
	check(f, true, Record{Kind: Sample, PID: 1})
	check(f, false, Record{Kind: Sample, PID: 2})
	check(f, true, Record{Kind: Fork, PID: 3, PPID: 1})
	check(f, true, Record{Kind: Sample, PID: 3})
	check(f, false, Record{Kind: Fork, PID: 3, PPID: 2}) // a foreign process has got the id of a child that has ended
	check(f, false, Record{Kind: Sample, PID: 3})
	check(f, true, Record{Kind: Lost, PID: 2})
}
