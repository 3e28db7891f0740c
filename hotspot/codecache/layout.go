package codecache

import "github.com/gasm-profiler/gasm/hotspot/vmstructs"

type field = vmstructs.Field

// A layout says where HotSpot's structures have the fields that this package reads.
type layout struct {
	// Where the heaps are: CodeCache::_heaps is a GrowableArray<CodeHeap*>*. JDK 8 has only one heap, CodeCache::_heap.
	heaps               field
	oneHeap             bool
	arrayLength         field // field of a GrowableArray
	arrayData           field
	heapSize            uint64 // size of a CodeHeap
	memoryLow           field  // the bounds of a CodeHeap's two VirtualSpaces: its code and its segment map
	memoryHigh          field
	segmapLow           field
	segmapHigh          field
	log2Segment         field // log2 of the segment size in bytes
	nextSegment         field // number of the first segment that was never used; blocks below it may be free
	changing            field // all bytes that change whenever the heap changes: several fields, 24 or 36 bytes
	blockLength         field // of a HeapBlock, in segments
	blockUsed           field
	blockSize, blobSize uint64 // how many bytes of a block are read: its HeapBlock, and the blob's header

	blob     blobLayout
	nmethod  nmethodLayout
	codelets codeletLayout

	invocationBCI int32 // nmethod::_entry_bci of a method that is not compiled by OSR
	deadState     int8  // nmethods with this nmethod::_state or a higher one are never run again
}

// A blobLayout is the layout of a CodeBlob.
type blobLayout struct {
	name, size field
	// kind is a CodeBlobKind (JDK 25 and newer). Older releases have virtual functions instead, so hasKind is false.
	hasKind                                                     bool
	kind                                                        field
	kindNMethod, kindAdapter, kindMH, kindVtable, kindSafepoint uint64
	kindNames                                                   map[uint64]string // the variable kindNames, by kind
	// codeBegin and codeEnd are addresses (JDK 22 and older) or offsets.
	codeBegin, codeEnd field
	offsets            bool // codeBegin and codeEnd are offsets
	// outside is true if the blob's mutable data lies outside the blob (JDK 25 and newer).
	outside                                      bool
	mutableData, mutableDataSize, relocationSize field
}

// An nmethodLayout is the layout of an nmethod.
type nmethodLayout struct {
	compileID, entryBCI, level, state, method, stub field

	// Where the tables begin: offsets from the nmethod, or from its immutable data (JDK 23 and newer), unless a field
	// below says otherwise. Each table ends where the next one begins.
	scopesPCs, scopesData, metadata, dependencies field
	scopesDataIsAddress                           bool // JDK 11 to 22
	hasMetadata                                   bool // if false, the metadata follows the relocations
	// end is the offset at which the nmethod ends. HotSpot sets it last. It is only read in JDK 8, where no state says
	// that an nmethod is not installed yet. In newer releases, end.Size is 0.
	end                              field
	immutable                        bool
	immutableData, immutableDataSize field
}

// A codeletLayout is the layout of the interpreter's StubQueue and of its InterpreterCodelets.
type codeletLayout struct {
	queue                     field // static field with the address of the StubQueue
	queueSize                 uint64
	buffer, begin, end, count field
	codeletSize               uint64
	size, description         field
}

// newLayout returns the layout of a JVM's structures. If something is missing in HotSpot's tables, the error names it.
func newLayout(vm *vmstructs.VM) (*layout, error) {
	q := query{vmstructs.Query{VM: vm, Of: "the code cache of "}}
	l := &layout{}
	if l.oneHeap = vm.Release == 8; l.oneHeap {
		l.heaps = q.Static("CodeCache::_heap")
	} else {
		l.heaps = q.Static("CodeCache::_heaps")
		l.arrayLength = q.first("GrowableArrayBase::_len", "GenericGrowableArray::_len")
		l.arrayData = q.field("GrowableArray<int>::_data")
	}
	l.readHeap(&q)
	l.readBlob(&q)
	l.readNMethod(&q)
	l.readCodelets(&q)
	bci, ok := vm.Int("InvocationEntryBci")
	q.Must(ok, "InvocationEntryBci")
	l.invocationBCI = bci
	l.deadState = deadState(vm.Release)
	return l, q.Missing
}

