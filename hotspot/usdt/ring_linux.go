package usdt

import (
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// A ring is the memory into which the BPF program writes records, and from which gasm reads them.
// It is a BPF array that gasm has mapped. A BPF ring buffer would be slower: it needs a lock and
// two calls for each record, which would be a third of the program's time.
//
//	  0  how many records were begun
//	128  how many records were read; gasm writes this number
//	256  how many events were lost because no slot was free
//	4096 the slots: each has a number and a record. The number is written when the record is whole:
//	     it is the count of begun records, including this one
type ring struct {
	events *ebpf.Map
	memory []byte
	slots  int // a power of two
	size   int // of a slot
	next   uint64
}

// A ring has manySlots if it is for a probe that may be reached a million times a second, and otherwise someSlots. So
// many are needed because the kernel may not schedule gasm for a while.
const someSlots, manySlots = 1 << 16, 1 << 18

const (
	begunAt, readAt, lostAt = 0, 128, 256
	firstSlot               = 4096
	// spareSlots is the number of slots that are kept free. They are needed because the program first looks whether
	// there is room and then takes a slot. Many threads may run the program at the same time, and all of them may see
	// the same free slot.
	spareSlots = 1 << 10
	// After every readOften records, gasm stores how far it has read, so that the program can use
	// the slots of these records again.
	readOften = 1 << 10
)

func newRing(slots int, layouts []layout) (r *ring, err error) {
	r = &ring{slots: slots}
	for i := range layouts {
		r.size = max(r.size, 8+layouts[i].size())
	}
	page := os.Getpagesize()
	size := (firstSlot + r.slots*r.size + page - 1) &^ (page - 1)
	r.events, err = ebpf.NewMap(&ebpf.MapSpec{Name: "gasm_events", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size),
		MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return nil, err
	}
	r.memory, err = unix.Mmap(r.events.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ring) word(at int) *uint64 { return (*uint64)(unsafe.Pointer(&r.memory[at])) }

// read calls give(record) for each record, up to the first one that is not whole yet. A record is valid only until the
// function give returns.
func (r *ring) read(give func(record []byte)) {
	for ; ; r.next++ {
		at := firstSlot + int(r.next)%r.slots*r.size
		if atomic.LoadUint64(r.word(at)) != r.next+1 {
			break
		}
		give(r.memory[at+8 : at+r.size])
		if r.next%readOften == 0 {
			atomic.StoreUint64(r.word(readAt), r.next+1)
		}
	}
	atomic.StoreUint64(r.word(readAt), r.next)
}

// lost returns the number of events for which there was no room.
func (r *ring) lost() int64 { return int64(atomic.LoadUint64(r.word(lostAt))) }

func (r *ring) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // no error: mmap has returned this address
	}
	r.events.Close()
}

// sequence is the offset on the program's stack at which the program keeps the number of its
// record.
const sequence = -24

// reserve returns code that takes a slot, and puts the address of its record into R9 (record). If
// no slot is free, the code jumps to the label "lost".
func (r *ring) reserve() asm.Instructions {
	return asm.Instructions{
		asm.LoadMapValue(asm.R1, r.events.FD(), begunAt),
		asm.LoadMem(asm.R2, asm.R1, begunAt, asm.DWord),
		asm.LoadMem(asm.R3, asm.R1, readAt, asm.DWord),
		asm.Sub.Reg(asm.R2, asm.R3),
		asm.JGE.Imm(asm.R2, int32(r.slots-spareSlots), "lost"),
		asm.Mov.Imm(asm.R2, 1),
		atomically(asm.FetchAdd, asm.R1, asm.R2, begunAt),
		asm.Mov.Reg(asm.R3, asm.R2),
		asm.Add.Imm(asm.R3, 1),
		asm.StoreMem(asm.RFP, sequence, asm.R3, asm.DWord),
		asm.And.Imm(asm.R2, int32(r.slots-1)),
		asm.Mul.Imm(asm.R2, int32(r.size)),
		asm.LoadMapValue(record, r.events.FD(), firstSlot+8),
		asm.Add.Reg(record, asm.R2),
	}
}

// submit returns code that marks a record as whole by writing its number. On ARM, with a plain
// store, another processor might see the number before it sees the record. So there the code uses
// an atomic exchange, which makes all earlier stores visible first.
func (r *ring) submit() asm.Instructions {
	store := asm.StoreMem(record, -8, asm.R1, asm.DWord)
	if runtime.GOARCH != "amd64" {
		store = atomically(asm.Xchg, record, asm.R1, -8)
	}
	return asm.Instructions{asm.LoadMem(asm.R1, asm.RFP, sequence, asm.DWord), store}
}

// count returns code that counts an event for which no slot was free.
func (r *ring) count() asm.Instructions {
	return asm.Instructions{asm.LoadMapValue(asm.R1, r.events.FD(), lostAt).WithSymbol("lost"), asm.Mov.Imm(asm.R2, 1),
		asm.StoreXAdd(asm.R1, asm.R2, asm.DWord)}
}

// atomically returns an instruction with an atomic operation. Its Constant says which operation it
// is. cilium/ebpf sets the Constant too late, after Instruction.Marshal has already read it, and
// the result would be a plain addition. So the Constant is set here.
func atomically(op asm.AtomicOp, dst, src asm.Register, offset int16) asm.Instruction {
	i := op.Mem(dst, src, asm.DWord, offset)
	i.Constant = int64(op >> 8)
	return i
}
