package rings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A Drain copies windows out of a JVM's file while the JVM runs, before new ones overwrite them. A window is a call of
// a method that the user gave by --window-method. For each window, the Drain writes the three words that the window
// has in the ring. If windows were lost, it also writes the three words 0, 0 and the number of lost windows.
type Drain struct {
	file   io.ReaderAt
	next   int64 // offset of the first segment that was not seen yet
	seen   int   // number of segments before next
	rings  []drainedRing
	taken  int64 // number of windows that were written, from all rings
	buffer []byte
}

type drainedRing struct {
	offset   int64 // where the ring's segment begins in the file
	capacity int64
	inFlight int64 // see maxInFlight
	seen     int64 // number of windows that had been written at the last look
	taken    int64 // number of windows that were taken or lost
}

// maxInFlight is an upper bound for the number of windows in a ring that may be only partly visible to this CPU. They
// are the newest windows, because the CPU that writes them can delay the stores of a few dozen windows, and aarch64
// can also reorder the stores. So a Drain leaves the newest maxInFlight windows for the next time that it reads the
// ring. It treats the newest segments in the same way.
const maxInFlight = 64

// maxTaken is the maximum number of windows that a Drain writes for a JVM. It is enough for an hour with 2000 windows
// per second. Any further windows count as lost.
const maxTaken = 8_000_000

// maxRings is the maximum number of rings that a Drain reads. A Drain reads all rings each time, so there must be a
// limit. The agent makes one ring of windows per thread, for at most 256 threads.
const maxRings = 1 << 10

// maxSegments is an upper bound for the number of segments of a file. A file that has more is damaged. For each of 256
// threads, the agent makes the thread's rings, and at most one segment for each of 1024 sites.
const maxSegments = 1 << 19

// NewDrain returns a Drain of a JVM's file.
func NewDrain(file io.ReaderAt) *Drain { return &Drain{file: file, next: headerSize} }

// Take writes the windows that have ended since the last call, except the newest ones.
func (d *Drain) Take(w io.Writer) error { return d.takeAll(w, false) }

// End writes the remaining windows. It must be called after the JVM's threads have ended or have stopped counting.
func (d *Drain) End(w io.Writer) error { return d.takeAll(w, true) }

func (d *Drain) takeAll(w io.Writer, end bool) error {
	if err := d.findRings(end); err != nil {
		return err
	}
	for i := range d.rings {
		if err := d.take(&d.rings[i], end, w); err != nil {
			return err
		}
	}
	return nil
}

func (d *Drain) words(offset int64, n int) ([]byte, error) {
	if len(d.buffer) < 8*n {
		d.buffer = make([]byte, 8*n)
	}
	b := d.buffer[:8*n]
	_, err := d.file.ReadAt(b, offset)
	return b, err
}

// findRings looks for new rings of windows among the segments that the JVM has added to the file since the last call.
func (d *Drain) findRings(end bool) error {
	b, err := d.words(0, headWords)
	if errors.Is(err, io.EOF) {
		return nil // the JVM is about to write the header
	}
	if err != nil {
		return err
	}
	used := min(word(b, 3), MaxFile)
	for d.next+8*headWords <= used {
		head, err := d.words(d.next, headWords)
		if err != nil {
			return err
		}
		kind, size := word(head, 0), word(head, 1)
		switch {
		case !end && (size == 0 || kind == 3 && word(head, 5) == 0):
			return nil
		case size < 8*headWords || size > maxSegment || size%8 != 0, d.seen == maxSegments:
			return fmt.Errorf("the file of the probes is damaged at byte %d", d.next)
		case kind == 0:
			return nil // the JVM is about to write the segment's size
		case kind == 3:
			if c := word(head, 5); c > 0 && c <= maxSegment && 24*c <= size-8*headWords && c&(c-1) == 0 &&
				len(d.rings) < maxRings {
				d.rings = append(d.rings, drainedRing{offset: d.next, capacity: c,
					inFlight: max(1, min(maxInFlight, c/4))})
			}
		}
		d.next += size
		d.seen++
	}
	return nil
}

func (d *Drain) take(r *drainedRing, end bool, w io.Writer) error {
	newest, err := d.written(r)
	if err != nil {
		return err
	}
	written := newest
	if !end {
		written = max(r.seen, newest-r.inFlight)
	}
	r.seen = newest
	if written <= r.taken {
		return nil
	}
	// The JVM may be overwriting the oldest windows right now, so these are left out and count as lost.
	first := min(max(r.taken, newest-r.capacity+r.inFlight), written)
	out := make([]byte, 0, 24*(written-first)+24)
	for at := first; at < written; {
		n := min(written-at, r.capacity-at%r.capacity)
		b, err := d.words(r.offset+8*headWords+24*(at%r.capacity), int(3*n))
		if err != nil {
			return err
		}
		out = append(out, b...)
		at += n
	}
	now, err := d.written(r)
	if err != nil {
		return err
	}
	overwritten := min(max(0, now-r.capacity+r.inFlight-first), written-first)
	lost := first - r.taken + overwritten
	out = out[24*overwritten:]
	if left := maxTaken - d.taken; int64(len(out)) > 24*left {
		lost += int64(len(out))/24 - left
		out = out[:24*left]
	}
	d.taken += int64(len(out)) / 24
	r.taken = written
	if lost > 0 {
		out = binary.LittleEndian.AppendUint64(out, 0)
		out = binary.LittleEndian.AppendUint64(out, 0)
		out = binary.LittleEndian.AppendUint64(out, uint64(lost))
	}
	_, err = w.Write(out)
	return err
}

func (d *Drain) written(r *drainedRing) (int64, error) {
	head, err := d.words(r.offset, headWords)
	if err != nil {
		return 0, err
	}
	return max(0, word(head, 4)), nil
}

// ReadDrained reads what a Drain has written. It ignores a window that is cut off at the end.
func ReadDrained(r io.Reader) (*Windows, error) {
	w := new(Windows)
	b := make([]byte, 24<<10)
	for {
		n, err := io.ReadFull(r, b)
		for at := 0; at+24 <= n; at += 24 {
			w.add(b[at : at+24])
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return w, nil
		}
		if err != nil {
			return w, err
		}
	}
}

// add adds the window, or the number of lost windows, that the three words in b contain.
func (w *Windows) add(b []byte) {
	from, what, to := word(b, 0), uint64(word(b, 1)), word(b, 2)
	switch {
	case from == 0 && what == 0 && to > 0 && to < math.MaxInt64-w.Dropped:
		w.Dropped += to
	case Kind(what>>56) == inside && from < to:
		w.Spans = append(w.Spans, Span{TID: int(int32(what)), Site: int(what >> 32 & 0xffffff), FromMonoNanos: from,
			ToMonoNanos: to})
	}
}
