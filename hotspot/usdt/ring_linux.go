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

// A ring is the memory that the program in the kernel writes records into, and gasm reads. It is an array of the kernel's that
// is mapped, not a ring buffer of BPF's: to reserve a record there takes a lock and two calls, which are a third of what the
// program takes.
//
//	  0  how many records were begun
//	128  how many were read: gasm writes that
//	256  how many had no room
//	4096 the slots: each a number, and a record. The number is written when the record is whole: how
//	     many records were begun with it
type ring struct {
	events *ebpf.Map
	memory []byte
	slots  int // a power of two
	size   int // of a slot
	next   uint64
}

// How many slots there are. More are for probes that are reached a million times a second: gasm may
// not be let run for a while.
const someSlots, manySlots = 1 << 16, 1 << 18

const (
	begunAt, readAt, lostAt = 0, 128, 256
	firstSlot               = 4096
	// spareSlots are never written while those that follow are not read: a program that has seen room may be the
	// last one of so many that have, before each of them takes a slot.
	spareSlots = 1 << 10
	// readOften is after how many records the program is told that there is room.
	readOften = 1 << 10
)

func newRing(slots int, layouts []layout) (r *ring, err error) {
	r = &ring{slots: slots}
	for i := range layouts {
		r.size = max(r.size, 8+layouts[i].size())
	}
	page := os.Getpagesize()
	size := (firstSlot + r.slots*r.size + page - 1) &^ (page - 1)
	r.events, err = ebpf.NewMap(&ebpf.MapSpec{Name: "gasm_events", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
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

// read gives the records that are whole, up to one that is not. A record is valid until give returns.
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

// lost is how many events there was no room for.
func (r *ring) lost() int64 { return int64(atomic.LoadUint64(r.word(lostAt))) }

func (r *ring) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // of an address that mmap has given
	}
	r.events.Close()
}

// sequence is where the program keeps the number of its record, on its stack.
const sequence = -24

// reserve has the program take a slot. The record is in its register then.
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

// submit has the program say that its record is whole. Processors of ARM may show others the number before the record; an
// exchange shows them all that was written before it.
func (r *ring) submit() asm.Instructions {
	store := asm.StoreMem(record, -8, asm.R1, asm.DWord)
	if runtime.GOARCH != "amd64" {
		store = atomically(asm.Xchg, record, asm.R1, -8)
	}
	return asm.Instructions{asm.LoadMem(asm.R1, asm.RFP, sequence, asm.DWord), store}
}

// count has the program count an event that there is no slot for.
func (r *ring) count() asm.Instructions {
	return asm.Instructions{asm.LoadMapValue(asm.R1, r.events.FD(), lostAt).WithSymbol("lost"), asm.Mov.Imm(asm.R2, 1), asm.StoreXAdd(asm.R1, asm.R2, asm.DWord)}
}

// atomically is an atomic operation. asm sets its Constant, which says which one, too late: Instruction.Marshal has taken it by
// then, and writes a plain addition.
func atomically(op asm.AtomicOp, dst, src asm.Register, offset int16) asm.Instruction {
	i := op.Mem(dst, src, asm.DWord, offset)
	i.Constant = int64(op >> 8)
	return i
}
