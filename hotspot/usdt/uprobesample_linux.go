package usdt

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"slices"

	"github.com/gasm-profiler/gasm/event/usdt"
)

// samples converts perf's samples to records in the form that the BPF program writes. The fields of
// a sample are, by offset:
//
//	 0  the id of the event
//	 8  the process and the thread, 4 bytes each
//	16  the time
//	24  0 if there are no registers; otherwise they follow, in the order of their numbers
//	 …  the size of the stack's copy in bytes, the copy, and how many of its bytes are valid
type samples struct {
	places  []place
	layouts []layout
	lib     library
}

const sampleHead = 32

func wordOf(data []byte, i int) uint64 { return binary.NativeEndian.Uint64(data[8*i:]) }

// perfHeader cuts off the header of a perf record. It has 4 bytes for the kind, 2 for flags, and 2
// for the size.
func perfHeader(data []byte) (kind uint32, body []byte) {
	if len(data) < 8 {
		return 0, nil
	}
	return binary.NativeEndian.Uint32(data), data[8:]
}

// sampledRegisters is the mask of the registers that perf samples. These are all general registers
// (asm/perf_regs.h in the kernel's source).
var sampledRegisters = map[string]uint64{"amd64": 0xff00ff, "arm64": 1<<32 - 1}[runtime.GOARCH]

// perfRegisters maps the position of a register in a sample to its position in struct pt_regs,
// counted in words. On ARM it is nil, because the order is the same in both.
var perfRegisters = map[string][]int{"amd64": {10, 5, 11, 12, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0}}[runtime.GOARCH]

// stackPointer is the offset of the stack pointer in struct pt_regs, in bytes, like framePointer.
var stackPointer = map[string]int{"amd64": 8 * 19, "arm64": 8 * 31}[runtime.GOARCH]

// The number of bytes of the stack that are sampled: frameBytes to read a probe's arguments, and callerBytes to find
// the caller too. HotSpot's frames with a probe's arguments have up to 500 bytes. When the interpreter allocates, the
// library's seven frames together take 1500 bytes.
const frameBytes, callerBytes = 1 << 10, 2 << 10

// stackBytes returns how many bytes of the stack must be sampled for a layout. It is 0 if all
// arguments are in registers.
func (l *layout) stackBytes() int {
	switch {
	case l.caller:
		return callerBytes
	case slices.ContainsFunc(l.args, func(o Operand) bool { return o.Form == MemoryForm }):
		return frameBytes
	}
	return 0
}

// A moment is the state of a thread in a sample: its registers in the order of struct pt_regs, and
// the top of its stack.
type moment struct {
	registers [32]uint64
	stack     []byte
}

func (m *moment) register(at int) uint64 { return m.registers[at/8%len(m.registers)] }

// memory returns the bytes at an address if they are on the sampled stack.
func (m *moment) memory(addr uint64, size int) (text []byte, ok bool) {
	from := addr - m.register(stackPointer)
	if from > uint64(len(m.stack)) || uint64(size) > uint64(len(m.stack))-from {
		return nil, false
	}
	return m.stack[from:][:size], true
}

// momentOf reads the registers and the stack of a sample. Registers that are missing in the sample
// are zero.
func momentOf(body []byte) (m moment) {
	rest := body[sampleHead:]
	if wordOf(body, 3) == 0 { // PERF_SAMPLE_REGS_ABI_NONE
		return m
	}
	for i := 0; i < bits.OnesCount64(sampledRegisters) && len(rest) >= 8; i++ {
		at := i
		if perfRegisters != nil {
			at = perfRegisters[i]
		}
		m.registers[at], rest = wordOf(rest, 0), rest[8:]
	}
	if len(rest) >= 8 {
		size := wordOf(rest, 0)
		if rest = rest[8:]; uint64(len(rest)) >= size+8 && size <= callerBytes {
			m.stack = rest[:min(size, binary.NativeEndian.Uint64(rest[size:]))]
		}
	}
	return m
}

// record converts the body of a sample to a record in the BPF program's form. index is the index of the probed place.
func (s *samples) record(index int, body []byte) []byte {
	p := &s.places[index]
	l, m := &s.layouts[p.layout], momentOf(body)
	process := wordOf(body, 1) // the process, then the thread; a record has the thread first
	record := binary.NativeEndian.AppendUint64(make([]byte, 0, l.size()), wordOf(body, 2))
	record = binary.NativeEndian.AppendUint64(record, bits.RotateLeft64(process, 32))
	record = binary.NativeEndian.AppendUint64(record, p.cookie(index))
	for i := range l.args {
		record = binary.NativeEndian.AppendUint64(record, l.args[i].in(&m))
	}
	if l.caller {
		pc, above, frame := s.caller(&m)
		record = binary.NativeEndian.AppendUint64(record, pc)
		record = binary.NativeEndian.AppendUint64(record, above)
		if l.words {
			text, _ := m.memory(frame+16, 8*words)
			record = append(record, text...)
		}
	}
	return append(record, make([]byte, l.size()-len(record))...)
}

// in returns the value of an argument in the sampled registers or on the sampled stack.
func (o *Operand) in(m *moment) uint64 {
	if o.Form == RegisterForm {
		return m.register(o.Register)
	}
	addr := m.register(o.Register) + uint64(o.Number)
	if o.Index >= 0 {
		addr += m.register(o.Index) * uint64(o.Scale)
	}
	var value [8]byte
	text, _ := m.memory(addr, o.Size) // outside the sampled stack the value is 0, as when the BPF program can't read it
	copy(value[:], text)
	return binary.NativeEndian.Uint64(value[:])
}

// caller goes through the frames of the library in the same way as the BPF program (findCaller).
// The first result is the address to which the last frame returns. If that address is in a stub,
// the second result is the address to which the stub returns. The third result is the frame pointer
// of the last frame.
func (s *samples) caller(m *moment) (pc, above, frame uint64) {
	frame = m.register(int(framePointer))
	for range mostFrames {
		pair, ok := m.memory(frame, 16)
		if !ok {
			return 0, 0, frame
		}
		next, back := wordOf(pair, 0), wordOf(pair, 1)&^s.lib.signature
		if back-s.lib.lo < s.lib.hi-s.lib.lo {
			frame = next
			continue
		}
		if pair, ok = m.memory(next, 16); ok && next-frame < deepest {
			above = wordOf(pair, 1) &^ s.lib.signature
		}
		return back, above, frame
	}
	return 0, 0, frame
}

// sampled returns a copy of the probes in which the arguments that perf can't sample have UnknownForm. These are
// arguments in memory outside of the stack, which perf does not copy, and texts that may be gone when gasm reads the
// sample.
func sampled(probes []Probe) []Probe {
	probes = slices.Clone(probes)
	for i := range probes {
		p := &probes[i]
		p.Args = slices.Clone(p.Args)
		for k := range p.Args {
			if o := &p.Args[k]; o.Form == MemoryForm && o.Register != int(framePointer) && o.Register != stackPointer {
				o.Form = UnknownForm
			}
		}
		at := 0
		for _, par := range parametersOf(p) {
			if par.Kind == usdt.Brief {
				p.Args[at].Form = UnknownForm
			}
			at += par.Kind.Width()
		}
	}
	return probes
}
