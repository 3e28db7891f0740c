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

// A ring is the memory that the program in the kernel writes records into, and that gasm reads. It is a
// mapped array of the kernel's, and not a ring buffer of BPF's: to reserve a record in such a buffer
// takes a lock and two calls, which is a third of the program's time.
//
//	  0  how many records were begun
//	128  how many were read; gasm writes it
//	256  how many events had no room
//	4096 the slots: each has a number and a record. The number is written when the record is whole:
//	     it is the count of begun records, including this one
type ring struct {
	events *ebpf.Map
	memory []byte
	slots  int // a power of two
	size   int // of a slot
	next   uint64
}

// The number of slots. Probes that are reached a million times a second get more, because the kernel
// may not schedule gasm for a while.
const someSlots, manySlots = 1 << 16, 1 << 18

const (
	begunAt, readAt, lostAt = 0, 128, 256
	firstSlot               = 4096
	// spareSlots are left free before the oldest record that was not read. Up to that many programs may
	// have seen that there is room before each of them takes a slot.
	spareSlots = 1 << 10
	// readOften is the number of records after which gasm tells the program that there is room.
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

// read calls give for each whole record, up to the first one that is not whole. A record is valid until
// give returns.
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

// lost returns the number of events that there was no room for.
func (r *ring) lost() int64 { return int64(atomic.LoadUint64(r.word(lostAt))) }

func (r *ring) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // an address that mmap has returned
	}
	r.events.Close()
}

// sequence is where the program keeps the number of its record, on its stack.
const sequence = -24

// reserve makes the program take a slot. Afterwards the record's address is in the register of that
// name.
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

// submit makes the program mark its record as whole. ARM processors may show other processors the
// number before the record. An exchange shows them everything that was written before it.
func (r *ring) submit() asm.Instructions {
	store := asm.StoreMem(record, -8, asm.R1, asm.DWord)
	if runtime.GOARCH != "amd64" {
		store = atomically(asm.Xchg, record, asm.R1, -8)
	}
	return asm.Instructions{asm.LoadMem(asm.R1, asm.RFP, sequence, asm.DWord), store}
}

// count makes the program count an event that there is no slot for.
func (r *ring) count() asm.Instructions {
	return asm.Instructions{asm.LoadMapValue(asm.R1, r.events.FD(), lostAt).WithSymbol("lost"), asm.Mov.Imm(asm.R2, 1), asm.StoreXAdd(asm.R1, asm.R2, asm.DWord)}
}

// atomically returns an atomic operation. The package asm sets the instruction's Constant, which says
// which operation it is, too late: Instruction.Marshal has read it by then, and writes a plain
// addition.
func atomically(op asm.AtomicOp, dst, src asm.Register, offset int16) asm.Instruction {
	i := op.Mem(dst, src, asm.DWord, offset)
	i.Constant = int64(op >> 8)
	return i
}
