package codecache

import "github.com/gasm-profiler/gasm/hotspot/vmstructs"

type field = vmstructs.Field

// A layout says where HotSpot's structures have what is read of them.
type layout struct {
	// The heaps: CodeCache::_heaps is a GrowableArray<CodeHeap*>*. JDK 8 has one, CodeCache::_heap.
	heaps               field
	oneHeap             bool
	arrayLength         field // of a GrowableArray
	arrayData           field
	heapSize            uint64 // of a CodeHeap
	memoryLow           field  // VirtualSpaces of a CodeHeap: the code, and a byte for each of its segments
	memoryHigh          field
	segmapLow           field
	segmapHigh          field
	log2Segment         field // log2 of the size of a segment, in bytes
	nextSegment         field // how many segments are in use, from the first one on
	changing            field // all that changes with each change of the heap; of any size
	blockLength         field // of a HeapBlock, in segments
	blockUsed           field
	blockSize, blobSize uint64 // of a HeapBlock's header, and of what is read of the blob behind it

	blob     blobLayout
	nmethod  nmethodLayout
	codelets codeletLayout

	invocationBCI int32 // nmethod::_entry_bci of a method that is no OSR method
	deadState     int8  // nmethod::_state from which on an nmethod is never run again
}

// A blobLayout is that of a CodeBlob.
type blobLayout struct {
	name, size field
	// kind is a CodeBlobKind (JDK 25 and newer). Older ones have only virtual functions for it.
	hasKind                                                     bool
	kind                                                        field
	kindNMethod, kindAdapter, kindMH, kindVtable, kindSafepoint uint64
	codeBegin, codeEnd                                          field // addresses (JDK 22 and older), or offsets from the blob's own
	offsets                                                     bool
	outside                                                     bool // mutable data lies outside of the blob (JDK 25 and newer)
	mutableData, mutableDataSize, relocationSize                field
}

// An nmethodLayout is that of an nmethod.
type nmethodLayout struct {
	compileID, entryBCI, level, state, method, stub field

	// Where its tables are, as offsets from the nmethod, its immutable data (JDK 23 and newer)
	// or what is said here. Each ends where the next begins.
	scopesPCs, scopesData, metadata, dependencies field
	scopesDataIsAddress                           bool // JDK 11 to 22
	hasMetadata                                   bool // there is a field for where it is; it is behind the relocations otherwise
	immutable                                     bool
	immutableData, immutableDataSize              field
}

// A codeletLayout is that of the interpreter's StubQueue and of its InterpreterCodelets.
type codeletLayout struct {
	queue                     field // static: address of the StubQueue
	queueSize                 uint64
	buffer, begin, end, count field
	codeletSize               uint64
	size, description         field
}

// newLayout finds all of it. The error names what HotSpot's tables lack.
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
	// size_t _next_segment; FreeBlock* _freelist; in JDK 9 and newer FreeBlock* _last_insert_point;
	// size_t _freelist_segments; in JDK 9 and newer int _freelist_length (heap.hpp).
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

func (l *layout) readBlob(q *query) {
	b := &l.blob
	b.name, b.size = q.field("CodeBlob::_name"), q.field("CodeBlob::_size")
	if b.kind, b.hasKind = q.VM.Field("CodeBlob::_kind"); b.hasKind {
		kind := func(name string) uint64 {
			n, ok := q.VM.Int("CodeBlobKind::" + name)
			q.Must(ok, "CodeBlobKind::"+name)
			return uint64(n)
		}
		b.kindNMethod, b.kindAdapter, b.kindMH, b.kindVtable = kind("Nmethod"), kind("Adapter"), kind("MHAdapter"), kind("Vtable")
		b.kindSafepoint = kind("Safepoint")
	}
	if b.codeBegin, b.offsets = q.VM.Field("CodeBlob::_code_offset"); b.offsets {
		b.codeEnd = q.field("CodeBlob::_data_offset")
	} else {
		b.codeBegin, b.codeEnd = q.field("CodeBlob::_code_begin"), q.field("CodeBlob::_code_end")
	}
	if b.mutableData, b.outside = q.VM.Field("CodeBlob::_mutable_data"); b.outside {
		b.mutableDataSize, b.relocationSize = q.field("CodeBlob::_mutable_data_size"), q.field("CodeBlob::_relocation_size")
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

// deadState gives the first of the states of nmethods that will never be run again. No
// table tells them (nmethod.hpp, compiledMethod.hpp):
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

// A query asks HotSpot's tables for what must be there.
type query struct{ vmstructs.Query }

// field finds a field whose type HotSpot tells.
func (q *query) field(name string) field {
	f, ok := q.VM.Field(name)
	if f.Size == 0 && f.Type == "VirtualSpace" {
		f.Size = 1 // only its place is asked for
	}
	q.Must(ok && f.Size > 0, name)
	return f
}

// first finds the first of some fields that is there.
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
