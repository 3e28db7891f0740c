package exec

// step executes an instruction that is not a jump or a call. offset is the instruction's, from the start of the code.
func (s *state) step(in *inst, offset int) {
	switch in.op {
	case opMove:
		s.set(in.dst, s.regs[in.src])
	case opLoad:
		s.set(in.dst, s.load(s.address(in.mem)))
	case opStore:
		s.store(s.address(in.mem), s.regs[in.src])
	case opLea:
		s.set(in.dst, s.address(in.mem))
	case opAdd:
		s.set(in.dst, s.regs[in.dst].plus(in.imm))
	case opAlign:
		s.align(in.dst)
	case opSwap:
		a, b := s.regs[in.dst], s.regs[in.src]
		s.set(in.dst, b)
		s.set(in.src, a)
	case opSwapMem:
		at := s.address(in.mem)
		v := s.load(at)
		s.store(at, s.regs[in.dst])
		s.set(in.dst, v)
	default:
		s.stepStack(in, offset)
	}
	s.others(in)
}

// stepStack executes push, pop, enter and leave.
func (s *state) stepStack(in *inst, offset int) {
	switch in.op {
	case opPush:
		s.push(s.regs[in.src], offset)
	case opPushOther:
		s.push(value{}, offset)
	case opPop:
		s.set(in.dst, s.pop())
	case opDrop:
		s.pop()
	case opEnter:
		s.push(s.regs[rbp], offset)
		s.set(rbp, s.regs[rsp])
		s.set(rsp, s.regs[rsp].plus(-in.imm))
	case opLeave:
		s.set(rsp, s.regs[rbp])
		s.set(rbp, s.pop())
	}
}

// others executes what is not tracked: it forgets the values that an instruction overwrites.
func (s *state) others(in *inst) {
	if in.writes != 0 {
		for r := range reg(registers) {
			if in.writes>>r&1 != 0 {
				s.set(r, value{})
			}
		}
	}
	if in.store != 0 {
		at := s.address(in.mem)
		if in.store == 8 && at == (value{cfa, -8}) {
			s.store(at, value{}) // it replaces the return address
			return
		}
		s.clobber(at, int32(in.store))
	}
}

// address returns the address of a memory operand.
func (s *state) address(m memory) value {
	if m.base == noReg {
		return value{}
	}
	return s.regs[m.base].plus(m.disp)
}

// align executes "and $-16,%r".
func (s *state) align(r reg) {
	v := s.regs[r]
	if v.base != cfa || !s.aligned {
		s.set(r, value{})
		return
	}
	v.off &^= 15
	s.set(r, v)
}

// called forgets the registers that a called function overwrites. In Java code a callee preserves only rsp and rbp, but Java code
// keeps nothing in other registers that matters here. So the rules for C functions do for all.
func (s *state) called() {
	for r := range reg(registers) {
		switch {
		case r == rsp, r == rbp, r == rbx, r >= r12:
		default:
			s.set(r, value{})
		}
	}
}
