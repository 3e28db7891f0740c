package exec

// step applies an instruction to the state. The instruction is not a jump or a call.
func (s *state) step(in *inst) {
	switch in.op {
	case opMove:
		s.set(in.dst, s.regs[in.src])
	case opLoad:
		s.set(in.dst, s.load(s.address(in.mem)))
	case opStore:
		s.overwrite(s.address(in.mem), s.regs[in.src])
	case opLea:
		s.set(in.dst, s.address(in.mem))
	case opAdd:
		s.set(in.dst, s.regs[in.dst].plus(in.imm))
	case opAlign:
		s.set(in.dst, s.align(s.regs[in.src], in.imm))
	case opAdd2:
		s.set(in.dst, s.sum(in))
	case opConstant:
		s.set(in.dst, value{constant, in.imm})
	case opLoadPair:
		at := s.address(in.mem)
		first, second := s.load(at), s.load(at.plus(8))
		s.put(in.dst, first)
		s.put(in.dst2, second)
	case opStorePair:
		at := s.address(in.mem)
		s.store(at, s.get(in.src))
		s.store(at.plus(8), s.get(in.src2))
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
		s.stepStack(in)
	}
	s.others(in)
	switch base := in.mem.base; in.update {
	case byConstant:
		s.set(base, s.regs[base].plus(in.imm))
	case byRegister:
		s.set(base, add(s.regs[base], s.regs[in.src]))
	}
}

// get returns the value of a register, which may be xzr.
func (s *state) get(r reg) value {
	if r == noReg {
		return value{}
	}
	return s.regs[r]
}

// put is like set, but the register may be xzr.
func (s *state) put(r reg, v value) {
	if r != noReg {
		s.set(r, v)
	}
}

// sum executes an opAdd2.
func (s *state) sum(in *inst) value {
	a, b := s.get(in.src), s.get(in.src2)
	if in.imm >= 0 {
		return add(a, b)
	}
	if b.base != constant {
		return value{}
	}
	return a.plus(-b.off)
}

// add returns a + b. The sum is unknown unless one of them is a constant.
func add(a, b value) value {
	if a.base == constant {
		a, b = b, a
	}
	if b.base != constant {
		return value{}
	}
	return a.plus(b.off)
}

// stepStack executes push, pop, enter and leave.
func (s *state) stepStack(in *inst) {
	switch in.op {
	case opPush:
		s.push(s.regs[in.src])
	case opPushOther:
		s.push(value{})
	case opPop:
		s.set(in.dst, s.pop())
	case opDrop:
		s.pop()
	case opPush2:
		s.push(value{})
		s.push(value{})
	case opPop2:
		s.pop()
		s.pop()
	case opEnter:
		s.push(s.regs[rbp])
		s.set(rbp, s.regs[rsp])
		s.set(rsp, s.regs[rsp].plus(-in.imm))
	case opLeave:
		s.set(rsp, s.regs[rbp])
		s.set(rbp, s.pop())
	}
}

// others handles instructions that are not understood: it forgets the values of the registers and slots that the
// instruction overwrites.
func (s *state) others(in *inst) {
	if in.writes != 0 {
		for r := range reg(s.arch.registers) {
			if in.writes>>r&1 != 0 {
				s.set(r, value{})
			}
		}
	}
	if in.store != 0 {
		at := s.address(in.mem)
		if in.store == 8 {
			s.overwrite(at, value{})
			return
		}
		s.clobber(at, int32(in.store))
	}
}

// overwrite executes a mov of v to memory. HotSpot's code uses such a mov to replace a return address with that of a
// deoptimized frame, or with the address of an exception handler. So an unknown value that overwrites the return
// address is taken for the new return address.
func (s *state) overwrite(at, v value) {
	address := value{returnAddress, 0}
	if v.base == unknown && at == (value{cfa, -8}) && (s.polled || s.load(at) == address) {
		v = address
	}
	s.store(at, v)
}

// address returns the address of a memory operand.
func (s *state) address(m memory) value {
	if m.base == noReg {
		return value{}
	}
	return s.regs[m.base].plus(m.disp)
}

// align returns what is known about v & mask, where the mask is negative.
func (s *state) align(v value, mask int32) value {
	if v.base != cfa || !s.aligned || mask != -16 {
		return value{}
	}
	v.off &= mask
	return v
}

// called forgets the registers that a called function may overwrite, according to the rules for C functions. A Java
// method overwrites more: all registers but the stack and frame pointers. But code that calls Java methods keeps
// nothing in the other registers that matters here.
func (s *state) called() {
	for r := range reg(s.arch.registers) {
		if s.arch.kept>>r&1 == 0 {
			s.set(r, value{})
		}
	}
}
