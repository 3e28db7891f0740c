package nmethod

import (
	"encoding/binary"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// An implicitException says where the JVM continues when an instruction accesses memory through a null reference, or
// divides by zero. The field at is the offset of the instruction from the start of the code, and target is the offset
// at which the JVM continues.
type implicitException struct{ at, target int }

// implicitExceptions says where an nmethod has its table of implicit exceptions (ImplicitExceptionTable in
// exceptionHandlerTable.hpp). The table consists of four-byte numbers. The first one is the number of entries, and
// each entry has two offsets.
type implicitExceptions struct {
	start vmstructs.Field // the offset of the table from the nmethod, or from its immutable data
	end   vmstructs.Field // the offset of what follows the table
	known bool
}

// findImplicitExceptions sets l.implicit. It is not an error if the table can't be found: copies then only lack some
// comments.
func (l *layout) findImplicitExceptions(vm *vmstructs.VM) {
	e := &l.implicit
	if !l.immutable.exists {
		start, ok1 := vm.Field("nmethod::_nul_chk_table_offset")
		end, ok2 := vm.Field("nmethod::_nmethod_end_offset")
		e.start, e.end, e.known = start, end, ok1 && ok2
		return
	}
	// In JDK 23 and newer, the exception handlers come right after the implicit exceptions. HotSpot exports only the
	// field that says where the handlers start, which is also where the implicit exceptions end. The field that says
	// where the implicit exceptions start lies right before it in the nmethod, and has the same type (nmethod.hpp).
	handlers, ok := vm.Field("nmethod::_handler_table_offset")
	if e.known = ok && handlers.Size > 0 && handlers.At >= handlers.Size; e.known {
		e.start, e.end = handlers, handlers
		e.start.At -= handlers.Size
	}
}

// implicitExceptions returns the method's implicit exceptions in ascending order. It returns nil if there are none, or
// if the memory does not contain such a table.
func (c *Code) implicitExceptions() []implicitException {
	where, data := &c.copier.layout.implicit, c.nmethod
	if c.copier.layout.immutable.exists {
		data = c.immutable.data
	}
	lo, hi := where.start.In(c.nmethod), where.end.In(c.nmethod)
	if !where.known || hi > uint64(len(data)) || lo >= hi || hi-lo < 4 {
		return nil
	}
	table := data[lo:hi]
	n := uint64(binary.LittleEndian.Uint32(table))
	if table = table[4:]; n > uint64(len(table)/8) {
		return nil
	}
	all := make([]implicitException, n)
	for i := range all {
		e := implicitException{at: int(int32(binary.LittleEndian.Uint32(table[8*i:]))),
			target: int(int32(binary.LittleEndian.Uint32(table[8*i+4:])))}
		size := len(c.MachineCode)
		if e.at < 0 || e.at >= size || e.target < 0 || e.target >= size || i > 0 && e.at <= all[i-1].at {
			return nil
		}
		all[i] = e
	}
	return all
}
