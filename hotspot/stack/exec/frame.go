package exec

import (
	"fmt"
	"strings"
)

// The numbers of x86-64's general registers, as instructions encode them.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// A Frame says where a thread's frame is when the thread is about to execute an instruction.
type Frame struct {
	CFA   Place    // the canonical frame address: the caller's stack pointer after the return
	RA    Place    // the return address
	Saved [6]Place // what the caller has in the registers that Arch.preserved names
	// Assumed is true if symbolic execution does not reach the instruction from the seeds of the code. Then the frame
	// is the one that such code is most likely to have; see "What is not reached" in the package's comment.
	Assumed bool

	arch *Arch
}

// A Place says where a number is.
type Place struct {
	Where  Where
	Reg    uint8 // for InRegister and InMemory
	Offset int32
	Plus   int32 // for InMemory: what to add to the number in memory
}

// A Where says what kind of place a Place is.
type Where uint8

const (
	Unknown    Where = iota
	InRegister       // the number is Reg + Offset
	InMemory         // the number is in memory at Reg + Offset
	AtCFA            // the number is in memory at CFA + Offset
)

// Registers are the registers of a thread, as far as they are known.
type Registers struct {
	PC    uint64
	R     [maxRegisters]uint64 // by the numbers in instructions; on aarch64, 31 is sp
	Known uint32               // bit r is set if R[r] is known
}

// Set sets a register to a known value.
func (r *Registers) Set(number int, v uint64) {
	r.R[number] = v
	r.Known |= 1 << number
}

// Has reports whether a register is known.
func (r *Registers) Has(number int) bool { return r.Known>>number&1 != 0 }

// A ReadFunc returns the eight bytes at an address of the memory, and reports whether they are known.
type ReadFunc func(addr uint64) (uint64, bool)

// Caller returns the registers of the caller: pc and the stack pointer as they are after the return, and the registers
// that C functions preserve, as far as they are known. On aarch64, the pc may have a signature in its upper bits. r
// holds the registers of the thread at the instruction that the Frame belongs to. Caller returns false if the return
// address or the canonical frame address can't be found, because a register or the memory is not known.
func (f *Frame) Caller(r *Registers, read ReadFunc) (Registers, bool) {
	var caller Registers
	sp, ok := f.CFA.in(r, 0, read)
	if !ok {
		return Registers{}, false
	}
	caller.Set(int(f.arch.sp), sp)
	if caller.PC, ok = f.RA.in(r, sp, read); !ok {
		return Registers{}, false
	}
	for i, number := range f.arch.preserved {
		if v, ok := f.Saved[i].in(r, sp, read); ok {
			caller.Set(number, v)
		}
	}
	return caller, true
}

// in returns the number that is at the place.
func (p *Place) in(r *Registers, cfa uint64, read ReadFunc) (uint64, bool) {
	switch {
	case p.Where == AtCFA:
		return read(cfa + uint64(int64(p.Offset)))
	case p.Where == Unknown || !r.Has(int(p.Reg)):
		return 0, false
	}
	v := r.R[p.Reg] + uint64(int64(p.Offset))
	if p.Where == InRegister {
		return v, true
	}
	v, ok := read(v)
	return v + uint64(int64(p.Plus)), ok
}

// text returns a place as "rsp+24", "[rbp-8]+16" or "[cfa-8]". It is "?" if the place is unknown.
func (a *Arch) text(p Place) string {
	signed := func(base string, n int32) string {
		if n == 0 {
			return base
		}
		return fmt.Sprintf("%s%+d", base, n)
	}
	switch p.Where {
	case InRegister:
		return signed(a.names[p.Reg], p.Offset)
	case InMemory:
		return signed("["+signed(a.names[p.Reg], p.Offset)+"]", p.Plus)
	case AtCFA:
		return "[" + signed("cfa", p.Offset) + "]"
	}
	return "?"
}

// String returns a frame as "cfa=rsp+24 ra=[cfa-8] rbp=[cfa-16]". Registers that still have the caller's value, or that
// are unknown, are left out.
func (f Frame) String() string {
	var b strings.Builder
	a := f.arch
	fmt.Fprintf(&b, "cfa=%s ra=%s", a.text(f.CFA), a.text(f.RA))
	for i, r := range a.preserved {
		if p := f.Saved[i]; p.Where != Unknown && p != (Place{Where: InRegister, Reg: uint8(r)}) {
			fmt.Fprintf(&b, " %s=%s", a.names[r], a.text(p))
		}
	}
	if f.Assumed {
		b.WriteString(" assumed")
	}
	return b.String()
}
