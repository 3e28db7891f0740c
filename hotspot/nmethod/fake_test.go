package nmethod

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/unsigned5"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// A fakeJVM is the memory of a HotSpot JVM, laid out as in one release of the JDK. Its structures have only the
// fields that this package reads, at other offsets than in HotSpot.
type fakeJVM struct {
	*vmtest.Memory
	release int
	symbols vmtest.Symbols
	classes map[string]uint64 // addresses of Klasses, by internal name
	nextID  int               // compile id
	blob    uint64            // the address of the only blob in the code cache
}

// Offsets and sizes in a fakeJVM's structures, in bytes.
const (
	compileIDOffset, entryBCIOffset, verifiedOffset     = 8, 12, 16
	immutableOffset, mutableOffset, instsOffset         = 24, 40, 128
	implicitField                                       = 64
	constMethodPointer                                  = 16
	poolOffset, wordsOffset, flagsOffset, codeSizeField = 8, 16, 20, 24
	nameIndexField, signatureField, constMethodSize     = 26, 28, 32
	holderOffset, cacheOffset, poolSize                 = 8, 16, 40
	poolSourceFile, klassSourceFile                     = 24, 40
	klassNameOffset, miscFlagsOffset                    = 24, 36
	symbolLengthOffset, symbolBodyOffset                = 4, 6
	lineNumbersFlag                                     = 1 << 2
	cacheHeader, cacheStride, cacheIndex                = 24, 32, 8
	fieldsPointer, methodsPointer                       = 8, 16
	fieldStride, fieldIndex, methodStride, methodIndex  = 24, 20, 40, 16
	arrayHeader                                         = 8
)

func newFakeJVM(release int) *fakeJVM {
	j := &fakeJVM{Memory: vmtest.New(), release: release, classes: map[string]uint64{}, nextID: 1}
	tables := fakeTables(release)
	tables.Statics["Abstract_VM_Version::_vm_major_version"] = j.Add(byte(release), 0, 0, 0)
	tables.Statics["CodeCache::_heaps"] = j.addHeap()
	j.symbols = j.AddTables(tables)
	j.addVirtualTables()
	return j
}

