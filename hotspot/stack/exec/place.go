package exec

// frame returns the frame in a state. It returns false if the canonical frame address or the return address is unknown.
func (s *state) frame() (f Frame, ok bool) {
	if f.CFA = s.placeOfCFA(); f.CFA.Where == Unknown {
		return Frame{}, false
	}
	if f.RA = s.placeOf(returnAddress); f.RA.Where == Unknown {
		return Frame{}, false
	}
	f.arch = s.arch
	for i, r := range s.arch.preserved {
		f.Saved[i] = s.placeOf(callers + base(r))
	}
	return f, true
}

// placeOfCFA returns how the canonical frame address is computed. It prefers the stack pointer and the frame
// pointer, which a walk of the stack knows in most frames.
func (s *state) placeOfCFA() Place {
	r := s.find(cfa)
	if r == s.arch.sp || r == s.arch.fp {
		return Place{Where: InRegister, Reg: r, Offset: -s.regs[r].off}
	}
	for _, slot := range s.slots[:s.n] {
		if slot.has.base != cfa {
			continue
		}
		if p := s.memory(slot.at); p.Where == InMemory {
			p.Plus = -slot.has.off
			return p
		}
	}
	if r == noReg {
		return Place{}
	}
	return Place{Where: InRegister, Reg: r, Offset: -s.regs[r].off}
}

// placeOf returns where the number b is. It prefers memory, because a call may overwrite a register.
func (s *state) placeOf(b base) Place {
	for _, slot := range s.slots[:s.n] {
		if slot.has.base == b && slot.has.off == 0 {
			if p := s.memory(slot.at); p.Where != Unknown {
				return p
			}
		}
	}
	// If b is the value that a register had in the caller, look at this register first. Usually it has not changed.
	if b >= callers && b < moved && s.regs[b-callers] == (value{b, 0}) {
		return Place{Where: InRegister, Reg: reg(b - callers)}
	}
	for r, v := range s.regs[:s.arch.registers] {
		if v.base == b && v.off == 0 {
			return Place{Where: InRegister, Reg: reg(r)}
		}
	}
	return Place{}
}

// memory returns the Place of the memory at an address.
func (s *state) memory(at value) Place {
	if at.base == cfa {
		return Place{Where: AtCFA, Offset: at.off}
	}
	r := s.find(at.base)
	if r == noReg {
		return Place{}
	}
	return Place{Where: InMemory, Reg: r, Offset: at.off - s.regs[r].off}
}

// find returns a register whose value is b plus a constant: the stack or frame pointer if possible. It returns noReg if
// there is none.
func (s *state) find(b base) reg {
	for _, r := range [...]reg{s.arch.sp, s.arch.fp} {
		if s.regs[r].base == b {
			return r
		}
	}
	for r, v := range s.regs[:s.arch.registers] {
		if v.base == b {
			return reg(r)
		}
	}
	return noReg
}
