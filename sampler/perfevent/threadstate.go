package perfevent

import "runtime"

// A ThreadState is what the kernel has copied of a thread's registers and stacks with [Options].Stacks. Its memory
// belongs to the [Set], or is the kernel's own, and is used again as soon as Drain's function has returned. It must not
// be changed.
type ThreadState struct {
	// ABI says how the thread ran in user space. If it is NoABI, Regs and Stack are empty, because the thread had no
	// user space: it is one of the kernel's own, or is ending.
	ABI ABI
	// Regs are the thread's registers in user space. The indexes are the constants below for the architecture of this
	// machine. Registers without a constant are 0. If the thread was sampled in the kernel, the registers are those at
	// its entry into the kernel.
	//
	// The program counter among them is the IP of a sample in user space, except if the event is sampled precisely (see
	// Set.Precise): then IP is the instruction that caused the event, and the registers are those at the interrupt,
	// some instructions later.
	Regs [registers]uint64
	// Stack is the memory that begins at the stack pointer in Regs. It ends after [Set.Stacks] bytes at the latest, or
	// before the first page that could not be read without a page fault. If another mapping follows the stack, Stack
	// may continue there.
	Stack []byte
	// Chain has the return addresses of the kernel's functions that were executing, the innermost first. It does not
	// have the interrupted instruction. It is empty if the thread was in user space, and if this user may not see the
	// kernel.
	Chain []uint64

	// If the stack was copied out of the ring, kept is the buffer that Stack points into. Otherwise Stack points into
	// the ring.
	kept []byte
}

// An ABI says whether a thread ran as a program of 32 or of 64 bits.
type ABI uint8

// The ABIs have the kernel's numbers.
const (
	NoABI ABI = iota
	ABI32
	ABI64
)

// The indexes of x86-64's registers in ThreadState.Regs. They are the kernel's, in the enum perf_event_x86_regs
// (arch/x86/include/uapi/asm/perf_regs.h).
const (
	AX  = 0
	BX  = 1
	CX  = 2
	DX  = 3
	SI  = 4
	DI  = 5
	BP  = 6
	SP  = 7
	IP  = 8
	R8  = 16
	R9  = 17
	R10 = 18
	R11 = 19
	R12 = 20
	R13 = 21
	R14 = 22
	R15 = 23
)

// The indexes of aarch64's registers in ThreadState.Regs (arch/arm64/include/uapi/asm/perf_regs.h).
const (
	ARM64X0 = 0 // X1 to X28 follow
	ARM64FP = 29
	ARM64LR = 30
	ARM64SP = 31
	ARM64PC = 32
)

// registers is the number of registers for which a ThreadState has room.
const registers = ARM64PC + 1

// registerMasks are the registers that the kernel copies, by the name of the architecture. A bit is the index of a
// register.
var registerMasks = map[string]uint64{
	"amd64": 0xff<<R8 | 1<<IP | 0xff,
	"arm64": 1<<registers - 1,
}

var registerMask = registerMasks[runtime.GOARCH]

// StackPointer returns the thread's stack pointer in user space, which is the address of the first byte of Stack.
func (s *ThreadState) StackPointer() uint64 {
	if runtime.GOARCH == "arm64" {
		return s.Regs[ARM64SP]
	}
	return s.Regs[SP]
}

// ProgramCounter returns the thread's program counter in user space.
func (s *ThreadState) ProgramCounter() uint64 {
	if runtime.GOARCH == "arm64" {
		return s.Regs[ARM64PC]
	}
	return s.Regs[IP]
}
