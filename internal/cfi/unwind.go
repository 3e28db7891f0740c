package cfi

import (
	"errors"
)

// A Result says what [Table.Unwind] has found.
type Result uint8

// The results. Only Caller and Interrupted change the registers.
const (
	// Caller means that the registers are those of the caller, and that its PC is a return address.
	Caller Result = iota
	// Interrupted means that the function was called by the kernel for a signal. The registers are those of the code
	// that the signal has interrupted. The PC among them is the address of an instruction and not a return address.
	Interrupted
	// Bottom means that the function has no caller: its return address is undefined.
	Bottom
	// NoFunction means that no function with call frame information contains the address.
	NoFunction
	// Cut means that a word beyond the end of the copy of the stack is needed. A longer copy may have it.
	Cut
	// Wrong means that a word below the copy of the stack is needed. So the registers or the address are not those of a
	// frame of this function, or the function does not keep to its description.
	Wrong
	// Unknown means that a register is needed whose value is not known.
	Unknown
	// Damaged means that the call frame information is damaged or not supported.
	Damaged
)

var results = [...]string{Caller: "caller", Interrupted: "interrupted", Bottom: "bottom", NoFunction: "no function",
	Cut: "cut", Wrong: "wrong", Unknown: "unknown register", Damaged: "damaged"}

func (r Result) String() string { return results[r] }

// Unwind replaces the registers of a thread in a function with those in the function's caller. addr is r.PC converted
// to an address in the file, without the load bias. The parameter exact is false if r.PC is a return address, and true
// if it is the address of the instruction that was about to be executed.
//
// Registers whose value in the caller cannot be found become unknown, which is not a failure. If the result is neither
// Caller nor Interrupted, r is unchanged. The error is nil unless the result is Damaged. On aarch64, the PC and saved
// values of x30 may be signed.
func (t *Table) Unwind(addr uint64, exact bool, r *Registers, stack Memory) (Result, error) {
	t.spare = min(t.spare+refill, maxCost)
	if !exact {
		addr--
	}
	u := t.row(addr)
	if u == nil && exact {
		u = t.row(addr - 1)
	}
	if u == nil {
		return NoFunction, nil
	}
	if u.err != nil {
		return Damaged, u.err
	}
	f := frame{table: t, registers: r, memory: stack}
	result := f.unwind(u)
	if result == Damaged {
		return Damaged, errRow
	}
	return result, nil
}

var errRow = errors.New("its .eh_frame has a rule or an expression that is damaged or not supported")

// row returns the row for an address: the rules for unwinding there. It returns nil if no function contains the
// address.
func (t *Table) row(addr uint64) *row {
	if r := t.rows[addr]; r != nil {
		return r
	}
	f, ok := t.find(addr)
	if !ok {
		return nil
	}
	r, err := t.compute(f, addr)
	if err != nil {
		r = &row{err: damage(int(f.record), err)}
	}
	if errors.Is(err, errCost) {
		return r // not cached: the budget may suffice later
	}
	if len(t.rows) >= maxRows {
		clear(t.rows)
	}
	t.rows[addr] = r
	return r
}

// A frame is a function's frame on the stack while it is being unwound.
type frame struct {
	table     *Table
	registers *Registers
	memory    Memory
	cfa       uint64
}

// register returns the value of a register, and whether it is known. column is the register's DWARF number, or the
// number of the program counter.
func (f *frame) register(column uint64) (uint64, bool) {
	switch a := f.table.arch; {
	case column < uint64(a.general):
		return f.registers.Get(int(column))
	case column == uint64(a.pc):
		return f.registers.PC, true
	}
	return 0, false
}

// unwind replaces the registers with those of the caller, by the rules in u.
func (f *frame) unwind(u *row) (result Result) {
	a := f.table.arch
	if f.cfa, result = f.computeCFA(u.cfa); result != Caller {
		return result
	}
	next := Registers{}
	if next.PC, result = f.returnAddress(u.returnAddress); result != Caller {
		return result
	}
	next.Values = f.registers.Values
	next.Known = f.registers.Known & a.preserved
	if u.signal {
		next.Known = f.registers.Known
	}
	next.Set(int(a.sp), f.cfa)
	for _, rule := range u.registers {
		if rule.column >= a.general {
			continue
		}
		if value, result := f.value(rule); result == Caller {
			next.Set(int(rule.column), value)
		} else {
			next.Known &^= 1 << rule.column
		}
	}
	if column := u.returnAddress.column; column < a.general {
		next.Known &^= 1 << column // the call has overwritten this register with the return address
	}
	*f.registers = next
	if u.signal {
		return Interrupted
	}
	return Caller
}

// computeCFA returns the canonical frame address.
func (f *frame) computeCFA(u rule) (uint64, Result) {
	switch u.kind {
	case valueOffset:
		base, ok := f.register(uint64(u.column))
		if !ok {
			return 0, Unknown
		}
		return base + uint64(u.value), Caller
	case valueExpression:
		return f.evaluate(u)
	}
	return 0, Damaged
}

// returnAddress returns the return address. If the rule says that it is undefined, the function has no caller, and the
// result is Bottom.
func (f *frame) returnAddress(u rule) (uint64, Result) {
	switch {
	case u.kind == undefined:
		return 0, Bottom
	case u.kind == tooFar:
		return 0, Damaged
	case u.kind <= sameValue && u.column >= f.table.arch.general: // only a link register can have it
		return 0, Damaged
	}
	return f.value(u)
}

// value returns the value that a register has in the caller.
func (f *frame) value(u rule) (uint64, Result) {
	switch u.kind {
	case unspecified, sameValue:
		return f.same(uint64(u.column))
	case offset:
		return f.slot(f.cfa+uint64(u.value), u.column)
	case valueOffset:
		return f.cfa + uint64(u.value), Caller
	case inRegister:
		return f.same(uint64(u.value))
	case expression:
		addr, result := f.evaluate(u, f.cfa)
		if result != Caller {
			return 0, result
		}
		return f.slot(addr, u.column)
	case valueExpression:
		return f.evaluate(u, f.cfa)
	}
	return 0, Unknown
}

// same returns the value of a register in the function itself.
func (f *frame) same(column uint64) (uint64, Result) {
	value, ok := f.register(column)
	if !ok {
		return 0, Unknown
	}
	return value, Caller
}

// slot returns the word at the address where the function has saved a register. If the address is below the stack
// pointer, the function has already restored the register, so the result is the register's own value. On x86-64, no
// register has the return address, so the result is Wrong if the slot of the return address is below the stack pointer.
func (f *frame) slot(addr uint64, column byte) (uint64, Result) {
	if sp, ok := f.registers.Get(int(f.table.arch.sp)); ok && addr < sp {
		if column >= f.table.arch.general {
			return 0, Wrong
		}
		return f.same(uint64(column))
	}
	return f.memory.read(addr)
}
