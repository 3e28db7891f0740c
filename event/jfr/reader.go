package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Reader reads the events of a recording in the order of the file. That is not the order in which they were: the
// JVM writes the full buffers of a thread behind the one that it fills.
type Reader struct {
	name   string
	w      window
	chunk  *Chunk
	chunks int
	at     int64 // where the next event is, or the next chunk when chunk is nil
	event  Event
	damage Damage
	err    error
}

// NewReader returns a reader of a recording of some size. The name is for messages only.
func NewReader(r io.ReaderAt, size int64, name string) *Reader {
	return &Reader{name: name, w: window{file: r, size: size}}
}

// Scan reads the next event. It returns false at the end, and when the file can't be read.
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

// end ends the reading.
func (r *Reader) end() bool {
	r.event = Event{}
	if r.err == nil && r.w.err != nil {
		r.err = fmt.Errorf("reading %s: %w", r.name, r.w.err)
	}
	return false
}

// Event is the last event, valid until the next Scan.
func (r *Reader) Event() *Event { return &r.event }

// Err is why the file could not be read, or that it is no recording; nil at its end.
func (r *Reader) Err() error { return r.err }

// Damage is what of the recording could not be read so far.
func (r *Reader) Damage() Damage { return r.damage }

// nextChunk makes the chunk at r.at ready, or the first good one behind it. It tells whether there is one.
func (r *Reader) nextChunk() bool {
	for r.w.err == nil && (r.at < r.w.size || r.chunks == 0) {
		head := r.w.view(r.at, headerSize)
		if !bytes.HasPrefix(head, magic) {
			if r.chunks == 0 {
				r.err = r.noRecording(head)
				return false
			}
			r.damage.chunk(errors.New("there are bytes between two chunks, or behind the last, that are none"))
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

// leave moves behind a chunk. What follows one whose end is not known may be the rest of an event.
func (r *Reader) leave(c *Chunk) {
	r.at = c.next
	if !c.sized {
		r.search()
	}
}

// noRecording says that a file does not begin as recordings do.
func (r *Reader) noRecording(head []byte) error {
	if r.w.err != nil {
		return nil // which end tells of
	}
	if len(head) == 0 {
		return fmt.Errorf("%s is empty: the JVM writes a recording when it ends, or is told to by JFR.dump", r.name)
	}
	return fmt.Errorf("%s is no recording of Java Flight Recorder: it begins with %q, not with %q", r.name, head[:min(4, len(head))], magic[:4])
}

// search moves to the next magic, or to the end.
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
		r.at += int64(len(d) - len(magic) + 1) // a magic may begin in the last bytes
	}
}

// readEvent reads the event at r.at, and moves behind it. It tells whether it is one for the caller.
func (r *Reader) readEvent() bool {
	c := r.chunk
	d := r.w.view(r.at, min(maxHead, c.end-r.at))
	size, id, head := eventHead(d)
	if head < 0 || size < int64(head) || size > c.end-r.at { // the file has changed since it was looked through
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
	return true
}
