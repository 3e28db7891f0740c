package usdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event/usdt"
)

// A kernel makes records like those that the BPF program writes when a thread reaches the probes of a sink.
type kernel struct {
	*sink
	text *bytes.Buffer
}

// newKernel returns a kernel with these probes of HotSpot, whose arguments are in registers of x86-64. The text at an
// address of the JVM's memory consists of the address and the length; texts at address 0 can't be read. A thread's id
// is its id in the JVM's namespace plus 1000.
func newKernel(t *testing.T, arguments map[string]string) *kernel {
	t.Helper()
	set, err := operandsOf(elf.EM_X86_64)
	require.NoError(t, err)
	var probes []Probe
	for name, text := range arguments {
		probes = append(probes, Probe{Provider: usdt.Provider, Name: name, Offset: uint64(0x1000 + len(name)),
			Args: parseOperands(text, set)})
	}
	places, layouts := layOut(probes)
	k := &kernel{text: new(bytes.Buffer)}
	k.sink = newSink(k.text, places, layouts)
	k.texts = func(addr, length uint64) ([]byte, bool) { return fmt.Appendf(nil, "%x,%d", addr, length), addr != 0 }
	k.thread = func(own int) int { return 1000 + own }
	return k
}

// record returns a record with a time, a thread and the values of the arguments that records contain. The bytes in
// behind follow them.
func (k *kernel) record(t *testing.T, name string, mono uint64, thread uint32, behind []byte, values ...uint64) []byte {
	t.Helper()
	index := slices.IndexFunc(k.places, func(p place) bool { return p.Name == name })
	require.GreaterOrEqual(t, index, 0, name)
	p := &k.places[index]
	data := binary.NativeEndian.AppendUint64(nil, mono)
	data = binary.NativeEndian.AppendUint64(data, uint64(thread)|4711<<32)
	data = binary.NativeEndian.AppendUint64(data, p.cookie(index))
	for _, v := range values {
		data = binary.NativeEndian.AppendUint64(data, v)
	}
	data = append(data, behind...)
	require.Len(t, data, k.layouts[p.layout].size(), name)
	return data
}

// written returns the text so far, without its head.
func (k *kernel) written(t *testing.T) string {
	t.Helper()
	return withoutHead(t, k.text.String())
}

