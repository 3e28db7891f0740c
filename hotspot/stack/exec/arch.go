package exec

// An Arch describes an instruction set and HotSpot's conventions on it.
type Arch struct {
	registers int // the number of general registers
	sp, fp    reg // the stack pointer and the frame pointer
	// link is the register in which a call leaves the return address; noReg if a call pushes it.
	link reg
	// preserved are the registers for which a Frame says where the caller's values are, the frame pointer first.
	// Frame.Saved has a Place for each, in this order.
	preserved []int
	// kept are the registers that a C function preserves, one bit for each.
	kept  uint32
	names []string

	// senderSP is the register that has the caller's stack pointer when the interpreter enters a method or an adapter.
	// exceptionPC is the register that has the address at which an exception was thrown, when a method jumps to a
	// handler.
	senderSP, exceptionPC reg
	// followsCalls is true if codelets call their own code; see Code.followsCalls.
	followsCalls bool

	// step is the alignment of instructions in bytes.
	step    int
	decode  func(code []byte) inst
	padding func(code []byte) bool // reports whether code begins with HotSpot's filler between pieces of code
	// notEntrant returns the seed of a verified entry. code begins at that entry. HotSpot may have overwritten the
	// start of the code.
	notEntrant func(entry uint64, code []byte, frameSize int) Seed
	// polls reports whether a SafepointBlob is entered from a poll without a call. Then its code has to store the
	// return address itself.
	polls func(code []byte) bool
}

// align rounds an offset up to a multiple of a.step.
func (a *Arch) align(offset int) int { return (offset + a.step - 1) &^ (a.step - 1) }
