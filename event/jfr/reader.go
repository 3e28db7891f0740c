package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Reader reads the events of a recording in the order of the file. They are not sorted by time. For example, the JVM
// may write a thread's full buffers after the buffer that the thread is still filling.
type Reader struct {
	name   string
	w      fileBuffer
	chunk  *Chunk
	chunks int
	at     int64 // offset in the file of the next event or, if the field chunk is nil, of the next chunk
	event  Event
	damage Damage
	lost   int64 // see Lost
	err    error
}

// NewReader returns a Reader of a recording of the given size. The name is used in messages only.
func NewReader(r io.ReaderAt, size int64, name string) *Reader {
	return &Reader{name: name, w: fileBuffer{file: r, size: size}}
}

// Scan reads the next event. It returns false at the end of the recording, after an I/O error, and if the file is not a
// recording.
func (r *Reader) Scan() bool {
	for r.err == nil {
		switch {
		case r.w.err != nil:
			r.err = fmt.Errorf("reading %s: %w", r.name, r.w.err)
		case r.chunk == nil:
			if !r.nextChunk() {
				return r.end()
			}
		case r.at >= r.chunk.end:
			r.leave(r.chunk)
			r.chunk = nil
		default:
			if r.readEvent() {
				return true
			}
		}
	}
	return r.end()
}

// end is called when there are no more events. It invalidates the last event, sets r.err if the file could not be read,
// and returns false.
func (r *Reader) end() bool {
	r.event = Event{}
	if r.err == nil && r.w.err != nil {
		r.err = fmt.Errorf("reading %s: %w", r.name, r.w.err)
	}
	return false
}

// Event returns the last event that Scan has read. It is valid until the next Scan.
func (r *Reader) Event() *Event { return &r.event }

// Err returns the I/O error that ended the reading, or an error if the file is not a recording. It returns nil if the
// recording was read to its end.
func (r *Reader) Err() error { return r.err }

// Damage returns the damage that was found so far.
func (r *Reader) Damage() Damage { return r.damage }

// Lost returns how many bytes of events were not recorded because Flight Recorder had no room for them, according to
// the events read so far.
func (r *Reader) Lost() int64 { return r.lost }

// maxLost is an upper bound for Reader.lost, so that it can't overflow. No JVM writes that many bytes.
const maxLost = 1 << 40

// nextChunk sets r.chunk to the chunk at r.at. If that chunk can't be read, it takes the first readable chunk after it.
// If there is none, it returns false.
func (r *Reader) nextChunk() bool {
	for r.w.err == nil && (r.at < r.w.size || r.chunks == 0) {
		head := r.w.view(r.at, headerSize)
		if !bytes.HasPrefix(head, magic) {
			if r.chunks == 0 {
				r.err = r.noRecording(head)
				return false
			}
			r.damage.chunk(errors.New("the bytes between two chunks, or after the last one, are not a chunk"))
			r.search()
			continue
		}
		r.chunks++
		c, err := parseHeader(head, r.at, r.w.size)
		if version := (*VersionError)(nil); r.chunks == 1 && errors.As(err, &version) {
			r.err = fmt.Errorf("%s can't be read: %w", r.name, err)
			return false
		}
		if err != nil {
			r.damage.chunk(err)
			r.at++
			r.search()
			continue
		}
		c.survey(&r.w, &r.damage)
		if len(c.types) > 0 {
			r.chunk, r.at = c, c.Offset+headerSize
			return true
		}
		r.leave(c)
	}
	return false
}

// leave moves r.at to the chunk after c. If the size of c is unknown, other bytes may come between its last event and
// the next chunk. So leave searches for the beginning of the next chunk.
func (r *Reader) leave(c *Chunk) {
	r.at = c.next
	if !c.sized {
		r.search()
	}
}

// noRecording returns the error for a file that is not a recording, because it does not begin with magic. If the file
// could not be read at all, noRecording returns nil, because r.w.err says why.
func (r *Reader) noRecording(head []byte) error {
	if r.w.err != nil {
		return nil // end sets r.err to this error
	}
	if len(head) == 0 {
		return fmt.Errorf("%s is empty: the JVM writes a recording when it ends, or is told to by JFR.dump", r.name)
	}
	return fmt.Errorf("%s is not a recording of Java Flight Recorder: it begins with %q, not with %q", r.name,
		head[:min(4, len(head))], magic[:4])
}

// search moves r.at to the next occurrence of magic, or to the end of the file.
func (r *Reader) search() {
	for r.at < r.w.size {
		d := r.w.rest(r.at)
		if i := bytes.Index(d, magic); i >= 0 {
			r.at += int64(i)
			return
		}
		if len(d) < len(magic) || r.at+int64(len(d)) >= r.w.size {
			r.at = r.w.size
			return
		}
		// Keep the last bytes for the next round, because they may be the beginning of magic.
		r.at += int64(len(d) - len(magic) + 1)
	}
}

// readEvent reads the event at r.at and moves past it. It sets r.event and returns true, unless the event is metadata,
// a checkpoint or damaged.
func (r *Reader) readEvent() bool {
	c := r.chunk
	d := r.w.view(r.at, min(maxHead, c.end-r.at))
	size, id, head := eventHead(d)
	// Chunk.survey has found the event intact. If it is not intact now, the file has changed.
	if head < 0 || size < int64(head) || size > c.end-r.at {
		r.damage.chunk(errors.New("the file changes while it is read"))
		r.at = c.end
		return false
	}
	if id == 0 || id == 1 {
		r.at += size
		return false
	}
	d = r.w.view(r.at, size)
	r.at += size
	t := c.types[id]
	switch {
	case t == nil || !t.IsEvent():
		r.damage.event("an event is of type %d, which is not in the metadata", id)
		return false
	case t.fault != "":
		r.damage.event("an event is of a type that can't be read: %s", t.fault)
		return false
	case !r.event.set(c, t, d, head):
		r.damage.event("a %s does not have the fields that it should have", t.Name)
		return false
	}
	if t.Name == lossType {
		r.lost = min(r.lost+min(max(r.event.Field("amount").Int(), 0), maxLost), maxLost)
	}
	return true
}