// withoutHead returns what follows the two lines that every text begins with.
func withoutHead(t testing.TB, text string) string {
	t.Helper()
	head, text, ok := strings.Cut(text, "\n"+usdt.ProbesHead)
	require.True(t, ok)
	require.Equal(t, usdt.TextHead, head)
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// TestSinkHead checks that the text says which probes are recorded, each once.
func TestSinkHead(t *testing.T) {
	var text bytes.Buffer
	at := func(name string) place { return place{name: name} }
	s := newSink(&text, []place{at("hotspot:thread__park__end"), at("hotspot:gc__end"), at("hotspot:thread__park__end")},
		nil)
	s.flush()
	assert.Equal(t, "# gasm usdt 1\n# probes hotspot:gc__end hotspot:thread__park__end\n", text.String())
}

const allocationWithSize, allocationWithout = "8@%r15 8@%rsi -4@%edx 8@%rcx", "8@%r15 8@%rsi -4@%edx -4@%ecx"

func TestSink(t *testing.T) {
	k := newKernel(t, map[string]string{"thread__park__begin": "8@%rdi -4@$1 -8@%rdx", "gc__begin": "1@%al", "gc__end": "",
		"thread__start":             "8@%rdi -4@%esi 8@%rdx 8@$17 1@%cl",
		"monitor__contended__enter": "8@%rdi 8@%rsi 8@%rdx -4@%ecx", "thread__sleep__begin": "8f@%xmm0"})
	take := func(data []byte) { k.take(data) }
	take(k.record(t, "thread__park__begin", 1_000_000_002, 7, nil, 0xfedc, 1<<64-5))
	take(k.record(t, "gc__begin", 12_345_678_901_234, 8, nil, 0x1ff)) // only one byte of it counts
	take(k.record(t, "gc__end", 999, 8, nil))
	start := k.record(t, "thread__start", 5, 9, append([]byte("worker \"1\"\x00"), make([]byte, briefSize-11)...), 0x7f00,
		10, 3, 1)
	take(start)
	long := slices.Clone(start)
	binary.NativeEndian.PutUint64(long[headSize+8:], 1000) // the length of its name
	take(long)
	negative := slices.Clone(start)
	binary.NativeEndian.PutUint64(negative[headSize+8:], 1<<32-1)
	take(negative)
	take(k.record(t, "monitor__contended__enter", 6, 9, nil, 1, 2, 0x30, 4))
	take(k.record(t, "monitor__contended__enter", 7, 9, nil, 1, 2, 0, 4)) // a text that can't be read
	take(k.record(t, "thread__sleep__begin", 8, 9, nil))
	assert.EqualValues(t, 9, k.events)

	// Bytes that can't be a record are ignored.
	take(nil)
	take(start[:headSize-1])
	take(start[:len(start)-1])
	for _, at := range []int{16, 20} { // the place and the layout
		bad := slices.Clone(start)
		bad[at] = 100
		take(bad)
	}
	assert.EqualValues(t, 9, k.events)
	k.until.Store(10)
	take(k.record(t, "gc__end", 10, 8, nil))
	take(k.record(t, "gc__end", 11, 8, nil))
	k.end(20, 0)
	require.NoError(t, k.err)
	padded := `"worker \"1\"` + strings.Repeat(`\x00`, briefSize-10) + `"`
	assert.Equal(t, `1.000000002 1007 hotspot:thread__park__begin 0xfedc 1 -5
12345.678901234 1008 hotspot:gc__begin 255
0.000000999 1008 hotspot:gc__end
0.000000005 1009 hotspot:thread__start "worker \"1\"" 3 17 1
0.000000005 1009 hotspot:thread__start `+padded+` 3 17 1
0.000000005 1009 hotspot:thread__start "" 3 17 1
0.000000006 1009 hotspot:monitor__contended__enter 1 0x2 "30,4"
0.000000007 1009 hotspot:monitor__contended__enter 1 0x2 ?
0.000000008 1009 hotspot:thread__sleep__begin ?
0.000000010 1008 hotspot:gc__end
0.000000020 0 end
`, k.written(t))
}

// TestSinkAllocations checks that allocations are summed up by their instruction and class until the
// next flush.
func TestSinkAllocations(t *testing.T) {
	type at struct {
		pc   uint64
		mono int64
	}
	for _, c := range []struct {
		arguments, want string
		above           uint64 // the address found on the stack, for a JDK whose stubs are not chained
	}{
		{allocationWithSize, "0.000000005 0 allocated 0x7f0000001000 0x7f0000002000 0x0 \"50,6\" 3 120\n0.000000006 0 allocated 0x7f0000001000 0x7f0000002000 0x0 ? 1 8\n" +
			"0.000000009 0 allocated 0x7f0000001000 0x7f0000002000 0x0 \"50,6\" 1 8\n0.000000010 0 lost 5\n0.000000010 0 end\n",
			0},
		{allocationWithout, "0.000000005 0 allocated 0x7f0000001000 0x7f0000002000 0x7f0000003000 \"50,6\" 3 ?\n0.000000006 0 allocated 0x7f0000001000 0x7f0000002000 0x7f0000003000 ? 1 ?\n" +
			"0.000000009 0 allocated 0x7f0000001000 0x7f0000002000 0x7f0000003000 \"50,6\" 1 ?\n0.000000010 0 lost 5\n0.000000010 0 end\n", 0x7f0000003000},
	} {
		k := newKernel(t, map[string]string{objectAlloc: c.arguments})
		var placed []at
		k.placed = func(pc uint64, mono int64) { placed = append(placed, at{pc, mono}) }
		behind := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, 0x7f0000001000), 0x7f0000002000)
		if c.above != 0 {
			stack := make([]byte, 8*words)
			binary.NativeEndian.PutUint64(stack, 0x12345)                                // not code
			binary.NativeEndian.PutUint64(stack[8:], 0x7f0000001000+codeCache)           // too far
			binary.NativeEndian.PutUint64(stack[16:], 0x7f0000001000-codeCache-1)        // too far
			binary.NativeEndian.PutUint64(stack[24:], c.above)                           // the first that may be code
			binary.NativeEndian.PutUint64(stack[32:], 0x7f0000001000+codeCache-1)        // a later one
			binary.NativeEndian.PutUint64(stack[8*(words-1):], 0x7f0000001000-codeCache) // a later one
			behind = append(behind, stack...)
		}
		for i, size := range []uint64{16, 24, 80} {
			k.take(k.record(t, objectAlloc, uint64(5+i), 9, behind, 1, 0x50, 6, size))
		}
		k.take(k.record(t, objectAlloc, 6, 9, behind, 1, 0, 6, 8)) // a class that can't be read
		k.flush()
		assert.Len(t, placed, 6)
		assert.Equal(t, []at{{0x7f0000000fff, 5}, {0x7f0000001fff, 5}, {c.above - 1, 5}}, placed[:3])
		k.take(k.record(t, objectAlloc, 9, 9, behind, 1, 0x50, 6, 8))
		k.end(10, 5)
		assert.EqualValues(t, 5, k.events)
		assert.Equal(t, c.want, k.written(t))
	}
}

