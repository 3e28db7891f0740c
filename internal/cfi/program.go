package cfi

import (
	"errors"
	"fmt"
	"slices"
)

// A ruleKind is the way in which a rule computes a value (DWARF 5, section 6.4.1).
type ruleKind uint8

// The kinds of rules. The rule of the CFA (canonical frame address) has the kind valueOffset or valueExpression.
const (
	unspecified     ruleKind = iota
	undefined                // the caller's value is lost
	sameValue                // the register has the caller's value
	offset                   // the value is in memory at the CFA plus an offset
	valueOffset              // the value is the CFA plus an offset; for a CFA, it is a register plus an offset
	inRegister               // another register has the value
	expression               // an expression computes the address of the value
	valueExpression          // an expression computes the value
	tooFar                   // the offset does not fit into a rule
)

// A rule says how to compute the CFA, or the value that a register has in the caller. It is small, because a state
// contains 35 rules and is copied often.
type rule struct {
	kind   ruleKind
	column byte // the register whose rule it is; for a CFA, the register that it is relative to
	// For an expression, length is the number of its bytes, and value is its position in the section. For other kinds,
	// value is an offset or the number of a register.
	length uint16
	value  int32
}

// withOffset returns a rule with an offset.
func withOffset(kind ruleKind, column byte, value int64) rule {
	if value != int64(int32(value)) {
		return rule{kind: tooFar}
	}
	return rule{kind: kind, column: column, value: int32(value)}
}

// columns is the number of registers that can have rules: the general ones, and one more for the return address.
// Floating-point registers are left out.
const columns = 33

// A state has the rules for the CFA and for the caller's registers, as they are at one instruction. If the kind of cfa
// is valueExpression, the expression in block computes the CFA. Even then, cfa keeps its register and its offset,
// because a later instruction may set a new register and use the old offset.
type state struct {
	cfa, block rule
	rules      [columns]rule
}

// A row has the rules for one address in a function. They say how the caller's registers are computed there. In DWARF's
// terms, a function has a table with such a row for each address.
type row struct {
	cfa, returnAddress rule
	signal             bool
	registers          []rule // the rules of all other registers that have one
	err                error  // why there are no rules: the record is damaged or unsupported
}

// Limits for the call frame instructions of a function. For comparison: of all functions in 1700 files of a Debian
// system, the one with the most instructions has 20 kB of them, and none remembers two states at a time.
const (
	maxInstructions = 32 << 10 // in bytes
	maxRemembered   = 32
)

// The instructions of a function are run again for each row that is looked up, so a malicious file could take a very
// long time. Therefore a Table has a budget. It is maxCost at first, and each call of Unwind adds refill to it, up to
// maxCost. A row may cost cheapRow without using the budget, and the rest of its cost is taken from the budget. The
// unit is one instruction, which takes a few nanoseconds. For comparison: State::MachNodeGenerator in libjvm.so of JDK
// 28 has 4800 rows, and its last rows cost 60 000.
const (
	cheapRow  = 2 << 10
	maxCost   = 1 << 28 // about a second
	refill    = 256
	stateCost = 16 // the cost of copying a state
)

var errCost = errors.New("the functions of this file have too many instructions")

// A program runs the call frame instructions of a function up to the row that is wanted: the rules for the address pc.
type program struct {
	in             cursor
	info           *cie
	base           uint64
	loc, pc        uint64 // the current row begins at loc; the wanted row is the one that contains pc
	state, initial state
	remembered     []state
	left           int // how much of the cost limit is left
}

// compute computes the row (the rules) for an address in a function.
func (t *Table) compute(f function, pc uint64) (*row, error) {
	id, end := t.record(int(f.record))
	in := cursor{data: t.data, pos: id, end: end}
	info := t.cies[uint32(id)-uint32(in.sized(4))]
	in.pointer(info.encoding, t.base)
	in.number(info.encoding)
	if info.augmented {
		in.bytes(in.uleb())
	}
	if in.bad {
		return nil, errors.New("it is cut off")
	}
	p := &t.program
	p.info, p.base, p.pc, p.loc = info, t.base, pc, pc
	p.state, p.initial, p.remembered = state{}, state{}, p.remembered[:0]
	p.left = cheapRow + t.spare
	defer func() { t.spare = max(0, min(t.spare, p.left)) }()
	if err := p.run(info.instructions); err != nil {
		return nil, fmt.Errorf("its CIE: %w", err)
	}
	p.initial, p.loc, p.remembered = p.state, f.lo, p.remembered[:0]
	if err := p.run(in); err != nil {
		return nil, err
	}
	return p.row(), nil
}

// row returns the current row.
func (p *program) row() *row {
	r := &row{cfa: p.state.cfa, signal: p.info.signal, returnAddress: p.state.rules[p.info.returnColumn]}
	if r.cfa.kind == valueExpression {
		r.cfa = p.state.block
	}
	r.returnAddress.column = p.info.returnColumn
	for i, u := range p.state.rules {
		if u.kind != unspecified && byte(i) != p.info.returnColumn {
			u.column = byte(i)
			r.registers = append(r.registers, u)
		}
	}
	r.registers = slices.Clip(r.registers)
	return r
}

// run runs call frame instructions until one of them advances beyond the wanted pc.
func (p *program) run(in cursor) error {
	if in.end-in.pos > maxInstructions {
		return fmt.Errorf("it has %d bytes of instructions, and at most %d are read", in.end-in.pos, maxInstructions)
	}
	p.in = in
	for p.in.pos < p.in.end && p.loc <= p.pc {
		if err := p.step(); err != nil {
			return err
		}
		if p.in.bad {
			return errors.New("an instruction is cut off")
		}
		if p.left--; p.left < 0 {
			return errCost
		}
	}
	return nil
}
