package nmethod

import (
	"errors"
	"fmt"
)

// Known tells whether the debug info of a feature release of the JDK is known:
// it has been compared with what that release prints.
func Known(release int) bool {
	switch release {
	case 11, 17, 21, 25:
		return true
	}
	return false
}

// Copyable tells why the code of JVMs of a feature release, started by this process,
// can't be copied; nil when it can be.
func Copyable(release int) error {
	if !Known(release) {
		return fmt.Errorf("gasm does not know the memory of JDK %d", release)
	}
	return Allowed()
}

// A layout is where HotSpot's data has what is needed of it, in bytes from the
// start of each structure.
type layout struct {
	release int // of the JDK

	// nmethod
	compileID, entryBCI      uint64
	immutable, immutableSize uint64 // JDK 23 and newer: debug info is elsewhere
	mutable, mutableSize     uint64 // JDK 25 and newer: and so are the methods
	hasImmutable, hasMutable bool
	verified                 uint64 // the entry point behind the check of the receiver's class
	verifiedIsOffset         bool   // it is one from the start of the code, of two bytes
	// Method and ConstMethod
	constMethod                             uint64
	constants, words, flags, codeSize, name uint64
	wideFlags                               bool   // of four bytes
	constMethodEnd                          uint64 // where the bytecode starts
	lineTable                               uint32 // the flag for having one
	// ConstantPool, Klass, Symbol
	holder, poolEnd          uint64
	cache                    uint64
	fields, methods          table
	klassName                uint64
	miscFlags                uint64 // of an InstanceKlass; 0 in JDK 15 and newer
	symbolLength, symbolBody uint64
}

// newLayout takes a layout from HotSpot's tables. The error names what is not in
// them.
func newLayout(s *structs, release int) (layout, error) {
	var missing error
	must := func(v uint64, ok bool, name string) uint64 {
		if !ok && missing == nil {
			missing = fmt.Errorf("HotSpot's tables have no %s", name)
		}
		return v
	}
	field := func(name string) uint64 { v, ok := s.fields[name]; return must(v, ok, name) }
	size := func(name string) uint64 { v, ok := s.sizes[name]; return must(v, ok, name) }
	l := layout{release: release,
		compileID: field("nmethod._compile_id"), entryBCI: field("nmethod._entry_bci"),
		constMethod: field("Method._constMethod"),
		constants:   field("ConstMethod._constants"), words: field("ConstMethod._constMethod_size"),
		codeSize: field("ConstMethod._code_size"), name: field("ConstMethod._name_index"), constMethodEnd: size("ConstMethod"),
		holder: field("ConstantPool._pool_holder"), poolEnd: size("ConstantPool"),
		klassName:    field("Klass._name"),
		symbolLength: field("Symbol._length"), symbolBody: field("Symbol._body")}
	if l.flags, l.wideFlags = s.fields["ConstMethod._flags._flags"]; !l.wideFlags {
		l.flags = field("ConstMethod._flags")
	}
	flag, ok := s.ints["ConstMethodFlags::_misc_has_linenumber_table"]
	if !ok {
		flag, ok = s.ints["ConstMethod::_has_linenumber_table"]
	}
	l.lineTable = uint32(must(uint64(flag), ok, "ConstMethod::_has_linenumber_table"))
	if l.verified, l.verifiedIsOffset = s.fields["nmethod._verified_entry_offset"]; !l.verifiedIsOffset {
		l.verified = field("nmethod._verified_entry_point")
	}
	if l.immutable, l.hasImmutable = s.fields["nmethod._immutable_data"]; l.hasImmutable {
		l.immutableSize = field("nmethod._immutable_data_size")
	}
	if l.mutable, l.hasMutable = s.fields["CodeBlob._mutable_data"]; l.hasMutable {
		l.mutableSize = field("CodeBlob._mutable_data_size")
	}
	if release < 15 {
		l.miscFlags = field("InstanceKlass._misc_flags")
	}
	l.cache = field("ConstantPool._cache")
	l.fields, l.methods = entries(s)
	if (l.fields.stride == 0 || l.methods.stride == 0) && missing == nil {
		missing = errors.New("HotSpot's tables have no entries of the constant pool's cache")
	}
	return l, missing
}

// A table is one of those of a ConstantPoolCache, whose entries each tell an index
// of the constant pool.
type table struct {
	// field has the pointer to the table; where direct it is the table's own place.
	field         uint64
	direct        bool
	first, stride uint64 // of the entries, in bytes
	index         uint64 // of two bytes
}

// entries finds the tables for fields and for methods. Older JDKs have one for
// both, behind the cache's other fields.
func entries(s *structs) (fields, methods table) {
	if stride := s.sizes["ConstantPoolCacheEntry"]; stride > 0 {
		all := table{direct: true, first: s.sizes["ConstantPoolCache"], stride: stride, index: s.fields["ConstantPoolCacheEntry._indices"]}
		return all, all
	}
	of := func(cache, entry string) table {
		stride := s.sizes[entry]
		return table{field: s.fields["ConstantPoolCache."+cache], stride: stride, first: s.sizes["Array<"+entry+">"] - stride,
			index: s.fields[entry+"._cpool_index"]}
	}
	return of("_resolved_field_entries", "ResolvedFieldEntry"), of("_resolved_method_entries", "ResolvedMethodEntry")
}
