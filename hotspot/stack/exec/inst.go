package exec

// A reg is the number of a general register, as instructions encode it.
type reg = uint8

// The registers that the execution treats specially. Seeds name others by their numbers.
const (
	rax, rcx, rdx, rbx = 0, 1, 2, 3
	rsp, rbp, rsi, rdi = 4, 5, 6, 7
	r11, r12, r13      = 11, 12, 13

	registers = 16
	noReg     = 0xff // in place of a register: there is none
)

// An operation is what an instruction does, as far as the execution understands it.
type operation uint8

const (
	opOther     operation = iota // only the fields writes and store of the inst say what it does
	opMove                       // dst = src
	opLoad                       // dst = memory
	opStore                      // memory = src
	opLea                        // dst = address of memory
	opAdd                        // dst += imm
	opAlign                      // dst &= imm, which is negative
	opSwap                       // dst, src = src, dst
	opSwapMem                    // dst, memory = memory, dst
	opPush                       // push src
	opPushOther                  // push a value that is not tracked
	opPop                        // pop dst
	opDrop                       // pop to somewhere else
	opEnter                      // push rbp; rbp = rsp; rsp -= imm
	opLeave                      // rsp = rbp; pop rbp
	opCall                       // a call whose target is known
	opCallOther
	opJump // a jump whose target is known
	opCondJump
	opJumpOther
	opReturn
	opStop // hlt, int3, ud2: HotSpot puts them where execution never comes
	opBad  // not an instruction
)

// An inst is a decoded instruction.
type inst struct {
	op       operation
	len      uint8
	dst, src reg
	writes   uint16 // registers that get a value that is not tracked, as bits
	// store is the number of bytes in memory that get a value that is not tracked.
	store uint16
	mem   memory
	imm   int32
	rel   int32 // of a direct jump or call: the target's distance from the end of the instruction
}

// A memory is a memory operand. Its address is known to the execution only if it has a base register, and no index.
type memory struct {
	base reg // noReg if the address is not base + disp
	disp int32
}
