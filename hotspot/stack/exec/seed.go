package exec

// A Seed is an address at which execution begins, with what is known there.
type Seed struct {
	At    uint64
	start start
}

// A start says what is known where execution begins.
type start struct {
	kind        startKind
	frameSize   int  // of a completeFrame
	native      bool // of a completeFrame: rbp points to the saved rbp
	keepsRBP    bool // of a completeFrame: rbp is not saved yet
	java        bool // nothing but rbp is preserved for the caller
	senderSP    bool // r13 has the canonical frame address
	exceptionPC bool // rdx has the return address, too
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

// Called returns the seed of code that was entered by a call: the return address is on top of the stack.
func Called(at uint64) Seed { return Seed{at, start{kind: called}} }

// FullFrame returns the seed of a place in an nmethod at which its frame is complete. The frame has that many bytes,
// including the return address and the rbp that is saved below it.
func FullFrame(at uint64, frameSize int) Seed {
	return Seed{at, start{kind: completeFrame, frameSize: frameSize, java: true}}
}

// Bytecode returns the seed of a codelet that executes bytecode: rbp points to a complete frame of the interpreter.
func Bytecode(at uint64) Seed { return Seed{at, start{kind: interpreted}} }

// MethodEntry returns the seed of the interpreter's entry of a method: the return address is on top of the stack, and
// r13 has the caller's rsp, which is not always just above it.
func MethodEntry(at uint64) Seed { return Seed{at, start{kind: methodEntry}} }

// Thrown returns the seed of code that a method jumps to when an exception was thrown: rdx has the address at which it
// was thrown, and the stack has nothing of the stub's.
func Thrown(at uint64) Seed { return Seed{at, start{kind: thrown}} }

// Polled returns the seed of code that a signal handler makes a thread execute at a poll: the stack has nothing of the
// stub's, and the return address is only in the JavaThread.
func Polled(at uint64) Seed { return Seed{at, start{kind: polled}} }

// FramePointer returns the seed of code that others jump to when rbp points to their frame: the saved rbp is there, and
// the return address above it.
func FramePointer(at uint64) Seed { return Seed{at, start{kind: framed}} }

// state returns the state at the start of the execution.
func (st start) state() state {
	var s state
	for i, r := range Preserved {
		if !st.java || i == 0 {
			s.regs[r] = value{callers + base(r), 0}
		}
	}
	switch st.kind {
	case called:
		s.regs[rsp] = value{cfa, -8}
		s.store(value{cfa, -8}, value{returnAddress, 0})
	case completeFrame:
		st.complete(&s)
	case interpreted:
		st.interpreted(&s)
	case methodEntry:
		s = state{}
		s.regs[rbp] = value{callers + rbp, 0}
		s.regs[rsp] = value{arguments, -8}
		s.regs[r13] = value{cfa, 0}
		s.store(value{arguments, -8}, value{returnAddress, 0})
	case thrown:
		s.regs[rsp] = value{cfa, 0}
		s.regs[rdx] = value{returnAddress, 0}
		s.aligned = true
	case framed:
		s = state{}
		s.regs[rbp] = value{cfa, -16}
		s.store(value{cfa, -16}, value{callers + rbp, 0})
		s.store(value{cfa, -8}, value{returnAddress, 0})
	case polled:
		s.regs[rsp] = value{cfa, 0}
		s.polled = true
	}
	if st.java {
		s.aligned = true // compiled code aligns its frames
	}
	if st.senderSP {
		s.regs[r13] = value{cfa, 0}
	}
	if st.exceptionPC {
		s.regs[rdx] = value{returnAddress, 0}
		s.aligned = true
	}
	return s
}

// complete sets the state of a complete frame of an nmethod.
func (st start) complete(s *state) {
	s.regs[rsp] = value{cfa, 0}.plus(-int32(min(max(st.frameSize, 0), maxOffset)))
	s.store(value{cfa, -8}, value{returnAddress, 0})
	if st.keepsRBP {
		return
	}
	s.store(value{cfa, -16}, value{callers + rbp, 0})
	s.regs[rbp] = value{}
	if st.native {
		s.regs[rbp] = value{cfa, -16}
	}
}

// interpreted sets the state of a complete frame of the interpreter (frame_x86.hpp).
func (st start) interpreted(s *state) {
	*s = state{}
	s.regs[rbp] = value{framePointer, 0}
	s.store(value{framePointer, 8}, value{returnAddress, 0})
	s.store(value{framePointer, 0}, value{callers + rbp, 0})
	s.store(value{framePointer, -8}, value{cfa, 0}) // the sender's sp
}
