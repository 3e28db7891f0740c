package methoddata

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A layout has the offsets of the fields of a MethodData, in bytes from its start.
type layout struct {
	pointer  uint64 // offset in a Method of its MethodData's address
	method   uint64 // the address of the MethodData's Method
	dataSize uint64 // four bytes with the size of the records in bytes
	records  uint64 // the first record
	reasons  []reason
	traps    uint64 // the array that has a count of one byte for each reason; 0 if unknown
	// othersChecked is true if HotSpot also counts type checks of objects whose class has no row, and failed checks.
	othersChecked bool
	// types and returns are the values of the flags TypeProfileWidth and BciProfileWidth, which are the numbers of rows in
	// a record.
	types, returns uint64
}

// A reason is a reason for which a method is deoptimised (Deoptimization::DeoptReason).
type reason struct {
	name   string
	number uint64
}

// maxWidth limits the number of rows in a record. HotSpot allows no more than 8 for TypeProfileWidth.
const maxWidth = 8

// maxHead limits the offset of the records in a MethodData. The largest known offset is 312 bytes, in JDK 11.
const maxHead = 1 << 10

// newLayout returns the layout of a JVM's MethodDatas.
func newLayout(vm *vmstructs.VM) (layout, error) {
	q := vmstructs.Query{VM: vm, Of: "the profiles of "}
	offset := func(name string) uint64 {
		at, ok := vm.Offset(name)
		q.Must(ok && at < maxHead, name)
		return at
	}
	l := layout{pointer: offset("Method::_method_data"), method: offset("MethodData::_method")}
	if _, ok := vm.Offset("MethodData::_data_size"); ok {
		l.dataSize, l.records = offset("MethodData::_data_size"), offset("MethodData::_data[0]")
	} else {
		// The tables of JDK 28 have neither _data_size nor _data. There, a MethodData ends in the same way as in JDK 25 and
		// 26: with _data_size, two other numbers of four bytes, and the first eight bytes of the records.
		size := q.Size("MethodData")
		q.Must(size >= 64 && size < maxHead, "MethodData::_data_size")
		l.dataSize, l.records = size-20, size-8
		if size == 168 {
			l.traps = 48 // after three counters of four bytes, aligned
		}
	}
	if q.Missing != nil {
		return layout{}, q.Missing
	}
	// The JVM may be hostile, so its tables may contain any values.
	q.Must(l.records <= maxHead && l.dataSize+4 <= l.records && l.method+8 <= l.records,
		"MethodData as it was from JDK 8 to 28")
	if q.Missing != nil {
		return layout{}, q.Missing
	}
	flags, err := vm.Flags("TypeProfileWidth", "BciProfileWidth")
	if err != nil {
		return layout{}, err
	}
	l.types, l.returns = flags["TypeProfileWidth"].Value, flags["BciProfileWidth"].Value
	q.Must(l.types <= maxWidth && l.returns <= maxWidth, "TypeProfileWidth that is at most 8")
	l.othersChecked = vm.Release >= 25
	l.findTraps(vm)
	return l, q.Missing
}

// reasonNames are the names of the reasons for deoptimisations that HotSpot counts in JDK 8 to 28.
var reasonNames = []string{"null_check", "null_assert", "range_check", "class_check", "array_check", "intrinsic",
	"bimorphic",
	"profile_predicate", "auto_vectorization_check", "unloaded", "uninitialized", "initialized", "unreached", "unhandled",
	"constraint",
	"div0_check", "age", "predicate", "loop_limit_check", "speculate_class_check", "speculate_null_check",
	"speculate_null_assert",
	"rtm_state_change", "unstable_if", "unstable_fused_if", "receiver_constraint", "short_running_loop",
	"short_running_long_loop",
	"aliasing", "transfer_to_interpreter", "not_compiled_exception_handler", "unresolved", "jsr_mismatch"}

// findTraps sets the fields that say where deoptimisations are counted. If they can't be found, profiles have no
// deoptimisations.
func (l *layout) findTraps(vm *vmstructs.VM) {
	for _, name := range []string{"MethodData::_compiler_counters._trap_hist._array[0]",
		"MethodData::_trap_hist._array[0]"} {
		if at, ok := vm.Offset(name); ok && at < l.records {
			l.traps = at
		}
	}
	// If the JVM has the reason tenured, the array ends before that reason's number.
	end, ok := vm.Int("Deoptimization::Reason_tenured")
	if !ok {
		end, _ = vm.Int("Deoptimization::Reason_LIMIT")
	}
	for _, name := range reasonNames {
		number, ok := vm.Int("Deoptimization::Reason_" + name)
		if ok && number > 0 && number < end && l.traps+uint64(number) < l.records {
			l.reasons = append(l.reasons, reason{printed(name), uint64(number)})
		}
	}
	slices.SortFunc(l.reasons, func(a, b reason) int { return cmp.Compare(a.number, b.number) })
	if l.traps == 0 {
		l.reasons = nil
	}
}

// printed returns the name that HotSpot prints for a reason.
func printed(reason string) string {
	if reason == "bimorphic" {
		return "bimorphic_or_optimized_type_check"
	}
	return reason
}