// TestFirstNear checks that the first address of the code cache on a stack is found, signed or not.
func TestFirstNear(t *testing.T) {
	stack := make([]byte, 32)
	binary.NativeEndian.PutUint64(stack[8:], 0xfffe_0000_0000) // too far away
	binary.NativeEndian.PutUint64(stack[16:], 0x11_ffff_740a_b0fe)
	assert.Equal(t, uint64(0xffff_740a_b0fe), firstNear(stack, 0xffff_7400_c0de, 0xffff<<48))
	assert.Zero(t, firstNear(stack, 0xffff_7400_c0de, 0))
}

// TestSinkFull checks that events for which the text has no room are counted as lost, and that an error
// of writing is kept.
func TestSinkFull(t *testing.T) {
	k := newKernel(t, map[string]string{"gc__end": "", objectAlloc: allocationWithSize})
	k.lines = maxLines - 1
	caller := make([]byte, 16)
	for range 3 {
		k.take(k.record(t, "gc__end", 1, 8, nil))
		k.take(k.record(t, objectAlloc, 2, 8, caller, 1, 2, 3, 4))
	}
	k.end(3, 7)
	assert.Equal(t, "0.000000001 1008 hotspot:gc__end\n0.000000003 0 lost 12\n0.000000003 0 end\n", k.written(t))

	k = newKernel(t, map[string]string{"gc__end": ""})
	k.bytes = maxBytes
	k.take(k.record(t, "gc__end", 1, 8, nil))
	k.end(3, 0)
	assert.Equal(t, "0.000000003 0 lost 1\n0.000000003 0 end\n", k.written(t))

	broken := errors.New("broken")
	k = newKernel(t, map[string]string{"gc__end": ""})
	s := newSink(writerFunc(func([]byte) (int, error) { return 0, broken }), k.places, k.layouts)
	s.end(1, 0)
	assert.ErrorIs(t, s.err, broken)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestSinkManySites checks that sums are written before the next flush if there are more sites than
// expected within 20 ms.
func TestSinkManySites(t *testing.T) {
	k := newKernel(t, map[string]string{objectAlloc: allocationWithSize})
	caller := make([]byte, 16)
	for i := range mostSites + 1 {
		k.take(k.record(t, objectAlloc, 2, 8, caller, 1, uint64(i), 3, 4))
		require.LessOrEqual(t, len(k.allocs), mostSites)
	}
	assert.Len(t, k.allocs, 1)
	k.end(3, 0)
	assert.Equal(t, mostSites+2, strings.Count(k.written(t), "\n"))
}
