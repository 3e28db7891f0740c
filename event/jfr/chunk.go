package jfr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A Chunk is a part of a recording that stands for itself: it has its own types and constants.
type Chunk struct {
	Offset        int64 // in the file
	Major, Minor  uint16
	Clock         Clock
	DurationNanos int64 // of an unfinished chunk until its last flush
	// Unfinished says that the JVM was killed while it wrote the chunk, or is still writing it. The constants
	// of its last events are missing.
	Unfinished bool
	// GMTMillis is the time zone that the JVM was in, east of Greenwich.
	GMTMillis int

	end         int64 // behind its last event that can be read
	next        int64 // where the next chunk begins, if it has the magic there; else it is searched for from there
	sized       bool  // the header says where the chunk ends, and the file has all of it
	metadataAt  int64
	checkpoints int64 // where the last one is
	types       map[int64]*Type
	pools       pools
	known       known
}

const headerSize = 68

// magic is what chunks begin with, and the first byte of the version 2.
var magic = []byte("FLR\x00\x00")

// parseHeader reads the header of a chunk at an offset of a file of some size.
func parseHeader(d []byte, offset, size int64) (*Chunk, error) {
	if len(d) < headerSize {
		return nil, errors.New("the header of a chunk is cut")
	}
	c := &Chunk{Offset: offset, Major: binary.BigEndian.Uint16(d[4:]), Minor: binary.BigEndian.Uint16(d[6:])}
	if c.Major != 2 {
		return nil, &VersionError{c.Major, c.Minor}
	}
	var longs [7]int64
	for i := range longs {
		longs[i] = int64(binary.BigEndian.Uint64(d[8+8*i:]))
	}
	c.checkpoints, c.metadataAt, c.DurationNanos = longs[1], longs[2], longs[4]
	c.Clock = Clock{StartWallNanos: longs[3], StartTicks: longs[5], TicksPerSecond: longs[6]}
	c.Unfinished = d[64] != 0
	switch {
	case c.Clock.TicksPerSecond <= 0:
		return nil, fmt.Errorf("a chunk has %d ticks a second", c.Clock.TicksPerSecond)
	case d[67]&1 == 0:
		return nil, errors.New("the integers of a chunk are not compressed, which HotSpot never writes")
	}
	c.end = size
	if length := longs[0]; !c.Unfinished && length >= headerSize && length <= size-offset {
		c.end = offset + length
		c.sized = true
	}
	return c, nil
}

// A survey looks through a chunk for what its events need: metadata and checkpoints. They are copied, because the
// window moves on.
type survey struct {
	w           *window
	chunk       *Chunk
	metadata    [][]byte
	checkpoints [][]byte
	arena       []byte // what the last copies were cut from
}

// survey reads types and constants of a chunk. The chunk has no types when nothing of it can be read.
func (c *Chunk) survey(w *window, damage *Damage) {
	s := &survey{w: w, chunk: c}
	c.next = c.end
	if err := s.walk(); err != nil {
		damage.chunk(err)
		s.follow()
	}
	if !c.sized {
		c.next = c.end
	}
	m := &metadata{types: make(map[int64]*Type)}
	for _, d := range s.metadata {
		if err := m.add(d); err != nil {
			damage.chunk(err)
		}
	}
	m.resolve()
	c.types, c.GMTMillis = m.types, m.gmtMillis
	if len(c.types) == 0 {
		damage.chunk(c.noMetadata())
		return
	}
	c.pools.byType = make(map[int64]*pool)
	for _, d := range s.checkpoints {
		if err := c.pools.add(d, c.types); err != nil {
			damage.checkpoint(err)
		}
	}
}

func (c *Chunk) noMetadata() error {
	if c.Unfinished {
		return errors.New("the JVM ended while it wrote a chunk, before it wrote the chunk's types (a JDK before 14 writes them last): nothing of it can be read")
	}
	return errors.New("a chunk has no types: nothing of it can be read")
}

// Sizes of the shortest metadata event and checkpoint.
const minSpecialSize = 7

// walk goes from event to event, and sets the chunk's end behind the last good one.
func (s *survey) walk() error {
	c := s.chunk
	at, end := c.Offset+headerSize, c.end
	for at < end {
		if !c.sized && bytes.HasPrefix(s.w.view(at, int64(len(magic))), magic) {
			end = at // the next chunk
			break
		}
		size, id, head := eventHead(s.w.view(at, min(maxHead, end-at)))
		if head < 0 || size < int64(head) || size > end-at {
			break
		}
		if id == 0 || id == 1 {
			s.take(at, size, id, head)
		}
		at += size
	}
	c.end = at
	switch {
	case c.Unfinished: // The JVM was killed while it wrote, or writes now.
	case at < end:
		return fmt.Errorf("the last %d bytes of a chunk could not be read: the file is cut, or damaged there", end-at)
	case !c.sized:
		return errors.New("the end of a chunk is missing: the file is cut, or damaged")
	}
	return nil
}

// maxHead is how long size and type of an event can be.
const maxHead = 18

// eventHead reads the size and type in front of an event, and gives how many bytes they take; -1
// when there is none.
func eventHead(d []byte) (size, id int64, head int) {
	size, next := varint(d, 0)
	id, next = varint(d, next)
	return int64(int32(size)), id, next
}

// take copies a metadata event (0) or checkpoint (1).
func (s *survey) take(at, size, id int64, head int) {
	if size < minSpecialSize {
		return
	}
	d := s.w.view(at, size)
	if int64(len(d)) < size {
		return
	}
	d = s.copy(d[head:])
	if id == 0 {
		s.metadata = append(s.metadata, d)
	} else {
		s.checkpoints = append(s.checkpoints, d)
	}
}

// copy keeps small pieces together, because there may be many.
func (s *survey) copy(d []byte) []byte {
	const arenaSize = 64 << 10
	if len(d) > arenaSize/4 {
		return slices.Clone(d)
	}
	if len(d) > cap(s.arena)-len(s.arena) {
		s.arena = make([]byte, 0, arenaSize)
	}
	start := len(s.arena)
	s.arena = append(s.arena, d...)
	return s.arena[start:len(s.arena):len(s.arena)]
}

// follow takes what lies behind damage: the metadata that the header tells of, and the checkpoints from the
// last to the one before, and so on.
func (s *survey) follow() {
	c := s.chunk
	if at := c.Offset + c.metadataAt; c.metadataAt > 0 && at >= c.end {
		s.special(at, s.w.size, 0)
	}
	before := s.w.size
	first := len(s.checkpoints)
	for at := c.Offset + c.checkpoints; at >= c.end && at < before; {
		d := s.special(at, before, 1)
		if d == nil {
			break
		}
		i := skipVarint(d, skipVarint(d, 0))
		delta, i := varint(d, i)
		if i < 0 || delta >= 0 || delta < -at {
			break
		}
		before, at = at, at+delta
	}
	slices.Reverse(s.checkpoints[first:])
}

// special takes the metadata (0) or checkpoint (1) at a place; nil when there is none that ends before
// another place.
func (s *survey) special(at, before, want int64) []byte {
	if at > before {
		return nil
	}
	size, id, head := eventHead(s.w.view(at, min(maxHead, before-at)))
	if head < 0 || id != want || size < minSpecialSize || size > before-at {
		return nil
	}
	n := len(s.checkpoints) + len(s.metadata)
	s.take(at, size, id, head)
	if len(s.checkpoints)+len(s.metadata) == n {
		return nil
	}
	if want == 0 {
		return s.metadata[len(s.metadata)-1]
	}
	return s.checkpoints[len(s.checkpoints)-1]
}
