package nmethod

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A codeHeap is a part of the code cache. It consists of segments of the same size. Each blob covers one or more
// segments.
type codeHeap struct {
	lo, hi      uint64 // the address range that is reserved for the heap
	segments    uint64 // address of the segment map: a byte for each segment
	log2Segment uint32 // log2 of the segment size in bytes
}

// A heapLayout has what is needed to find HotSpot's code heaps and the blobs in them, mostly the offsets of fields of
// HotSpot's structures. All numbers are offsets or sizes in bytes, unless the comment says "address".
type heapLayout struct {
	heaps                    uint64 // address of a variable that points to a GrowableArray<CodeHeap*>
	length, data             uint64 // fields of the GrowableArray
	memory, segmap           uint64 // the VirtualSpaces of a CodeHeap
	log2Segment              uint64
	lowBoundary, highReserve uint64 // fields of a VirtualSpace
	low                      uint64
	blockHeader              uint64 // size of the header before a blob
	blockUsed                uint64 // offset of a byte in the header that is not 0 if the block is used
	blobName                 uint64
}

// findHeaps sets l.heaps from HotSpot's tables.
func (l *layout) findHeaps(q *query) {
	h := &l.heaps
	h.memory, h.segmap, h.log2Segment = q.field("CodeHeap::_memory"), q.field("CodeHeap::_segmap"),
		q.field("CodeHeap::_log2_segment_size")
	h.lowBoundary, h.highReserve, h.low = q.field("VirtualSpace::_low_boundary"),
		q.field("VirtualSpace::_high_boundary"), q.field("VirtualSpace::_low")
	h.blockHeader, h.blockUsed, h.blobName = q.Size("HeapBlock"), q.field("HeapBlock::Header::_used"),
		q.field("CodeBlob::_name")
	h.data = q.field("GrowableArray<int>::_data")
	var ok bool
	if h.length, ok = q.VM.Offset("GrowableArrayBase::_len"); !ok {
		h.length = q.field("GenericGrowableArray::_len")
	}
	h.heaps, ok = q.VM.Static("CodeCache::_heaps")
	q.Must(ok, "CodeCache::_heaps")
}

// maxHeaps is the maximum number of code heaps. If there seem to be more, codeHeaps returns an error.
const maxHeaps = 16

// codeHeaps returns the code heaps. The first call reads them from the JVM; later calls return the same heaps.
func (c *Copier) codeHeaps() ([]codeHeap, error) {
	if c.heaps != nil {
		return c.heaps, nil
	}
	l := &c.layout.heaps
	array, err := c.vm.Uint64(l.heaps)
	if err != nil {
		return nil, err
	}
	length, err := c.vm.Uint32(array + l.length)
	if err != nil {
		return nil, err
	}
	data, err := c.vm.Uint64(array + l.data)
	if err != nil {
		return nil, err
	}
	if length > maxHeaps {
		return nil, fmt.Errorf("the code cache has %d heaps: HotSpot's layout may have changed", length)
	}
	var heaps []codeHeap
	for i := range uint64(length) {
		h, err := c.codeHeap(data + 8*i)
		if err != nil {
			return nil, err
		}
		heaps = append(heaps, h)
	}
	c.heaps = heaps
	return heaps, nil
}

// codeHeap reads the CodeHeap that a pointer in the JVM's memory points to.
func (c *Copier) codeHeap(pointer uint64) (h codeHeap, err error) {
	l := &c.layout.heaps
	at, err := c.vm.Uint64(pointer)
	if err != nil {
		return h, err
	}
	size := max(l.memory+l.highReserve, l.memory+l.lowBoundary, l.segmap+l.low, l.log2Segment) + 8
	data, err := c.vm.Read(nil, at, size)
	if err != nil {
		return h, err
	}
	h = codeHeap{
		lo:          binary.LittleEndian.Uint64(data[l.memory+l.lowBoundary:]),
		hi:          binary.LittleEndian.Uint64(data[l.memory+l.highReserve:]),
		segments:    binary.LittleEndian.Uint64(data[l.segmap+l.low:]),
		log2Segment: binary.LittleEndian.Uint32(data[l.log2Segment:]),
	}
	if h.hi < h.lo || h.log2Segment > 20 {
		return h, errors.New("a code heap has impossible values: HotSpot's layout may have changed")
	}
	return h, nil
}

// blobName returns the name of the blob at an address (CodeCache::find_blob). It returns "" if the address is not in
// the code cache, and errNoBlob if the address is in the code cache but not in a blob.
func (c *Copier) blobName(addr uint64) (string, error) {
	heaps, err := c.codeHeaps()
	if err != nil {
		return "", err
	}
	for _, h := range heaps {
		if addr < h.lo || addr >= h.hi {
			continue
		}
		blob, err := c.findBlob(h, addr)
		if err != nil {
			return "", err
		}
		at, err := c.vm.Uint64(blob + c.layout.heaps.blobName)
		if err != nil {
			return "", err
		}
		return c.vm.Text(at)
	}
	return "", nil
}

// isBlob reports whether a blob begins at an address, as far as HotSpot's tables describe that. Where an address is in
// none of the code heaps, only the header before it is read.
func (c *Copier) isBlob(addr uint64) bool {
	l := &c.layout.heaps
	if l.blockHeader == 0 {
		return true // HotSpot's tables do not describe the header
	}
	if heaps, err := c.codeHeaps(); err == nil {
		for _, h := range heaps {
			if addr >= h.lo && addr < h.hi {
				blob, err := c.findBlob(h, addr)
				return err == nil && blob == addr
			}
		}
	}
	var used [1]byte
	_, err := c.vm.Read(used[:], addr-l.blockHeader+l.blockUsed, 1)
	return err == nil && used[0] != 0
}

// errNoBlob means that an address in the code cache is not in a blob.
var errNoBlob = errors.New("there is no blob")

// maxSteps is the maximum number of steps that findBlob takes back to the first segment of a blob. After that, findBlob
// gives up and returns an error.
const maxSteps = 1 << 12

// findBlob returns the address of the blob that contains an address in a heap. A blob and the header before it form a
// block. The segment map has one byte for each segment. The byte of a block's first segment is 0. The byte of a later
// segment says how many segments to go back towards the first one; in a large block, it takes several such steps. A
// byte of 0xff marks a segment that is in no block (CodeHeap::find_block_for).
func (c *Copier) findBlob(h codeHeap, addr uint64) (blob uint64, err error) {
	segment := (addr - h.lo) >> h.log2Segment
	var step [1]byte
	for range maxSteps {
		if _, err := c.vm.Read(step[:], h.segments+segment, 1); err != nil {
			return 0, err
		}
		back := uint64(step[0])
		switch {
		case back == 0xff || back > segment:
			return 0, errNoBlob
		case back > 0:
			segment -= back
			continue
		}
		block := h.lo + segment<<h.log2Segment
		if _, err := c.vm.Read(step[:], block+c.layout.heaps.blockUsed, 1); err != nil {
			return 0, err
		}
		if step[0] == 0 {
			return 0, errNoBlob
		}
		return block + c.layout.heaps.blockHeader, nil
	}
	return 0, errNoBlob
}
