package codecache

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// A fakeJVM is the memory of a HotSpot JVM with one code heap, laid out as in JDK 8, 17 or 25.
type fakeJVM struct {
	*vmtest.Memory
	release     int
	symbols     vmtest.Symbols
	heap        uint64 // the CodeHeap
	code        uint64 // address of the heap's first segment
	segmap      uint64
	next        uint64 // number of segments in use
	free        uint64 // counts the changes to the list of free blocks
	names       map[string]uint64
	methodNames map[uint64]string // names by the address of the Method
}

// Sizes, offsets and other properties of a fakeJVM's structures, in bytes unless a comment says otherwise.
const (
	fakeLog2, fakeSegments     = 7, 64
	fakeHeapSize               = 80
	fakeHeader, fakeNMethod    = 16, 96 // sizes of a HeapBlock's header and of an nmethod
	fakeEndOffset              = 68     // offset of nmethod::_nmethod_end_offset
	fakeNextSegment            = 40
	fakeCodeletSize, fakeAlign = 16, 32
)

// fakeFields are the offsets and types of the fields that a fakeJVM has in all releases.
var fakeFields = map[string]struct {
	at       uint64
	typeName string
}{
	"CodeHeap::_memory": {0, "VirtualSpace"}, "CodeHeap::_segmap": {16, "VirtualSpace"},
	"CodeHeap::_log2_segment_size": {32, "int"},
	"VirtualSpace::_low":           {0, "char*"}, "VirtualSpace::_high": {8, "char*"},
	"HeapBlock::_header": {0, "HeapBlock::Header"}, "HeapBlock::Header::_length": {0, "size_t"},
	"HeapBlock::Header::_used": {8, "bool"},
	"CodeBlob::_name":          {0, "const char*"}, "CodeBlob::_size": {8, "int"},
	"CodeBlob::_code_offset": {12, "int"}, "CodeBlob::_data_offset": {16, "int"},
	"nmethod::_compile_id": {20, "int"}, "nmethod::_entry_bci": {24, "int"}, "nmethod::_comp_level": {28, "int"},
	"nmethod::_state": {32, "volatile signed char"}, "nmethod::_method": {40, "Method*"},
	"nmethod::_stub_offset":        {48, "int"},
	"nmethod::_scopes_data_offset": {52, "int"}, "nmethod::_scopes_pcs_offset": {56, "int"},
	"StubQueue::_stub_buffer": {0, "address"}, "StubQueue::_queue_begin": {8, "int"},
	"StubQueue::_queue_end":            {12, "int"},
	"StubQueue::_number_of_stubs":      {16, "int"},
	"InterpreterCodelet::_size":        {0, "int"},
	"InterpreterCodelet::_description": {8, "const char*"},
	"JVMFlag::_name":                   {0, "const char*"}, "JVMFlag::_addr": {8, ""}, "JVMFlag::_type": {16, "int"},
	"Flag::_name": {0, "const char*"}, "Flag::_addr": {8, ""}, "Flag::_type": {16, "int"},
}

// fakeTables returns the tables of a fakeJVM without the addresses of static fields.
func fakeTables(release int) vmtest.Tables {
	tables := vmtest.Tables{Offsets: map[string]uint64{}, Statics: map[string]uint64{}, Types: map[string]string{},
		Sizes: map[string]uint64{"int": 4, "size_t": 8, "bool": 1, "address": 8, "u2": 2, "CodeBlobKind": 1,
			"CodeHeap":  fakeHeapSize,
			"HeapBlock": fakeHeader, "HeapBlock::Header": fakeHeader, "nmethod": fakeNMethod, "StubQueue": 24,
			"InterpreterCodelet": fakeCodeletSize,
			"JVMFlag":            24, "Flag": 24},
		Ints: map[string]int32{"InvocationEntryBci": -1}}
	field := func(name string, at uint64, typeName string) {
		tables.Offsets[name], tables.Types[name] = at, typeName
	}
	for name, f := range fakeFields {
		field(name, f.at, f.typeName)
	}
	if release >= 25 {
		for i, name := range []string{"None", "Nmethod", "Buffer", "Adapter", "Vtable", "MHAdapter", "RuntimeBlob",
			"RuntimeStub", "Deoptimization", "Safepoint"} {
			tables.Ints["CodeBlobKind::"+name] = int32(i)
		}
		field("CodeBlob::_kind", 33, "CodeBlobKind")
		field("CodeBlob::_mutable_data", 64, "address")
		field("CodeBlob::_mutable_data_size", 72, "int")
		field("CodeBlob::_relocation_size", 76, "int")
		field("nmethod::_immutable_data", 80, "address")
		field("nmethod::_immutable_data_size", 88, "int")
	} else {
		field("nmethod::_metadata_offset", 60, "int")
		field("nmethod::_dependencies_offset", 64, "int")
		field("nmethod::_nmethod_end_offset", fakeEndOffset, "int")
	}
	if release > 8 {
		field("GrowableArrayBase::_len", 0, "int")
		field("GrowableArray<int>::_data", 8, "int*")
	}
	return tables
}

