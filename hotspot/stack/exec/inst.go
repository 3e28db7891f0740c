package exec

// A reg is the number of a general register, as instructions encode it.
type reg = uint8

// The registers of x86-64 that the decoder and the conventions name.
const (
	rax, rcx, rdx, rbx = 0, 1, 2, 3
	rsp, rbp, rsi, rdi = 4, 5, 6, 7
	r11, r12, r13      = 11, 12, 13

	maxRegisters = 32
	noReg        = 0xff // in place of a register: there is none
)

// An operation is what an instruction does, as far as symbolic execution understands it.
type operation uint8

const (
	opOther     operation = iota // only the fields writes and store of the inst say what it does
	opMove                       // dst = src
	opLoad                       // dst = memory
	opStore                      // memory = src
	opLea                        // dst = address of memory
	opAdd                        // dst += imm
	opAlign                      // dst = src & imm, where imm is negative
	opAdd2                       // dst = src + src2; imm is -1 if src2 is subtracted
	opConstant                   // dst = imm
	opLoadPair                   // dst, dst2 = memory, the eight bytes above it
	opStorePair                  // memory, the eight bytes above it = src, src2
	opSwap                       // dst, src = src, dst
	opSwapMem                    // dst, memory = memory, dst
	opPush                       // push src
	opPushOther                  // push a value that is not tracked
	opPop                        // pop dst
	opDrop                       // pop to a place that is not tracked
	opPush2                      // push two values that are not tracked
	opPop2                       // pop twice to places that are not tracked
	opEnter                      // push rbp; rbp = rsp; rsp -= imm
	opLeave                      // rsp = rbp; pop rbp
	opCall                       // a call whose target is known
	opCallOther
	opJump // a jump whose target is known
	opCondJump
	opJumpOther
	opReturn
	opStop // hlt, int3, ud2, brk: HotSpot puts them where execution never comes
	opBad  // not an instruction
)

// An inst is a decoded instruction.
type inst struct {
	op       operation
	len      uint8
	dst, src reg
	dst2     reg // for opLoadPair; noReg stands for xzr, as in dst
	src2     reg // for opAdd2 and opStorePair; noReg stands for xzr, as in src
	update   update
	writes   uint32 // registers that get a value that is not tracked, as bits
	// store is the number of bytes that the instruction writes to memory, if the written value is not tracked.
	store uint16
	mem   memory
	imm   int32
	rel   int32 // for a direct jump or call: the distance of the target from the instruction's end
}

// An update says how the instruction changes the register mem.base after the operation.
type update uint8

const (
	noUpdate   update = iota
	byConstant        // imm is added
	byRegister        // src is added
)

// A memory is a memory operand. Symbolic execution can know its address only if it has a base register, and no index.
type memory struct {
	base reg // noReg if the address is not base + disp
	disp int32
}