func (l *layout) readHeap(q *query) {
	l.heapSize = q.size("CodeHeap")
	memory, segmap := q.field("CodeHeap::_memory").At, q.field("CodeHeap::_segmap").At
	at := func(space uint64, name string) field {
		f := q.field("VirtualSpace::" + name)
		f.At += space
		return f
	}
	l.memoryLow, l.memoryHigh = at(memory, "_low"), at(memory, "_high")
	l.segmapLow, l.segmapHigh = at(segmap, "_low"), at(segmap, "_high")
	l.log2Segment = q.field("CodeHeap::_log2_segment_size")
	// HotSpot's tables don't have the next fields. heap.hpp declares them in this order:
	//
	//	size_t     _next_segment;
	//	FreeBlock* _freelist;
	//	FreeBlock* _last_insert_point;  // JDK 9 and newer
	//	size_t     _freelist_segments;
	//	int        _freelist_length;    // JDK 9 and newer
	l.nextSegment = field{At: l.log2Segment.At + 8, Size: 8}
	l.changing = field{At: l.nextSegment.At, Size: 36}
	if q.VM.Release == 8 {
		l.changing.Size = 24
	}
	q.Must(l.heapSize >= l.changing.At+l.changing.Size && l.heapSize < 1<<12, "CodeHeap as it was from JDK 8 to 28")
	header := q.field("HeapBlock::_header").At
	l.blockLength, l.blockUsed = q.field("HeapBlock::Header::_length"), q.field("HeapBlock::Header::_used")
	l.blockLength.At += header
	l.blockUsed.At += header
	l.blockSize = q.size("HeapBlock")
}

// kindNames are the names that HotSpot gives to all blobs of a kind. Blobs from an AOT cache have other names in
// HotSpot: an adapter's name is its signature, such as "LIJ" or "", and the DeoptimizationBlob is called "deopt_blob
// (shared runtime)". gasm uses the names below for these blobs as well.
var kindNames = map[string]string{"Adapter": "I2C/C2I adapters", "Deoptimization": "DeoptimizationBlob",
	"Exception":    "ExceptionBlob",
	"UncommonTrap": "UncommonTrapBlob"}

func (l *layout) readBlob(q *query) {
	b := &l.blob
	b.name, b.size = q.field("CodeBlob::_name"), q.field("CodeBlob::_size")
	if b.kind, b.hasKind = q.VM.Field("CodeBlob::_kind"); b.hasKind {
		kind := func(name string) uint64 {
			n, ok := q.VM.Int("CodeBlobKind::" + name)
			q.Must(ok, "CodeBlobKind::"+name)
			return uint64(n)
		}
		b.kindNMethod, b.kindAdapter, b.kindMH, b.kindVtable = kind("Nmethod"), kind("Adapter"), kind("MHAdapter"),
			kind("Vtable")
		b.kindSafepoint = kind("Safepoint")
		b.kindNames = map[uint64]string{}
		for name, blobs := range kindNames {
			if n, ok := q.VM.Int("CodeBlobKind::" + name); ok { // some kinds exist only if the JVM has C2
				b.kindNames[uint64(n)] = blobs
			}
		}
	}
	if b.codeBegin, b.offsets = q.VM.Field("CodeBlob::_code_offset"); b.offsets {
		b.codeEnd = q.field("CodeBlob::_data_offset")
	} else {
		b.codeBegin, b.codeEnd = q.field("CodeBlob::_code_begin"), q.field("CodeBlob::_code_end")
	}
	if b.mutableData, b.outside = q.VM.Field("CodeBlob::_mutable_data"); b.outside {
		b.mutableDataSize, b.relocationSize = q.field("CodeBlob::_mutable_data_size"),
			q.field("CodeBlob::_relocation_size")
	}
}