// fakeTables returns the tables of a fakeJVM, with the names of its release.
func fakeTables(release int) vmtest.Tables {
	tables := vmtest.Tables{
		Offsets: map[string]uint64{
			"nmethod::_compile_id": compileIDOffset, "nmethod::_entry_bci": entryBCIOffset,
			"Method::_constMethod":    constMethodPointer,
			"ConstMethod::_constants": poolOffset, "ConstMethod::_constMethod_size": wordsOffset,
			"ConstMethod::_code_size": codeSizeField, "ConstMethod::_name_index": nameIndexField,
			"ConstMethod::_signature_index": signatureField,
			"ConstantPool::_pool_holder":    holderOffset, "ConstantPool::_cache": cacheOffset,
			"Klass::_name":    klassNameOffset,
			"Symbol::_length": symbolLengthOffset, "Symbol::_body": symbolBodyOffset,
		},
		Statics: map[string]uint64{},
		Types:   map[string]string{},
		Sizes:   map[string]uint64{"int": 4, "uint16_t": 2, "ConstMethod": constMethodSize, "ConstantPool": poolSize},
		Ints:    map[string]int32{},
	}
	if release < 15 {
		tables.Offsets["InstanceKlass::_misc_flags"] = miscFlagsOffset
		tables.Offsets["InstanceKlass::_source_file_name_index"] = klassSourceFile
	} else {
		tables.Offsets["ConstantPool::_source_file_name_index"] = poolSourceFile
	}
	if release < 21 {
		tables.Offsets["ConstMethod::_flags"] = flagsOffset
		tables.Ints["ConstMethod::_has_linenumber_table"] = lineNumbersFlag
	} else {
		tables.Offsets["ConstMethod::_flags._flags"] = flagsOffset
		tables.Ints["ConstMethodFlags::_misc_has_linenumber_table"] = lineNumbersFlag
	}
	if release < 25 {
		tables.Offsets["nmethod::_nul_chk_table_offset"], tables.Types["nmethod::_nul_chk_table_offset"] =
			implicitField, "int"
		tables.Offsets["nmethod::_nmethod_end_offset"], tables.Types["nmethod::_nmethod_end_offset"] = implicitField+4, "int"
		tables.Offsets["nmethod::_verified_entry_point"] = verifiedOffset
		tables.Offsets["ConstantPoolCacheEntry::_indices"] = cacheIndex
		tables.Sizes["ConstantPoolCache"], tables.Sizes["ConstantPoolCacheEntry"] = cacheHeader, cacheStride
	} else {
		tables.Offsets["nmethod::_handler_table_offset"], tables.Types["nmethod::_handler_table_offset"] =
			implicitField+2, "uint16_t"
		tables.Offsets["nmethod::_verified_entry_offset"] = verifiedOffset
		tables.Offsets["nmethod::_immutable_data"], tables.Offsets["nmethod::_immutable_data_size"] = immutableOffset,
			immutableOffset+8
		tables.Offsets["CodeBlob::_mutable_data"], tables.Offsets["CodeBlob::_mutable_data_size"] = mutableOffset,
			mutableOffset+8
		tables.Offsets["ConstantPoolCache::_resolved_field_entries"] = fieldsPointer
		tables.Offsets["ConstantPoolCache::_resolved_method_entries"] = methodsPointer
		tables.Offsets["ResolvedFieldEntry::_cpool_index"], tables.Sizes["ResolvedFieldEntry"] = fieldIndex, fieldStride
		tables.Offsets["ResolvedMethodEntry::_cpool_index"], tables.Sizes["ResolvedMethodEntry"] = methodIndex,
			methodStride
		tables.Sizes["Array<ResolvedFieldEntry>"] = arrayHeader + fieldStride
		tables.Sizes["Array<ResolvedMethodEntry>"] = arrayHeader + methodStride
	}
	addRelocationTables(&tables, release)
	return tables
}

// copier opens the JVM.
func (j *fakeJVM) copier(tb testing.TB) *Copier {
	tb.Helper()
	vm, err := vmstructs.New(j.Memory, j.symbols.Address)
	require.NoError(tb, err)
	c, err := NewCopier(vm)
	require.NoError(tb, err)
	return c
}

// put overwrites bytes of a structure with a number of two, four or eight bytes.
func put[N uint16 | uint32 | uint64](structure []byte, offset int, n N) {
	switch binary.Size(n) {
	case 2:
		binary.LittleEndian.PutUint16(structure[offset:], uint16(n))
	case 4:
		binary.LittleEndian.PutUint32(structure[offset:], uint32(n))
	default:
		binary.LittleEndian.PutUint64(structure[offset:], uint64(n))
	}
}

// addSymbol adds a name in modified UTF-8.
func (j *fakeJVM) addSymbol(name string) uint64 {
	symbol := make([]byte, symbolBodyOffset, symbolBodyOffset+len(name))
	put(symbol, symbolLengthOffset, uint16(len(name)))
	return j.Add(append(symbol, name...)...)
}

// class returns the address of the Klass with an internal name. It adds the class if necessary.
func (j *fakeJVM) class(name string) uint64 {
	if at, ok := j.classes[name]; ok {
		return at
	}
	klass := make([]byte, 64)
	put(klass, 0, j.virtualTable("_ZTV13InstanceKlass"))
	put(klass, klassNameOffset, j.addSymbol(name))
	if j.release < 15 {
		put(klass, klassSourceFile, uint16(sourceFileEntry))
	}
	if isAnonymousName(name) {
		put(klass, miscFlagsOffset, uint16(isAnonymous))
	}
	j.classes[name] = j.Add(klass...)
	return j.classes[name]
}