func newFakeJVM(release int) *fakeJVM {
	j := &fakeJVM{Memory: vmtest.New(), release: release, names: map[string]uint64{}, methodNames: map[uint64]string{}}
	tables := fakeTables(release)
	static := func(name, typeName string, at uint64) { tables.Statics[name], tables.Types[name] = at, typeName }
	j.heap = j.Add(make([]byte, fakeHeapSize)...)
	j.segmap = j.Add([]byte(strings.Repeat("\xff", fakeSegments))...)
	if release == 8 {
		static("CodeCache::_heap", "CodeHeap*", j.AddUint64(j.heap))
	} else {
		static("CodeCache::_heaps", "GrowableArray<CodeHeap*>*", j.AddUint64(j.AddUint64(1, j.AddUint64(j.heap), 0, 0)))
	}
	static("Abstract_VM_Version::_vm_major_version", "int", j.AddUint64(uint64(release)))
	flag := "JVMFlag"
	if release == 8 {
		flag = "Flag"
	}
	value := j.AddUint64(fakeAlign)
	static(flag+"::flags", flag+"*", j.AddUint64(j.AddUint64(j.AddText("CodeEntryAlignment"), value, 3)))
	static(flag+"::numFlags", "size_t", j.AddUint64(1))
	queue := j.AddUint64(0, 0, 0)
	static("AbstractInterpreter::_code", "StubQueue*", j.AddUint64(queue))

	// The code begins at a multiple of the codelets' alignment.
	j.Add(make([]byte, -(vmtest.Base+len(j.Data))&(fakeAlign-1))...)
	j.code = j.Add(make([]byte, fakeSegments<<fakeLog2)...)
	j.put64(j.heap, j.code, j.code+fakeSegments<<fakeLog2, j.segmap, j.segmap+fakeSegments)
	j.put32(j.heap+32, fakeLog2)

	j.addFakePieces(queue)
	symbols := j.AddTables(tables)
	for name, at := range j.symbols {
		symbols[name] = at
	}
	j.symbols = symbols
	return j
}

// addFakePieces adds an interpreter with two codelets, two stubs and a vtable stub.
func (j *fakeJVM) addFakePieces(queue uint64) {
	interpreter := j.addBlob("Interpreter", 2, 128)
	for i, name := range []string{"slow signature handler", "return entry points"} {
		at := interpreter + uint64(i)*64
		j.put32(at, 64)
		j.put64(at+8, j.text(name))
	}
	j.put64(queue, interpreter)
	j.put32(queue+8, 0, 128, 2)
	stubs := j.addBlob("StubRoutines (1)", 2, 128)
	list := uint64(0)
	for i, name := range []string{"call_stub", "catch_exception"} {
		lo := stubs + uint64(i)*24
		desc := []uint64{list, j.text("StubRoutines"), j.text(name), lo, lo + 24}
		if j.release == 8 {
			desc = []uint64{list, j.text("StubRoutines"), j.text(name), uint64(i), lo, lo + 24}
		}
		list = j.AddUint64(append(desc, 0)...)
	}
	vtable := j.addBlob("vtable chunks", 4, 100)
	j.put64(vtable, 0, 3|1<<48)
	table := make([]uint64, vtableTableSize)
	table[7] = vtable
	j.symbols = vmtest.Symbols{stubListSymbol: j.AddUint64(list), vtableSymbol: j.AddUint64(table...),
		vtableChunkSymbol: j.AddUint64(1),
		vtableSizeSymbol:  j.Add(40, 0, 0, 0), itableSizeSymbol: j.Add(60, 0, 0, 0),
		compileIDSymbols[0]: j.Add(1, 0, 0, 0)}
}

