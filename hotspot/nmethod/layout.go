package nmethod

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A layout has the offsets of those fields of HotSpot's structures that this package reads. All sizes and offsets are
// in bytes. Offsets are from the start of the structure.
type layout struct {
	release int  // feature release of the JDK
	arm64   bool // aarch64, otherwise x86-64
	// noFrames says why debug info can't be read, or is nil if it can be read. If debug info can't be read, some of the
	// fields that only debug info needs may still have their zero values.
	noFrames error
	// noScopes says why not even the scopes at return addresses can be read (Code.FramesAt). For JDK 8 it is nil
	// although noFrames is not, because this package knows JDK 8's scopes but not the rest of its debug info.
	noScopes error

	// Offsets in an nmethod
	compileID, entryBCI uint64
	verifiedEntry       uint64 // the entry point after the check of the receiver's class
	verifiedEntryShort  bool   // the field is not an address but a two-byte offset from the start of the code
	immutable, mutable  outside
	implicit            implicitExceptions

	// Offsets in a Method and a ConstMethod
	constMethod      uint64
	methodData       uint64 // offset of the MethodData's address in a Method; 0 if the JVM's tables do not have it
	methodHead       uint64 // number of bytes of a Method up to the end of the last field of this layout
	constants        uint64 // address of the ConstantPool
	constMethodWords uint64 // size of the ConstMethod and of what follows it, in words of eight bytes
	constMethodFlags uint64
	constMethodWide  bool   // the ConstMethod's flags have four bytes, not two
	hasLineNumbers   uint32 // the flag of methods that have line numbers
	bytecodeSize     uint64
	nameIndex        uint64 // index of the method's name in the ConstantPool
	signatureIndex   uint64 // index of the method's signature
	constMethodEnd   uint64 // where the bytecode starts

	// Offsets in a ConstantPool and a ConstantPoolCache
	poolHolder uint64 // address of the Klass
	poolCache  uint64 // address of the ConstantPoolCache
	poolEnd    uint64 // where the entries start
	// The kinds of Locations that hold a reference; see monitors.go.
	locationOop, locationNarrowOop uint32
	knowsLocations                 bool
	sourceFile                     sourceFileIndex
	fieldEntries, methodEntries    cacheArray
	// JDK 9 and newer: where the ConstantPool has the address of the array of its classes, and where the table of
	// virtual methods begins in an InstanceKlass. They are 0 if they are unknown.
	resolvedKlasses, vtable uint64

	// Offsets in a Klass and a Symbol
	className                uint64 // address of a Symbol
	hasAnonymous             bool   // a flag marks anonymous classes (JDK 11 to 14)
	classMiscFlags           uint64 // flags that include isAnonymous
	symbolLength, symbolBody uint64

	// Where to find relocations and the objects that they refer to
	relocations      relocations
	heaps            heapLayout
	methodDataMethod uint64 // address of the Method in a MethodData
	accessFlags      uint64 // offset of the access flags in a Method
	printsModifiers  bool   // HotSpot prints the modifiers of methods
}

// An outside says where an nmethod has data that lies outside of it. The nmethod has two fields with the address and
// the size of the data, and an outside has the offsets of these two fields.
type outside struct {
	exists        bool
	address, size uint64
}

// newLayout returns the layout of a JVM. It returns an error if HotSpot's tables lack something that the names of
// methods need. If the tables lack something that only debug info needs, noFrames is set instead.
func newLayout(vm *vmstructs.VM) (layout, error) {
	q := query{vmstructs.Query{VM: vm}}
	l := layout{release: vm.Release, arm64: runtime.GOARCH == "arm64",
		compileID: q.field("nmethod::_compile_id"), entryBCI: q.field("nmethod::_entry_bci"),
		constMethod: q.field("Method::_constMethod"), constants: q.field("ConstMethod::_constants"),
		bytecodeSize: q.field("ConstMethod::_code_size"), constMethodEnd: q.Size("ConstMethod"),
		nameIndex: q.field("ConstMethod::_name_index"), signatureIndex: q.field("ConstMethod::_signature_index"),
		poolHolder: q.field("ConstantPool::_pool_holder"), poolEnd: q.Size("ConstantPool"),
		className:    q.field("Klass::_name"),
		symbolLength: q.field("Symbol::_length"), symbolBody: q.field("Symbol::_body")}

	if l.verifiedEntry, l.verifiedEntryShort = vm.Offset("nmethod::_verified_entry_offset"); !l.verifiedEntryShort {
		l.verifiedEntry = q.field("nmethod::_verified_entry_point")
	}
	if l.hasAnonymous = vm.Release >= 11 && vm.Release < 15; l.hasAnonymous {
		l.classMiscFlags = q.field("InstanceKlass::_misc_flags")
	}
	if q.Missing != nil {
		return layout{}, q.Missing
	}
	// The JVM may be hostile, and its tables may say anything.
	for _, end := range []uint64{l.constants + 8, l.bytecodeSize + 2, l.nameIndex + 2, l.signatureIndex + 2} {
		q.Must(end > 1 && end <= l.constMethodEnd && l.constMethodEnd < 1<<10, "ConstMethod as it was from JDK 8 to 28")
	}
	q.Must(l.symbolLength < 32 && l.symbolLength+2 <= l.symbolBody && l.symbolBody < 64,
		"Symbol as it was from JDK 8 to 28")
	if q.Missing != nil {
		return layout{}, q.Missing
	}
	l.findScopes(&q)
	q.Must(l.constMethodWords < 1<<10 && l.constMethodWords+4 <= l.constMethodEnd, "ConstMethod::_constMethod_size")
	q.Must(l.constMethodFlags < 1<<10 && l.constMethodFlags+2 <= l.constMethodEnd &&
		(!l.constMethodWide || l.constMethodFlags+4 <= l.constMethodEnd), "ConstMethod::_flags")
	l.noScopes = q.Missing
	l.findDebugInfo(&q)
	l.noFrames = q.Missing
	if !Known(vm.Release) {
		if vm.Release != 8 {
			l.noScopes = fmt.Errorf("gasm does not know the scopes of JDK %d", vm.Release)
		}
		l.noFrames = fmt.Errorf("gasm does not know the debug info of JDK %d", vm.Release)
	}
	l.sourceFile = newSourceFileIndex(vm)
	l.findLocations(vm)
	l.methodData, _ = vm.Offset("Method::_method_data")
	l.methodHead = max(l.constMethod+8, l.methodData+8, l.accessFlags+4)
	if l.methodHead > maxMethodHead {
		return layout{}, errors.New("HotSpot's tables do not describe Method as it was from JDK 8 to 28")
	}
	return l, nil
}

