package exec

// A Seed is an address at which symbolic execution begins, with what is known there.
type Seed struct {
	At    uint64
	start start
}

// A start says what is known where symbolic execution begins.
type start struct {
	kind        startKind
	frameSize   int  // of a completeFrame
	native      bool // of a completeFrame: the frame pointer points to the saved frame pointer
	keepsFP     bool // of a completeFrame: the frame pointer still has the caller's value
	java        bool // the code preserves no register for its caller except the frame pointer
	senderSP    bool // Arch.senderSP has the canonical frame address
	exceptionPC bool // Arch.exceptionPC has the return address, too
}

type startKind uint8

const (
	called startKind = iota
	completeFrame
	interpreted
	methodEntry
	thrown
	polled
	framed
)

// Called returns the seed of code that was entered by a call: the return address is where the call has left it, on top
// of the stack or in a register.
func Called(at uint64) Seed { return Seed{at, start{kind: called}} }

// FullFrame returns the seed of a place in an nmethod at which its frame is complete. frameSize is the size of the
// frame in bytes, including the return address and the frame pointer that is saved below it.
func FullFrame(at uint64, frameSize int) Seed {
	return Seed{at, start{kind: completeFrame, frameSize: frameSize, java: true}}
}

// Bytecode returns the seed of a codelet that executes bytecode: the frame pointer points to a complete frame of the
// interpreter.
func Bytecode(at uint64) Seed { return Seed{at, start{kind: interpreted}} }

// MethodEntry returns the seed of the interpreter's entry of a method. There, the return address is where a call has
// left it: on top of the stack, or in the link register. The sender SP register has the caller's stack pointer, because
// an adapter between the caller and this entry may have pushed arguments.
func MethodEntry(at uint64) Seed { return Seed{at, start{kind: methodEntry}} }

// Thrown returns the seed of code that a method jumps to when an exception was thrown: a register has the address at
// which it was thrown, and the code has not pushed anything yet.
func Thrown(at uint64) Seed { return Seed{at, start{kind: thrown}} }

// Polled returns the seed of code that a signal handler makes a thread execute at a poll: the code has not pushed
// anything yet, and the return address is only in the JavaThread.
func Polled(at uint64) Seed { return Seed{at, start{kind: polled}} }

// FramePointer returns the seed of code to which other code jumps when the frame is already set up: the frame pointer
// points to the saved frame pointer, which has the return address above it.
func FramePointer(at uint64) Seed { return Seed{at, start{kind: framed}} }

// state returns the state at the start of symbolic execution.
func (st start) state(a *Arch) state {
	s := state{arch: a}
	for i, r := range a.preserved {
		if !st.java || i == 0 {
			s.regs[r] = value{callers + base(r), 0}
		}
	}
	switch st.kind {
	case called:
		s.entered(cfa)
	case completeFrame:
		st.complete(&s)
	case interpreted:
		st.interpreted(&s)
	case methodEntry:
		s = state{arch: a}
		s.regs[a.fp] = value{callers + base(a.fp), 0}
		s.regs[a.senderSP] = value{cfa, 0}
		s.entered(arguments)
	case thrown:
		s.regs[a.sp] = value{cfa, 0}
		s.regs[a.exceptionPC] = value{returnAddress, 0}
		if a.link != noReg {
			s.regs[a.link] = value{returnAddress, 0}
		}
		s.aligned = true
	case framed:
		s = state{arch: a}
		s.regs[a.fp] = value{cfa, -16}
		s.store(value{cfa, -16}, value{callers + base(a.fp), 0})
		s.store(value{cfa, -8}, value{returnAddress, 0})
	case polled:
		s.regs[a.sp] = value{cfa, 0}
		s.polled = true
	}
	if st.java || a.link != noReg {
		s.aligned = true // compiled code aligns its frames; on aarch64, all code does
	}
	if st.senderSP {
		s.regs[a.senderSP] = value{cfa, 0}
	}
	if st.exceptionPC {
		s.regs[a.exceptionPC] = value{returnAddress, 0}
		s.aligned = true
	}
	return s
}

// entered sets the state right after a call, which has stored the return address in a register or on the stack. sp is
// the caller's stack pointer.
func (s *state) entered(sp base) {
	a := s.arch
	if a.link != noReg {
		s.regs[a.sp], s.regs[a.link] = value{sp, 0}, value{returnAddress, 0}
		return
	}
	s.regs[a.sp] = value{sp, -8}
	s.store(value{sp, -8}, value{returnAddress, 0})
}

// complete sets s to the state at an instruction of an nmethod where the frame is complete.
func (st start) complete(s *state) {
	fp := s.arch.fp
	s.regs[s.arch.sp] = value{cfa, 0}.plus(-int32(min(max(st.frameSize, 0), maxOffset)))
	s.store(value{cfa, -8}, value{returnAddress, 0})
	if st.keepsFP {
		return
	}
	s.store(value{cfa, -16}, value{callers + base(fp), 0})
	s.regs[fp] = value{}
	if st.native {
		s.regs[fp] = value{cfa, -16}
	}
}

// interpreted sets the state of a complete frame of the interpreter. The words around the frame pointer are the same on
// both architectures (frame_x86.hpp, frame_aarch64.hpp).
func (st start) interpreted(s *state) {
	fp := s.arch.fp
	*s = state{arch: s.arch}
	s.regs[fp] = value{framePointer, 0}
	s.store(value{framePointer, 8}, value{returnAddress, 0})
	s.store(value{framePointer, 0}, value{callers + base(fp), 0})
	s.store(value{framePointer, -8}, value{cfa, 0}) // the sender's sp
}