// isAnonymousName reports whether a class of the tests is anonymous, which its name says.
func isAnonymousName(name string) bool { return strings.Contains(name, "Anonymous") }

// A fakeMethod is a Java method. In its bytecode, the operand of a bytecode that refers to a field or method is an
// index into the slice members.
type fakeMethod struct {
	class, name string // as in the class file, in modified UTF-8
	file        string // source file of the class
	bytecode    []byte
	lines       []lineNumber
	members     []string
}

// sourceFileEntry is the index of the ConstantPool's entry that has the name of the source file.
const sourceFileEntry = 3

// addMethod adds a Method and everything that it refers to.
func (j *fakeJVM) addMethod(m fakeMethod) uint64 {
	entries := []uint64{0, j.addSymbol(m.name), j.addSymbol("(I)V"), j.addSymbol(m.file)}
	cacheEntries := make([]byte, max(cacheStride, fieldStride, methodStride)*(len(m.members)+1))
	fields, methods := make([]byte, len(cacheEntries)), make([]byte, len(cacheEntries))
	for i, member := range m.members {
		ref := len(entries)
		entries = append(entries, uint64(ref+1)<<16|7, 9<<16|uint64(ref+2), j.addSymbol(member)|1)
		put(cacheEntries, i*cacheStride+cacheIndex, uint64(0x123450000|ref))
		put(fields, i*fieldStride+fieldIndex, uint16(ref))
		put(methods, i*methodStride+methodIndex, uint16(ref))
	}
	cache := make([]byte, cacheHeader)
	if j.release < 25 {
		cache = append(cache, cacheEntries...)
	} else {
		put(cache, fieldsPointer, j.Add(append(make([]byte, arrayHeader), fields...)...))
		put(cache, methodsPointer, j.Add(append(make([]byte, arrayHeader), methods...)...))
	}
	pool := make([]byte, poolSize)
	put(pool, holderOffset, j.class(m.class))
	put(pool, cacheOffset, j.Add(cache...))
	if j.release >= 15 && m.file != "" {
		put(pool, poolSourceFile, uint16(sourceFileEntry))
	}
	for _, e := range entries {
		pool = binary.LittleEndian.AppendUint64(pool, e)
	}

	constMethod := make([]byte, constMethodSize)
	put(constMethod, poolOffset, j.Add(pool...))
	put(constMethod, codeSizeField, uint16(len(m.bytecode)))
	put(constMethod, nameIndexField, uint16(1))
	put(constMethod, signatureField, uint16(2))
	if m.lines != nil {
		put(constMethod, flagsOffset, uint16(lineNumbersFlag))
	}
	constMethod = append(constMethod, m.bytecode...)
	if m.lines != nil {
		constMethod = append(constMethod, packLines(m.lines, j.release)...)
	}
	constMethod = append(constMethod, make([]byte, -len(constMethod)&7)...)
	put(constMethod, wordsOffset, uint32(len(constMethod)/8))
	method := make([]byte, 40)
	put(method, 0, j.archived("_ZTV6Method"))
	put(method, accessFlagsOffset, uint16(9)) // public static
	put(method, constMethodPointer, j.Add(constMethod...))
	return j.Add(method...)
}

// packLines packs line numbers, all as signed differences.
func packLines(lines []lineNumber, release int) []byte {
	var data []byte
	last := lineNumber{}
	for _, l := range lines {
		data = append(data, 0xff)
		for _, n := range []int{l.bci - last.bci, l.line - last.line} {
			data = append(data, unsigned5.Append(nil, uint32(int32(n)<<1^int32(n)>>31), release)...)
		}
		last = l
	}
	return append(data, 0)
}

// A fakeFrame is a position in a method.
type fakeFrame struct {
	method int // index of the method in fakeCode.methods
	bci    int
}

// fakeDebugInfo is the debug info of the instruction that ends at an offset, with the innermost frame first.
type fakeDebugInfo struct {
	end    int
	frames []fakeFrame
}

