package exec

// A value is what is known about the content of a register or of a stack slot: the sum of an unknown number and a
// constant.
type value struct {
	base base
	off  int32
}

// A base is the unknown number in a value. Two values with the same base differ by the difference of their offsets.
type base int32

const (
	unknown       base = iota
	cfa                // the canonical frame address: the caller's stack pointer after the return
	returnAddress      // the address in the caller at which it continues
	framePointer       // the frame pointer of a complete frame of the interpreter
	arguments          // the stack pointer right before the call with which the interpreter enters a method
	constant           // 0: the value is the offset itself
	codeStart          // the address of the code, for return addresses of calls from the code into itself
	callers            // callers+r is what the caller has in register r
	// moved+n is the stack pointer before the instruction at offset n, if nothing else is known about it.
	moved base = callers + maxRegisters
)

// inStack reports whether b is an address of the stack.
func (b base) inStack() bool {
	return b == cfa || b == framePointer || b == arguments || b >= moved
}

// maxOffset limits the offsets of values, in bytes. HotSpot's frames have at most several hundred kB.
const maxOffset = 1 << 28

// plus returns v + n.
func (v value) plus(n int32) value {
	if v.base == unknown || n < -maxOffset || n > maxOffset {
		return value{}
	}
	if v.off += n; v.off < -maxOffset || v.off > maxOffset {
		return value{}
	}
	return v
}

// maxSlots limits how many slots of a frame are tracked at once. Only slots with known values count, such as the return
// address, the registers of the caller, and addresses of the stack.
const maxSlots = 16

// A slot is eight bytes of memory with a known value.
type slot struct{ at, has value }

// A state is what is known at an instruction, before it is executed.
type state struct {
	arch    *Arch
	regs    [maxRegisters]value
	slots   [maxSlots]slot
	n       uint8 // number of slots in use
	aligned bool  // the canonical frame address is a multiple of 16
	polled  bool  // there is no return address until the code stores one
	dirty   bool  // something has changed
}

func (s *state) set(r reg, v value) {
	if s.regs[r] == v {
		return
	}
	s.regs[r], s.dirty = v, true
	if r == s.arch.sp && v.base != unknown {
		s.dropBelow(v)
	}
}

// dropBelow forgets the slots below the stack pointer, because a signal handler may overwrite them.
func (s *state) dropBelow(sp value) {
	for i := int(s.n) - 1; i >= 0; i-- {
		if at := s.slots[i].at; at.base == sp.base && at.off < sp.off {
			s.drop(i)
		}
	}
}

func (s *state) drop(i int) {
	s.n--
	s.slots[i] = s.slots[s.n]
	s.slots[s.n] = slot{}
	s.dirty = true
}

// load returns the value of the slot at an address.
func (s *state) load(at value) value {
	for _, slot := range s.slots[:s.n] {
		if slot.at == at {
			return slot.has
		}
	}
	return value{}
}

// store notes that v was stored at an address.
func (s *state) store(at, v value) {
	s.clobber(at, 8)
	if v.base != unknown && at.base.inStack() && s.n < maxSlots {
		s.slots[s.n] = slot{at, v}
		s.n++
		s.dirty = true
	}
}

// clobber forgets the slots that overlap n bytes of memory.
func (s *state) clobber(at value, n int32) {
	if at.base == unknown {
		return
	}
	for i := int(s.n) - 1; i >= 0; i-- {
		if a := s.slots[i].at; a.base == at.base && a.off < at.off+n && at.off < a.off+8 {
			s.drop(i)
		}
	}
}

// push executes a push of v.
func (s *state) push(v value) {
	sp := s.regs[s.arch.sp].plus(-8)
	s.set(s.arch.sp, sp)
	s.store(sp, v)
}

// pop executes a pop, and returns the popped value.
func (s *state) pop() value {
	v := s.load(s.regs[s.arch.sp])
	s.set(s.arch.sp, s.regs[s.arch.sp].plus(8))
	return v
}

// merge makes unknown in s what is not the same in other. It reports whether s has changed.
func (s *state) merge(other *state) bool {
	s.dirty = false
	for r := range s.arch.registers {
		if s.regs[r] != other.regs[r] {
			s.set(reg(r), value{})
		}
	}
	for i := int(s.n) - 1; i >= 0; i-- {
		if other.load(s.slots[i].at) != s.slots[i].has {
			s.drop(i)
		}
	}
	if s.aligned && !other.aligned {
		s.aligned, s.dirty = false, true
	}
	s.polled = s.polled && other.polled
	return s.dirty
}
