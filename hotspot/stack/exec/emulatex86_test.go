package exec

import "golang.org/x/arch/x86/x86asm"

func (e *emulator) push(v uint64) {
	e.R[RSP] -= 8
	e.write(e.R[RSP], v, 8)
}

func (e *emulator) pop() uint64 {
	v := e.read(e.R[RSP], 8)
	e.R[RSP] += 8
	return v
}

// executeAMD64 executes an instruction that is not a branch. It is decoded by x86asm.
func (e *emulator) executeAMD64(next uint64) {
	in, err := x86asm.Decode(e.code.Bytes[e.PC-e.code.Lo:next-e.code.Lo], 64)
	if err != nil || e.PC+uint64(in.Len) != next {
		return // a VEX or EVEX prefix: ignored here, while for a Table the written registers become unknown
	}
	args := in.Args
	switch in.Op {
	case x86asm.PUSH:
		e.push(e.get(args[0], &in))
	case x86asm.PUSHFQ:
		e.push(2)
	case x86asm.POP:
		e.put(args[0], e.pop(), &in)
	case x86asm.POPFQ:
		e.pop()
	case x86asm.MOV:
		e.put(args[0], e.get(args[1], &in), &in)
	case x86asm.LEA:
		e.put(args[0], e.address(args[1].(x86asm.Mem)), &in)
	case x86asm.ADD:
		e.put(args[0], e.get(args[0], &in)+e.get(args[1], &in), &in)
	case x86asm.SUB:
		e.put(args[0], e.get(args[0], &in)-e.get(args[1], &in), &in)
	case x86asm.INC:
		e.put(args[0], e.get(args[0], &in)+1, &in)
	case x86asm.DEC:
		e.put(args[0], e.get(args[0], &in)-1, &in)
	case x86asm.AND:
		e.put(args[0], e.get(args[0], &in)&e.get(args[1], &in), &in)
	case x86asm.XCHG:
		a, b := e.get(args[0], &in), e.get(args[1], &in)
		e.put(args[0], b, &in)
		e.put(args[1], a, &in)
	case x86asm.ENTER:
		e.push(e.R[RBP])
		e.R[RBP] = e.R[RSP]
		e.R[RSP] -= uint64(args[0].(x86asm.Imm))
	case x86asm.LEAVE:
		e.R[RSP] = e.R[RBP]
		e.R[RBP] = e.pop()
	case x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.BT, x86asm.PREFETCHW, x86asm.PREFETCHNTA,
		x86asm.PREFETCHT0, x86asm.UCOMISD, x86asm.UCOMISS:
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CDQ, x86asm.CQO, x86asm.CPUID, x86asm.RDTSC:
		e.R[RAX], e.R[RDX] = e.random.Uint64(), e.random.Uint64()
	case x86asm.FXSAVE, x86asm.FXSAVE64, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.LDMXCSR:
	default:
		if args[0] != nil {
			e.put(args[0], e.random.Uint64(), &in)
		}
	}
}

// generalOf returns the number of a general register, and the size of the operand in bytes.
func generalOf(r x86asm.Reg) (number, size int, ok bool) {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 8, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, true
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, true
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + 4, 1, true
	}
	return 0, 0, false
}

func (e *emulator) get(a x86asm.Arg, in *x86asm.Inst) uint64 {
	switch a := a.(type) {
	case x86asm.Reg:
		if n, size, ok := generalOf(a); ok {
			return e.R[n] << (64 - 8*size) >> (64 - 8*size)
		}
	case x86asm.Imm:
		return uint64(a)
	case x86asm.Mem:
		return e.read(e.address(a), max(in.MemBytes, 1))
	}
	return e.random.Uint64()
}

func (e *emulator) put(a x86asm.Arg, v uint64, in *x86asm.Inst) {
	switch a := a.(type) {
	case x86asm.Reg:
		n, size, ok := generalOf(a)
		switch {
		case !ok:
		case size >= 4:
			e.R[n] = v << (64 - 8*size) >> (64 - 8*size)
		default:
			mask := uint64(1)<<(8*size) - 1
			e.R[n] = e.R[n]&^mask | v&mask
		}
	case x86asm.Mem:
		e.store(e.address(a), v, min(in.MemBytes, 8))
	}
}

func (e *emulator) address(m x86asm.Mem) uint64 {
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS || m.Base == x86asm.RIP {
		return e.random.Uint64()
	}
	addr := uint64(m.Disp)
	if n, size, ok := generalOf(m.Base); ok && size == 8 {
		addr += e.R[n]
	}
	if n, _, ok := generalOf(m.Index); ok {
		addr += e.R[n] * uint64(m.Scale)
	}
	return addr
}
