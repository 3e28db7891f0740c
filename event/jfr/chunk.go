package jfr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A Chunk is a part of a recording. It has its own types and constants, so it can be read without the other chunks.
type Chunk struct {
	Offset        int64 // where the chunk begins in the file, in bytes
	Major, Minor  uint16
	Clock         Clock
	DurationNanos int64 // the chunk's duration; for an unfinished chunk, the time until its last flush
	// Unfinished is true if the JVM was killed while it wrote the chunk, or is still writing it. Then the constants of
	// the chunk's last events are missing.
	Unfinished bool
	// GMTMillis is the offset of the JVM's time zone from UTC in milliseconds, positive east of Greenwich.
	GMTMillis int

	end         int64 // offset in the file after the last event that can be read
	next        int64 // offset of the next chunk; if that is unknown, the offset at which the search for it starts
	sized       bool  // true if the header has the chunk's size, and the file has the whole chunk
	metadataAt  int64
	checkpoints int64 // position of the last checkpoint, relative to Offset
	types       map[int64]*Type
	pools       pools
	known       known
}

const headerSize = 68

// magic is the beginning of each chunk: "FLR\0" and the high byte of the major version, which is 0 because the version
// is 2.
var magic = []byte("FLR\x00\x00")

// parseHeader decodes the header d of the chunk that begins at offset in a file of the given size.
func parseHeader(d []byte, offset, size int64) (*Chunk, error) {
	if len(d) < headerSize {
		return nil, errors.New("the header of a chunk is cut off")
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
		return nil, fmt.Errorf("a chunk has %d ticks per second", c.Clock.TicksPerSecond)
	case d[67]&1 == 0:
		return nil, errors.New("the integers of a chunk are not compressed, but HotSpot always compresses them")
	}
	c.end = size
	if length := longs[0]; !c.Unfinished && length >= headerSize && length <= size-offset {
		c.end = offset + length
		c.sized = true
	}
	return c, nil
}

// A survey collects the metadata and the checkpoints of a chunk before its events are read. It copies them, because the
// fileBuffer keeps only the part of the file that was read last.
type survey struct {
	w           *fileBuffer
	chunk       *Chunk
	metadata    [][]byte
	checkpoints [][]byte
	arena       []byte // a block of memory for small copies; see copy
}

// survey reads the types and constants of a chunk, and finds out where its readable events end. If nothing in the
// chunk can be read, c.types is empty afterwards.
func (c *Chunk) survey(w *fileBuffer, damage *Damage) {
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
		return errors.New("the JVM ended while it wrote a chunk, before it wrote the chunk's types " +
			"(JDK 13 and older write them last): nothing of the chunk can be read")
	}
	return errors.New("a chunk has no types: nothing of the chunk can be read")
}

// minSpecialSize is the size of the shortest metadata event or checkpoint.
const minSpecialSize = 7

// walk goes through all events of a chunk and collects the metadata and the checkpoints. It sets the chunk's end to the
// end of the last intact event. If a finished chunk is cut off or damaged, it returns an error.
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
	case c.Unfinished: // The JVM was killed while it wrote the chunk, or is still writing it.
	case at < end:
		return fmt.Errorf("the last %d bytes of a chunk could not be read: the file is cut, or damaged there", end-at)
	case !c.sized:
		return errors.New("the end of a chunk is missing: the file is cut, or damaged")
	}
	return nil
}

// maxHead is the maximum length of the head of an event, in bytes. The head is two compressed integers: the event's
// size and its type.
const maxHead = 18

// eventHead reads the size and the type of the event at the start of d. The result head says how many bytes these two
// numbers take. It is -1 if they are cut off.
func eventHead(d []byte) (size, id int64, head int) {
	size, next := varint(d, 0)
	id, next = varint(d, next)
	return int64(int32(size)), id, next
}

// take adds a copy of a metadata event (id 0) or a checkpoint (id 1) to the survey. It ignores an event that is too
// short, or that is cut off.
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

// copy returns a copy of d. A chunk may have many small checkpoints, so small copies share larger blocks of memory.
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

// follow collects metadata and checkpoints that walk did not reach because of damage. It uses the positions that the
// file contains: the chunk's header has the positions of a metadata event and of the last checkpoint, and each
// checkpoint has the position of the previous checkpoint.
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

// special returns the metadata event (want is 0) or the checkpoint (want is 1) at the offset at. It returns nil if the
// event there is of another type, or if it ends after the offset that the parameter before gives.
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