// A fakeCode is a compiled method. The first of its methods is the one that was compiled.
type fakeCode struct {
	compiler, kind string
	level          int
	insts, stubs   []byte
	verified       int // offset of the verified entry point
	osrBCI         int
	methods        []fakeMethod
	metadata       []uint64 // addresses of further metadata that follow those of the methods
	debugInfo      []fakeDebugInfo
	relocs         []fakeReloc
	implicit       []implicitException
	patch          func(code []byte, lo uint64) // changes the code once its address is known
}

// addCode adds an nmethod, and returns its compile id and LogCompilation's tag for it.
func (j *fakeJVM) addCode(c fakeCode) (id int, tag string) {
	id = j.nextID
	j.nextID++
	var metadata []byte
	for _, m := range c.methods {
		metadata = binary.LittleEndian.AppendUint64(metadata, j.addMethod(m))
	}
	for _, at := range c.metadata {
		metadata = binary.LittleEndian.AppendUint64(metadata, at)
	}
	scopesData, scopesPCs := c.packDebugInfo(j.release)
	relocs := packRelocations(c.relocs, j.release)
	native := c.kind == "c2n"
	if native {
		metadata, scopesData, scopesPCs = nil, nil, nil
	}

	nmethod := slices.Concat(make([]byte, instsOffset), c.insts, c.stubs)
	offsets := map[string]int{}
	if j.release < 25 {
		for _, section := range []struct {
			name string
			data []byte
		}{{"metadata", metadata}, {"scopes_data", scopesData}, {"scopes_pcs", scopesPCs}} {
			offsets[section.name] = len(nmethod)
			nmethod = append(nmethod, section.data...)
		}
		nmethod = append(nmethod, relocs...)
		put(nmethod, implicitField, uint32(len(nmethod)))
		nmethod = append(nmethod, c.packImplicit()...)
		put(nmethod, implicitField+4, uint32(len(nmethod)))
	}
	put(nmethod, compileIDOffset, uint32(id))
	put(nmethod, entryBCIOffset, uint32(int32(c.osrBCI)))
	block := make([]byte, blockHeaderSize)
	block[blockUsedOffset] = 1
	at := j.Add(append(block, nmethod...)...) + blockHeaderSize
	header := j.Data[at-vmtest.Base:]
	if c.patch != nil {
		c.patch(header[instsOffset:], at+instsOffset)
	}
	if j.release < 25 {
		put(header, verifiedOffset, at+instsOffset+uint64(c.verified))
		put(header, contentBeginOffset, at+instsOffset)
		relocsEnd := len(nmethod) - len(c.packImplicit())
		put(header, dataEndOffset+8, at+uint64(relocsEnd-len(relocs)))
		put(header, dataEndOffset+16, at+uint64(relocsEnd))
	} else {
		put(header, verifiedOffset, uint16(c.verified))
		put(header, contentOffsetField, uint32(instsOffset))
		put(header, relocationSizeField, uint32(len(relocs)))
		const handlers = "exception handlers and the like."
		mutable := j.addOutside(at, mutableOffset, relocs, metadata)
		implicit := c.packImplicit()
		immutable := j.addOutside(at, immutableOffset, implicit, []byte(handlers), scopesPCs, scopesData)
		put(j.Data[at-vmtest.Base:], implicitField, uint16(0))
		put(j.Data[at-vmtest.Base:], implicitField+2, uint16(len(implicit)))
		offsets["metadata"] = int(mutable-at) + len(relocs)
		offsets["scopes_pcs"] = int(immutable-at) + len(implicit) + len(handlers)
		offsets["scopes_data"] = offsets["scopes_pcs"] + len(scopesPCs)
	}
	if native {
		delete(offsets, "scopes_data")
		delete(offsets, "scopes_pcs")
	}
	return id, j.tag(c, id, at, len(nmethod), offsets)
}