func (l *layout) readNMethod(q *query) {
	n := &l.nmethod
	l.blobSize = q.size("nmethod")
	q.Must(l.blobSize < 1<<12, "nmethod as it was from JDK 8 to 28")
	n.compileID, n.entryBCI = q.field("nmethod::_compile_id"), q.field("nmethod::_entry_bci")
	n.level, n.state = q.field("nmethod::_comp_level"), q.field("nmethod::_state")
	n.method = q.first("nmethod::_method", "CompiledMethod::_method")
	n.stub, n.scopesPCs = q.field("nmethod::_stub_offset"), q.field("nmethod::_scopes_pcs_offset")
	if n.scopesData, n.scopesDataIsAddress = q.VM.Field("CompiledMethod::_scopes_data_begin"); !n.scopesDataIsAddress {
		n.scopesData = q.field("nmethod::_scopes_data_offset")
	}
	if n.immutableData, n.immutable = q.VM.Field("nmethod::_immutable_data"); n.immutable {
		n.immutableDataSize = q.field("nmethod::_immutable_data_size")
	} else {
		n.dependencies = q.field("nmethod::_dependencies_offset")
	}
	if q.VM.Release == 8 {
		n.end = q.field("nmethod::_nmethod_end_offset")
	}
	if n.metadata, n.hasMetadata = q.VM.Field("nmethod::_metadata_offset"); !n.hasMetadata {
		q.Must(l.blob.outside, "nmethod::_metadata_offset")
	}
}

func (l *layout) readCodelets(q *query) {
	c := &l.codelets
	c.queue, c.queueSize = q.Static("AbstractInterpreter::_code"), q.size("StubQueue")
	c.buffer, c.begin = q.field("StubQueue::_stub_buffer"), q.field("StubQueue::_queue_begin")
	c.end, c.count = q.field("StubQueue::_queue_end"), q.field("StubQueue::_number_of_stubs")
	c.codeletSize = q.size("InterpreterCodelet")
	c.size, c.description = q.field("InterpreterCodelet::_size"), q.field("InterpreterCodelet::_description")
	q.Must(c.queueSize < 1<<10 && c.codeletSize < 1<<10, "StubQueue as it was from JDK 8 to 28")
}

// deadState returns the lowest state of nmethods that will never be run again. HotSpot's tables don't have the states.
// In nmethod.hpp and compiledMethod.hpp they are:
//
//	JDK 8         in_use 0, not_entrant 1, zombie 2, unloaded 3
//	JDK 11 to 19  not_installed -1, in_use 0, not_used 1, not_entrant 2, zombie 3, unloaded 4
//	JDK 20, 21    not_installed -1, in_use 0, not_used 1, not_entrant 2
//	JDK 22 on     not_installed -1, in_use 0, not_entrant 1
func deadState(release int) int8 {
	if release == 8 {
		return 2
	}
	return 3
}

// A query looks up fields and constants in HotSpot's tables. They must exist there: if one is missing, Query.Missing
// says which.
type query struct{ vmstructs.Query }

// field returns a field that must exist in HotSpot's tables, with a type of a known size.
func (q *query) field(name string) field {
	if f, ok := q.VM.Field(name); ok && f.Size == 0 && f.Type == "VirtualSpace" {
		f.Size = 1 // only its address is used
		return f
	}
	return q.Field(name)
}

// first returns the first of these fields that exists. One of them must exist.
func (q *query) first(names ...string) field {
	for _, name := range names[:len(names)-1] {
		if f, ok := q.VM.Field(name); ok {
			return f
		}
	}
	return q.field(names[len(names)-1])
}

func (q *query) size(name string) uint64 {
	size := q.Size(name)
	q.Must(size > 0, name)
	return size
}