// maxMethodHead is an upper bound for layout.methodHead. A Method has about 100 bytes.
const maxMethodHead = 1 << 10

// findLocations sets l.locationOop and l.locationNarrowOop, the kinds of Locations that hold a reference. In debug
// info, the object of a monitor may be described by such a Location.
func (l *layout) findLocations(vm *vmstructs.VM) {
	oop, ok1 := vm.Int("Location::oop")
	narrow, ok2 := vm.Int("Location::narrowoop")
	l.locationOop, l.locationNarrowOop, l.knowsLocations = uint32(oop), uint32(narrow), ok1 && ok2
}

// findScopes sets the fields that scopes and line numbers need.
func (l *layout) findScopes(q *query) {
	l.constMethodWords = q.field("ConstMethod::_constMethod_size")
	if l.constMethodFlags, l.constMethodWide = q.VM.Offset("ConstMethod::_flags._flags"); !l.constMethodWide {
		l.constMethodFlags = q.field("ConstMethod::_flags")
	}
	l.hasLineNumbers = q.constant("ConstMethodFlags::_misc_has_linenumber_table", "ConstMethod::_has_linenumber_table")
	// JDK 23 and newer keep debug info outside the nmethod, and JDK 25 and newer also the addresses of methods.
	if l.immutable.address, l.immutable.exists = q.VM.Offset("nmethod::_immutable_data"); l.immutable.exists {
		l.immutable.size = q.field("nmethod::_immutable_data_size")
	}
	if l.mutable.address, l.mutable.exists = q.VM.Offset("CodeBlob::_mutable_data"); l.mutable.exists {
		l.mutable.size = q.field("CodeBlob::_mutable_data_size")
	}
}

// findDebugInfo sets the fields that bytecodes and relocations need.
func (l *layout) findDebugInfo(q *query) {
	l.poolCache = q.field("ConstantPool::_cache")
	l.findImplicitExceptions(q.VM)
	l.fieldEntries, l.methodEntries = q.cacheArrays()
	l.resolvedKlasses, _ = q.VM.Offset("ConstantPool::_resolved_klasses")
	l.vtable, _ = q.VM.Size("InstanceKlass")
	l.findRelocations(q)
	l.findHeaps(q)
	l.methodDataMethod, l.accessFlags = q.field("MethodData::_method"), q.field("Method::_access_flags")
	l.printsModifiers = l.release >= 28
}

// A query looks up fields and constants in HotSpot's tables. They must exist there: if one is missing, Query.Missing
// says which.
type query struct{ vmstructs.Query }

func (q *query) field(name string) uint64 {
	offset, ok := q.VM.Offset(name)
	q.Must(ok, name)
	return offset
}

// constant returns the value of the first of these constants that exists.
func (q *query) constant(names ...string) uint32 {
	for _, name := range names {
		if value, ok := q.VM.Int(name); ok {
			return uint32(value)
		}
	}
	q.Must(false, names[0])
	return 0
}

// A cacheArray says where an array of a ConstantPoolCache is. The operand of a resolved bytecode is an index into such
// an array, and the array's element has an index into the constant pool.
type cacheArray struct {
	inline  bool   // the array is a part of the ConstantPoolCache
	pointer uint64 // if not inline: the offset of the array's address in the ConstantPoolCache
	first   uint64 // the offset of the first entry in the array or, if inline, in the ConstantPoolCache
	stride  uint64 // the size of an entry
	index   uint64 // the offset in an entry of a two-byte index into the constant pool
}

// cacheArrays returns the arrays for fields and for methods. JDK 11 to 21 have one array for both, after the fields of
// the ConstantPoolCache (cpCache.hpp).
func (q *query) cacheArrays() (fields, methods cacheArray) {
	if stride, ok := q.VM.Size("ConstantPoolCacheEntry"); ok && stride > 0 {
		both := cacheArray{inline: true, first: q.Size("ConstantPoolCache"), stride: stride,
			index: q.field("ConstantPoolCacheEntry::_indices")}
		return both, both
	}
	array := func(pointer, entry string) cacheArray {
		stride := q.Size(entry)
		return cacheArray{pointer: q.field("ConstantPoolCache::" + pointer), stride: stride,
			first: q.Size("Array<"+entry+">") - stride, // the size of HotSpot's Array<T> includes one T
			index: q.field(entry + "::_cpool_index")}
	}
	return array("_resolved_field_entries", "ResolvedFieldEntry"),
		array("_resolved_method_entries", "ResolvedMethodEntry")
}
