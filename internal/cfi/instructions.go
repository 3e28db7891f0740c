package cfi

import (
	"errors"
	"fmt"
)

// The call frame instructions (DWARF 5, section 7.24; for those of GNU, the Linux Standard Base). The first three are
// the upper two bits of a byte whose lower six bits are an operand.
const (
	opAdvance = 0x1
	opOffset  = 0x2
	opRestore = 0x3

	opNop                = 0x00
	opSetLoc             = 0x01
	opAdvance1           = 0x02
	opAdvance2           = 0x03
	opAdvance4           = 0x04
	opOffsetExtended     = 0x05
	opRestoreExtended    = 0x06
	opUndefined          = 0x07
	opSameValue          = 0x08
	opRegister           = 0x09
	opRememberState      = 0x0a
	opRestoreState       = 0x0b
	opDefCFA             = 0x0c
	opDefCFARegister     = 0x0d
	opDefCFAOffset       = 0x0e
	opDefCFAExpression   = 0x0f
	opExpression         = 0x10
	opOffsetExtendedSF   = 0x11
	opDefCFASF           = 0x12
	opDefCFAOffsetSF     = 0x13
	opValOffset          = 0x14
	opValOffsetSF        = 0x15
	opValExpression      = 0x16
	opNegateRAStateAndPC = 0x2c // aarch64
	opNegateRAState      = 0x2d // aarch64; on SPARC, the same number saves a register window
	opArgsSize           = 0x2e // GNU: how many bytes of arguments are on the stack, for exceptions
	opNegativeOffset     = 0x2f // GNU, obsolete
)

// step runs one instruction.
func (p *program) step() error {
	op := p.in.u8()
	low := uint64(op & 0x3f)
	switch op >> 6 {
	case opAdvance:
		p.advance(low)
	case opOffset:
		p.set(low, offset, int64(p.in.uleb())*p.info.dataAlign)
	case opRestore:
		p.restore(low)
	default:
		return p.extended(op)
	}
	return nil
}

// extended runs an instruction whose upper two bits are 0. All of its operands are in the bytes that follow.
func (p *program) extended(op byte) error {
	in := &p.in
	switch op {
	case opNop, opNegateRAState, opNegateRAStateAndPC:
	case opArgsSize:
		in.uleb()
	case opSetLoc:
		p.loc = in.pointer(p.info.encoding, p.base)
	case opAdvance1, opAdvance2, opAdvance4:
		p.advance(in.sized(1 << (op - opAdvance1)))
	case opRememberState, opRestoreState:
		return p.remember(op == opRememberState)
	case opDefCFA, opDefCFASF, opDefCFARegister, opDefCFAOffset, opDefCFAOffsetSF, opDefCFAExpression:
		p.defineCFA(op)
	case opRestoreExtended:
		p.restore(in.uleb())
	case opUndefined:
		p.set(in.uleb(), undefined, 0)
	case opSameValue:
		p.set(in.uleb(), sameValue, 0)
	case opRegister:
		p.set(in.uleb(), inRegister, int64(min(in.uleb(), columns)))
	case opOffsetExtended:
		p.set(in.uleb(), offset, int64(in.uleb())*p.info.dataAlign)
	case opOffsetExtendedSF:
		p.set(in.uleb(), offset, in.sleb()*p.info.dataAlign)
	case opNegativeOffset:
		p.set(in.uleb(), offset, -int64(in.uleb())*p.info.dataAlign)
	case opValOffset:
		p.set(in.uleb(), valueOffset, int64(in.uleb())*p.info.dataAlign)
	case opValOffsetSF:
		p.set(in.uleb(), valueOffset, in.sleb()*p.info.dataAlign)
	case opExpression:
		p.setExpression(in.uleb(), expression)
	case opValExpression:
		p.setExpression(in.uleb(), valueExpression)
	default:
		return fmt.Errorf("it has the unknown instruction %#x", op)
	}
	return nil
}

func (p *program) advance(units uint64) { p.loc += units * p.info.codeAlign }

// set sets the rule of a register.
func (p *program) set(column uint64, kind ruleKind, value int64) {
	if column < columns {
		p.state.rules[column] = withOffset(kind, 0, value)
	}
}

func (p *program) setExpression(column uint64, kind ruleKind) {
	r := p.block(kind)
	if column < columns {
		p.state.rules[column] = r
	}
}

// block reads a DWARF expression (a length and that many bytes), and returns a rule that refers to it.
func (p *program) block(kind ruleKind) rule {
	length := p.in.uleb()
	at := p.in.pos
	p.in.bytes(length)
	return rule{kind: kind, value: int32(at), length: uint16(p.in.pos - at)}
}

// restore sets the rule of a register back to the rule that it has at the function's first instruction.
func (p *program) restore(column uint64) {
	if column < columns {
		p.state.rules[column] = p.initial.rules[column]
	}
}

// remember pushes the state onto the stack of remembered states if save is true. Otherwise it pops a state and makes it
// the current one. As in libgcc (uw_execute_cfa_program), a state includes the rule of the CFA.
func (p *program) remember(save bool) error {
	last := len(p.remembered) - 1
	p.left -= stateCost
	switch {
	case save && last+1 >= maxRemembered:
		return fmt.Errorf("it remembers more than %d states", maxRemembered)
	case save:
		p.remembered = append(p.remembered, p.state)
	case last < 0:
		return errors.New("it restores a state that it has not remembered")
	default:
		p.state, p.remembered = p.remembered[last], p.remembered[:last]
	}
	return nil
}

// defineCFA sets the rule of the CFA, or a part of it. DW_CFA_def_cfa_register sets only the register. If the CFA was
// computed by an expression until then, the offset is that of the last rule before the expression. libgcc keeps the
// offset in this case, too, and libgcrypt relies on it.
func (p *program) defineCFA(op byte) {
	cfa := &p.state.cfa
	switch op {
	case opDefCFAExpression:
		p.state.block = p.block(valueExpression)
		cfa.kind = valueExpression
		return
	case opDefCFA, opDefCFASF, opDefCFARegister:
		cfa.kind, cfa.column = valueOffset, byte(min(p.in.uleb(), columns))
	}
	value := int64(cfa.value)
	switch op {
	case opDefCFA, opDefCFAOffset:
		value = int64(p.in.uleb())
	case opDefCFASF, opDefCFAOffsetSF:
		value = p.in.sleb() * p.info.dataAlign
	}
	*cfa = withOffset(cfa.kind, cfa.column, value)
}