// addOutside adds data outside an nmethod, and sets the nmethod's fields to the data's address and size.
func (j *fakeJVM) addOutside(nmethod uint64, field int, parts ...[]byte) uint64 {
	data := slices.Concat(parts...)
	j.AddUint64(0) // so that the data does not follow the nmethod directly
	at := j.Add(data...)
	header := j.Data[nmethod-vmtest.Base:]
	put(header, field, at)
	put(header, field+8, uint32(len(data)))
	return at
}

// packImplicit returns the table of implicit exceptions. It is empty if there are none.
func (c *fakeCode) packImplicit() (table []byte) {
	if len(c.implicit) == 0 {
		return nil
	}
	table = binary.LittleEndian.AppendUint32(table, uint32(len(c.implicit)))
	for _, e := range c.implicit {
		table = binary.LittleEndian.AppendUint32(table, uint32(e.at))
		table = binary.LittleEndian.AppendUint32(table, uint32(e.target))
	}
	return table
}

// packDebugInfo returns the scopes data and the PcDescs.
func (c *fakeCode) packDebugInfo(release int) (scopesData, scopesPCs []byte) {
	scopesData = []byte{0xff} // no scope is at 0
	known := map[string]int{}
	list := [][2]int{{-1, 0}}
	for _, d := range c.debugInfo {
		sender := 0
		for i := len(d.frames) - 1; i >= 0; i-- {
			f := d.frames[i]
			key := fmt.Sprint(sender, f)
			at, ok := known[key]
			if !ok {
				at = len(scopesData)
				known[key] = at
				for _, n := range []int{sender, f.method + 1, f.bci + 1, 0, 0, 0} { // locals, expressions, monitors
					scopesData = append(scopesData, unsigned5.Append(nil, uint32(n), release)...)
				}
			}
			sender = at
		}
		list = append(list, [2]int{d.end, sender})
	}
	return scopesData, pcDescs(append(list, [2]int{len(c.insts) + len(c.stubs) + 1, 0})...)
}

// tag returns LogCompilation's line (nmethod::log_new_nmethod).
func (j *fakeJVM) tag(c fakeCode, id int, at uint64, size int, offsets map[string]int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "<nmethod compile_id='%d'", id)
	if c.kind != "" {
		fmt.Fprintf(&s, " compile_kind='%s'", c.kind)
	}
	if c.compiler != "" {
		fmt.Fprintf(&s, " compiler='%s'", c.compiler)
	}
	fmt.Fprintf(&s, " level='%d' entry='%#016x' size='%d' address='%#016x' insts_offset='%d'", c.level, at, size, at,
		instsOffset)
	if len(c.stubs) > 0 {
		offsets["stub"] = instsOffset + len(c.insts)
	}
	for _, name := range slices.Sorted(maps.Keys(offsets)) {
		fmt.Fprintf(&s, " %s_offset='%d'", name, offsets[name])
	}
	m := c.methods[0]
	class := strings.Replace(m.class, "+0x", "/0x", 1)
	if isAnonymousName(class) && j.release < 15 {
		class += fmt.Sprintf("/%#016x", j.classes[m.class])
	}
	fmt.Fprintf(&s, " method='%s %s (I)V' bytes='%d' count='5' stamp='%d.%03d'/>\n", // the class in modified UTF-8
		attribute.Replace(class), attribute.Replace(quoted(m.name)), len(m.bytecode), id/10, id%10*100)
	return s.String()
}

// quoted returns the name of a method in the form that tags have (UTF8::as_quoted_ascii).
func quoted(name string) string {
	var s strings.Builder
	for _, unit := range utf16.Encode([]rune(name)) {
		if unit >= ' ' && unit < 0x7f {
			s.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&s, `\u%04x`, unit)
		}
	}
	return s.String()
}

// attribute escapes the value of an attribute, as xmlstream.cpp does.
var attribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
