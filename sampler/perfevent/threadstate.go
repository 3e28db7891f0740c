package perfevent

import "runtime"

// A ThreadState has the thread's registers and stacks that the kernel has copied because of [Options].Stacks. It is
// valid only during the call of the function that was passed to [Set.Drain], because its memory is then reused. It must
// not be changed.
type ThreadState struct {
	// ABI says how the thread ran in user space. If it is NoABI, Regs and Stack are empty, because the thread has no
	// user space: it is a thread of the kernel, or is ending.
	ABI ABI
	// Regs are the thread's registers in user space. Their indexes are the constants below for this machine's
	// architecture. Registers without a constant are 0. If the thread was sampled in the kernel, the registers are
	// those at its entry into the kernel.
	//
	// If the thread was sampled in user space, the program counter in Regs equals the sample's IP, unless the event is
	// sampled precisely (see Set.Precise). In a precise sample, IP is the instruction that caused the event, and the
	// registers are from the interrupt some instructions later.
	Regs [registers]uint64
	// Stack is the memory that begins at the stack pointer in Regs. It has at most [Set.Stacks] bytes, and ends before
	// the first page that could not be read without a page fault. If another mapping follows the stack, Stack may
	// continue there.
	Stack []byte
	// Chain has the return addresses of the kernel's functions that were executing, the innermost first. It does not
	// have the address that was sampled. It is empty if the thread was in user space, or if this user may not see the
	// kernel.
	Chain []uint64

	// kept is the buffer into which Stack was copied. It is not used while Stack still points into the ring buffer.
	kept []byte
}

// An ABI says whether a thread ran a 32-bit or a 64-bit program.
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

// registerMasks says which registers the kernel copies, by the name of the architecture. Bit i is for the register with
// the index i.
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
