package nmethod

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// Offsets in the structures that relocations lead to, in bytes.
const (
	blobNameOffset                                        = 16
	dataEndOffset, contentBeginOffset                     = 96, 120 // the relocations' bounds come after _data_end
	contentOffsetField, relocationSizeField               = 96, 100
	heapMemoryOffset, heapSegmapOffset, log2SegmentOffset = 8, 64, 120
	lowBoundaryOffset, highBoundaryOffset, lowOffset      = 0, 8, 16
	blockHeaderSize, blockUsedOffset                      = 16, 8
	arrayLengthOffset, arrayDataOffset                    = 0, 8
	methodDataMethodOffset, accessFlagsOffset             = 8, 24
)

// addRelocationTables adds to HotSpot's tables what relocations need.
func addRelocationTables(t *vmtest.Tables, release int) {
	maps.Copy(t.Offsets, map[string]uint64{
		"CodeBlob::_name": blobNameOffset, "CodeHeap::_memory": heapMemoryOffset, "CodeHeap::_segmap": heapSegmapOffset,
		"CodeHeap::_log2_segment_size": log2SegmentOffset, "VirtualSpace::_low_boundary": lowBoundaryOffset,
		"VirtualSpace::_high_boundary": highBoundaryOffset, "VirtualSpace::_low": lowOffset,
		"HeapBlock::Header::_used":  blockUsedOffset,
		"GrowableArray<int>::_data": arrayDataOffset, "MethodData::_method": methodDataMethodOffset,
		"Method::_access_flags": accessFlagsOffset,
	})
	t.Sizes["HeapBlock"] = blockHeaderSize
	if release < 17 {
		t.Offsets["GenericGrowableArray::_len"] = arrayLengthOffset
	} else {
		t.Offsets["GrowableArrayBase::_len"] = arrayLengthOffset
	}
	if release < 25 {
		t.Offsets["CodeBlob::_data_end"], t.Offsets["CodeBlob::_content_begin"] = dataEndOffset, contentBeginOffset
	} else {
		t.Offsets["CodeBlob::_content_offset"], t.Offsets["CodeBlob::_relocation_size"] = contentOffsetField,
			relocationSizeField
	}
}

// addVirtualTables adds a table of virtual functions for each class in virtualTables, and HotSpot's table of bytecodes.
func (j *fakeJVM) addVirtualTables() {
	for i, name := range slices.Sorted(maps.Keys(virtualTables)) {
		table := make([]uint64, 2+comparedFunctions)
		for k := range table[2:] {
			table[2+k] = uint64(i+1)<<16 | uint64(k)
		}
		j.symbols[name] = j.AddUint64(table...)
	}
	j.symbols[javaCodes] = j.Add(codesOf(j.release)...)
}

// codesOf returns HotSpot's table of bytecodes.
func codesOf(release int) (table []byte) {
	for code := range 256 {
		java := code
		if name := rewritten(code, release); name != "" {
			java = slices.Index(bytecodeNames, name)
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(java))
	}
	return table
}

// rewritten returns the standard bytecode that one of HotSpot's own bytecodes replaces, and "" for other numbers. JDK
// 28 has two more bytecodes of its own, whose numbers come before those of older releases.
func rewritten(code, release int) string {
	own := rewrittenNames
	if release >= 28 {
		own = append([]string{"getfield", "getfield"}, own...)
	}
	if code -= len(bytecodeNames); code < 0 || code >= len(own) {
		return ""
	}
	return own[code]
}

// virtualTable returns the address of a class's virtual functions. This address is at the start of the objects of the
// class.
func (j *fakeJVM) virtualTable(class string) uint64 { return j.symbols[class] + tableHeader }

// archived adds a copy of a class's table of virtual functions, as objects in the archive of class data sharing have
// it, and returns the address of the copy.
func (j *fakeJVM) archived(class string) uint64 {
	at := j.virtualTable(class) - vmtest.Base
	return j.Add(slices.Clone(j.Data[at : at+8*comparedFunctions])...)
}

// fakeBlob is the name of a blob in the code cache of a fakeJVM. The blob has 400 bytes, and therefore covers several
// segments.
const fakeBlob = "throw_null_pointer_exception Runtime1 stub"

// addHeap adds the code cache, which has a blob and a free block after it. It returns the address of the variable
// CodeCache::_heaps.
func (j *fakeJVM) addHeap() (heaps uint64) {
	const segments = 8
	memory := make([]byte, segments*64)
	memory[blockUsedOffset] = 1
	put(memory, blockHeaderSize+blobNameOffset, j.AddText(fakeBlob))
	low := j.Add(memory...)
	j.blob = low + blockHeaderSize
	segmap := j.Add(0, 1, 2, 2, 2, 2, 0, 0xff)
	heap := make([]byte, 128)
	put(heap, heapMemoryOffset+lowBoundaryOffset, low)
	put(heap, heapMemoryOffset+highBoundaryOffset, low+segments*64)
	put(heap, heapSegmapOffset+lowOffset, segmap)
	put(heap, log2SegmentOffset, uint32(6))
	array := make([]byte, 16)
	put(array, arrayLengthOffset, uint32(1))
	put(array, arrayDataOffset, j.AddUint64(j.Add(heap...)))
	return j.AddUint64(j.Add(array...))
}

// A fakeReloc is a relocation of the instruction at an offset.
type fakeReloc struct {
	offset int
	kind   relocKind // in package nmethod's numbering
	format int
	data   []uint16
}

// packRelocations packs relocations as HotSpot's CodeBuffer does. If the distance from the last relocation is too long
// for one word, filler relocations come between them.
func packRelocations(list []fakeReloc, release int) []byte {
	p := packingOf(release, false)
	low := 16 - p.kindBits
	furthest := 1<<(low-p.formatBits) - 1
	var data []byte
	word := func(kind relocKind, rest int) {
		if p.noEntryGuard && kind > relocEntryGuard {
			kind--
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(kind)<<low|uint16(rest))
	}
	at := 0
	for _, r := range list {
		for ; r.offset-at > furthest; at += furthest {
			word(relocNone, furthest)
		}
		switch {
		case len(r.data) == 1 && int(r.data[0]) < 1<<(low-1):
			word(relocPrefix, int(r.data[0]))
		case len(r.data) > 0:
			word(relocPrefix, 1<<(low-1)|len(r.data))
			for _, w := range r.data {
				data = binary.LittleEndian.AppendUint16(data, w)
			}
		}
		word(r.kind, r.format<<(low-p.formatBits)|(r.offset-at))
		at = r.offset
	}
	for len(data)%8 != 0 {
		word(relocNone, furthest)
	}
	return data
}
