package codecache

import (
	"bytes"
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A heap is one of the parts of the code cache (HotSpot's CodeHeap). Its memory is divided into segments of 64 or 128
// bytes. A block is a run of segments that begins with a header. One blob follows the header, unless the block is free.
// The segment map has a byte for each segment. It is 0 for the first segment of a block. It may also be 0 in the middle
// of a block, if a free block began there until HotSpot joined it with the block before it.
type heap struct {
	at   uint64
	data []byte // a copy of the CodeHeap structure

	low, high uint64 // the addresses where its segments begin and end
	segmap    uint64 // address of the segment map
	log2      uint
	next      uint64 // number of the first segment that was never used; blocks below it may be free
	changing  []byte // a copy of the field layout.changing; nil before the first Poll

	blocks    map[uint64]*block // blocks that have a blob, by their first segment
	unsettled map[uint64]int    // blocks to read again, by first segment; the value is freshBlock.tries

	walkAgain  bool          // make another pass: the heap may have changed during the last one, or a Poll failed
	walked     int64         // time of the last pass over all blocks
	walkTook   time.Duration // how long that pass took
	compileIDs [3]uint64     // the compile ids at the time of that pass
}

// The type block describes a block that is in use, and the blob in it.
type block struct {
	identity
	generation int
	parts      []*Blob
	address    uint64 // of the blob
	// kind and name are set only if the blob is not an nmethod.
	kind printassembly.Kind
	name string
}

func newHeap(at uint64) *heap {
	return &heap{at: at, blocks: map[uint64]*block{}, unsettled: map[uint64]int{}}
}

// maxSegments is the largest number of segments that HotSpot allows: 2 GB (CODE_CACHE_SIZE_LIMIT) in segments of 64
// bytes.
const maxSegments = 1 << 25

// update decodes the copy of the CodeHeap. grown is true if more segments are in use than before. The result changed is
// true if any block may have changed: at the first Poll, if the list of free blocks has changed, or if the copy
// contradicts itself.
func (hp *heap) update(l *layout) (grown, changed bool) {
	before := hp.next
	hp.low, hp.high = l.memoryLow.In(hp.data), l.memoryHigh.In(hp.data)
	hp.segmap, hp.log2 = l.segmapLow.In(hp.data), uint(l.log2Segment.In(hp.data))
	hp.next = l.nextSegment.In(hp.data)
	if hp.low == 0 || hp.high < hp.low || hp.log2 < 3 || hp.log2 > 16 {
		hp.next = 0 // HotSpot has not reserved the heap's memory yet
	}
	// HotSpot enlarges the memory before it uses more segments. But the copy of the CodeHeap was not
	// made in one moment, so it may have the old size and the new number of segments.
	most := min((hp.high-hp.low)>>(hp.log2&63), maxSegments, l.segmapHigh.In(hp.data)-hp.segmap)
	clipped := hp.next > most
	hp.next = min(hp.next, most)
	changing := hp.data[l.changing.At : l.changing.At+l.changing.Size]
	free := changing[8:] // the bytes after the number of segments
	changed = hp.changing == nil || clipped || !bytes.Equal(free, hp.changing[8:])
	hp.changing = append(hp.changing[:0], changing...)
	return hp.next > before, changed
}

// maxBlobs is the maximum number of blocks in a heap. More blocks are an error, because they would be smaller than 2 kB
// on average even in the largest code cache, which has 2 GB.
const maxBlobs = 1 << 20

// batch is the largest number of blocks that are read with one system call.
const batch = 1024

// readBlocks reads the blocks from a segment to the end of the heap.
func (c *Cache) readBlocks(hp *heap, from uint64) error {
	segments, err := c.vm.Read(nil, hp.segmap+from, hp.next-from)
	if err != nil {
		return fmt.Errorf("the map of its segments: %w", err)
	}
	c.generation++
	r := blockReader{cache: c, heap: hp, settle: from > 0}
	for i, b := range segments {
		if b != 0 {
			continue
		}
		if err := r.add(from + uint64(i)); err != nil {
			return err
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	for segment, b := range hp.blocks {
		if segment >= from && b.generation != c.generation {
			c.drop(hp, segment)
		}
	}
	return nil
}

// readUnsettled reads some blocks once more. These are the blocks that HotSpot may not have finished, and those whose
// method could not be named.
func (c *Cache) readUnsettled(hp *heap) error {
	if len(hp.unsettled) == 0 {
		return nil
	}
	c.generation++
	r := blockReader{cache: c, heap: hp}
	for _, segment := range sortedKeys(hp.unsettled) {
		if segment >= hp.next {
			delete(hp.unsettled, segment)
			continue
		}
		if err := r.add(segment); err != nil {
			return err
		}
	}
	return r.flush()
}

// drop adds the blob in a block to the blobs that are gone.
func (c *Cache) drop(hp *heap, segment uint64) {
	if b, ok := hp.blocks[segment]; ok {
		c.changes.Gone = append(c.changes.Gone, b.parts...)
		delete(hp.blocks, segment)
	}
}

// A blockReader reads blocks in batches.
type blockReader struct {
	cache    *Cache
	heap     *heap
	settle   bool // read new blocks once more at the next Poll
	segments []uint64
	pieces   []vmstructs.Piece
	end      uint64 // the first segment after the last used block
	count    int
}

// add queues the block that begins at a segment; the queued blocks are read together.
func (r *blockReader) add(segment uint64) error {
	if r.count++; r.count > maxBlobs {
		return fmt.Errorf("a heap of it can't have more than %d blocks", maxBlobs)
	}
	hp, l := r.heap, r.cache.layout
	size := l.blockSize + l.blobSize
	at := hp.low + segment<<hp.log2
	i := uint64(len(r.segments))
	buf := sized(&r.cache.blockBuf, batch*size)[i*size:][:min(size, hp.high-at)]
	r.segments, r.pieces = append(r.segments, segment), append(r.pieces, vmstructs.Piece{Addr: at, Buf: buf})
	if len(r.segments) < batch {
		return nil
	}
	return r.flush()
}

// flush reads the queued blocks.
func (r *blockReader) flush() error {
	read, err := r.cache.vm.GatherSome(r.pieces)
	if err != nil {
		return err
	}
	if err := r.cache.readNames(r.pieces, read); err != nil {
		return err
	}
	for i, segment := range r.segments {
		if read[i] && segment >= r.end {
			r.block(segment, r.pieces[i].Buf)
		}
	}
	r.segments, r.pieces = r.segments[:0], r.pieces[:0]
	return nil
}

// block compares the copy of a block with what was known about the block, and notes what has changed.
func (r *blockReader) block(segment uint64, data []byte) {
	c, hp := r.cache, r.heap
	h, used, ok := c.decode(hp, segment, data)
	tries := hp.unsettled[segment]
	delete(hp.unsettled, segment)
	alive := ok && h.state >= 0 && h.state < c.layout.deadState
	if used && h.end > 0 {
		r.end = h.end
	}
	old := hp.blocks[segment]
	switch {
	case !alive:
		if used && h.state <= 0 { // HotSpot has not finished the blob, or not installed the nmethod yet
			hp.unsettled[segment] = tries
		}
		c.drop(hp, segment)
	case old != nil && old.identity == h.identity():
		old.generation = c.generation
		if h.compileID != 0 && len(old.parts) == 1 {
			old.parts[0].State = stateOf(h.state)
		}
	default:
		c.drop(hp, segment)
		b := &block{identity: h.identity(), generation: c.generation, address: h.address}
		c.fresh = append(c.fresh, c.newFresh(hp, &h, b, tries))
		if r.settle {
			hp.unsettled[segment] = tries
		}
	}
}

// stateOf converts the _state of an nmethod to a State. The nmethod must be alive (see deadState).
func stateOf(state int8) State {
	if state == 0 {
		return InUse
	}
	return NotEntrant
}