func (j *fakeJVM) put64(at uint64, numbers ...uint64) {
	for i, n := range numbers {
		binary.LittleEndian.PutUint64(j.Data[at-vmtest.Base+8*uint64(i):], n)
	}
}

func (j *fakeJVM) put32(at uint64, numbers ...uint32) {
	for i, n := range numbers {
		binary.LittleEndian.PutUint32(j.Data[at-vmtest.Base+4*uint64(i):], n)
	}
}

// text returns the address of a name, which is added only once.
func (j *fakeJVM) text(name string) uint64 {
	if j.names[name] == 0 {
		j.names[name] = j.AddText(name)
	}
	return j.names[name]
}

// allocate makes a used block of the given number of segments, either after the last block or where a block was
// freed.
func (j *fakeJVM) allocate(segment, segments uint64) (blob uint64) {
	for i := range segments {
		j.Data[j.segmap-vmtest.Base+segment+i] = byte(i)
	}
	at := j.code + segment<<fakeLog2
	j.put64(at, segments, 1)
	if segment == j.next {
		j.next += segments
	} else {
		j.free++
	}
	j.put64(j.heap+fakeNextSegment, j.next, j.free)
	return at + fakeHeader
}

// freeBlock frees the block that begins at a segment.
func (j *fakeJVM) freeBlock(segment uint64) {
	j.put64(j.code+segment<<fakeLog2+8, 0)
	j.free++
	j.put64(j.heap+fakeNextSegment, j.next, j.free)
}

// addBlob adds a blob that is not an nmethod, and returns where its code begins.
func (j *fakeJVM) addBlob(name string, kind byte, size uint64) (lo uint64) {
	const header = 48
	at := j.allocate(j.next, (fakeHeader+header+size+1<<fakeLog2-1)>>fakeLog2)
	j.put64(at, j.text(name))
	j.put32(at+8, uint32(header+size), header, uint32(header+size))
	j.Data[at+33-vmtest.Base] = kind
	return at + header
}

// addMethod puts an nmethod into a block of two segments, with 32 bytes of code and 16 of stubs.
func (j *fakeJVM) addMethod(segment uint64, id int, name string, state int8) (address uint64) {
	at := j.allocate(segment, 2)
	method := uint64(0x7000_0000 + len(j.methodNames)*8)
	j.methodNames[method] = name
	blobName := "nmethod"
	if strings.HasPrefix(name, "native") {
		blobName = "native nmethod"
	}
	j.put64(at, j.text(blobName))
	j.put32(at+8, 200, fakeNMethod, fakeNMethod+48, uint32(id), ^uint32(0), 3)
	j.Data[at+32-vmtest.Base], j.Data[at+33-vmtest.Base] = byte(state), 1
	j.put64(at+40, method)
	j.put32(at+48, fakeNMethod+32)
	if j.release >= 25 {
		j.put32(at+52, 64, 16) // scopes data after the PcDescs
		j.put64(at+64, 0x5000_0000, 24|8<<32)
		j.put64(at+80, 0x6000_0000, 100)
	} else {
		j.put32(at+52, fakeNMethod+56, fakeNMethod+72, fakeNMethod+48, fakeNMethod+88, 200)
	}
	return at
}

func (j *fakeJVM) setState(address uint64, state int8) { j.Data[address+32-vmtest.Base] = byte(state) }

// name is a Namer.
func (j *fakeJVM) name(method uint64) (string, int, error) {
	if name, ok := j.methodNames[method]; ok {
		return name, 7, nil
	}
	return "", 0, fmt.Errorf("no method at %#x", method)
}

func (j *fakeJVM) cache(tb testing.TB) *Cache {
	tb.Helper()
	vm, err := vmstructs.New(j.Memory, j.symbols.Address)
	require.NoError(tb, err)
	c, err := New(vm, j.name)
	require.NoError(tb, err)
	return c
}
