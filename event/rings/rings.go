package rings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/bits"
	"strings"
)

const (
	magic      = 0x31626f72706d6767
	headerSize = 4096
	headWords  = 16
	// Buckets is the number of buckets in the histogram of a probed method's calls.
	Buckets = 32 + 35*16
	// maxSegment is an upper bound for the size of a segment, which is a part of the file, in bytes. gasm never asks
	// the agent for larger rings.
	maxSegment = 64 << 20
	// MaxFile is an upper bound for the size of a JVM's file, in bytes; the agent never makes a larger one. If a header
	// claims that the file is larger, a Drain does not read beyond this limit.
	MaxFile = 512 << 20
)

// A Kind is the kind of an event in a ring.
type Kind uint8

// The kinds of events. The last two, owner and inside, are internal, and Ring.Events leaves them out. The kind owner
// means that another thread uses the ring from now on: the events before it are those of the previous thread. The kind
// inside is that of a window.
const (
	Entry Kind = iota + 1
	Exit
	Thrown
	Acquire
	Release
	Allocation
	owner
	inside
)

// An Event says that a thread passed a probe.
type Event struct {
	Kind      Kind
	Site      int
	MonoNanos int64
	BCI       int // for locks and allocations; -1 for the lock of a synchronized method
	// Identity is the System.identityHashCode of the object. It is not unique. It is 0 if a method returns or throws,
	// and if a method is entered without --probe-this.
	Identity uint32
	TID      int // 0 if unknown
}

// A Ring has the latest events of a thread, or of several threads that used the ring one after the other.
type Ring struct {
	Slot    int // -1 if threads share it
	TID     int // of the last thread that wrote into the ring
	Thread  string
	Written int64 // number of events that the threads have written
	Dropped int64 // number of events that were overwritten

	body     []byte
	first, n int
	capacity int
}

// Events returns an iterator over the events that were not overwritten, oldest first.
func (r *Ring) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for i := range r.n {
			at := 3 * ((r.first + i) % r.capacity)
			what, who := uint64(word(r.body, at+1)), uint64(word(r.body, at+2))
			kind := Kind(what >> 56)
			if kind == 0 || kind >= owner {
				continue // an event of the kind owner, or an event that a killed JVM did not write completely
			}
			e := Event{Kind: kind, Site: int(what >> 32 & 0xffffff), MonoNanos: word(r.body, at), BCI: int(int32(what)),
				Identity: uint32(who >> 32), TID: int(int32(who))}
			if !yield(e) {
				return
			}
		}
	}
}

// Calls has the counts of the calls of one site, which is a probed method. All counted calls were made by the threads
// that used one slot. A slot is a thread's place in the file; after a thread has ended, another thread may get its
// slot.
type Calls struct {
	Slot, Site               int
	Entries, Returns, Throws int64
	Nanos, MaxNanos          int64
	Histogram                [Buckets]int64
}

// Windows are the times during which threads were in a method that the user gave by --window-method (see Site.Window).
// gasm counts only samples that were taken during windows. A Windows value has those of all threads that used one slot
// (see Calls).
type Windows struct {
	Slot    int
	Dropped int64
	Spans   []Span
}

// A Span is one call of a method whose calls are windows. ToMonoNanos is math.MaxInt64 if the call has not ended.
type Span struct {
	TID, Site                  int
	FromMonoNanos, ToMonoNanos int64
}

// A Header has the facts about the whole file.
type Header struct {
	PID            int // in the JVM's own PID namespace
	StartMonoNanos int64
	StopMonoNanos  int64 // 0 if the counting was not stopped
	// Refused is the number of threads for which the file had no room. Uncounted is the number of methods that a thread
	// could not count because the thread's part of the file had no room.
	Refused, Uncounted int64
}

// A Reader reads a file of rings segment by segment.
type Reader struct {
	r      io.Reader
	name   string
	rec    any
	err    error
	begun  bool
	offset int64
	left   int64 // bytes in use after offset
	inner  int64 // how many of these bytes are in the segment of kind 4 that contains offset; 0 if there is none
}

// NewReader returns a Reader of a file. The name is used in messages only.
func NewReader(r io.Reader, name string) *Reader { return &Reader{r: r, name: name} }

// Scan reads the header when it is called first, and the next segment of a known kind each time after that. It returns
// false at the end and after an error.
func (r *Reader) Scan() bool {
	if r.err != nil {
		return false
	}
	if !r.begun {
		r.begun = true
		return r.header()
	}
	for r.left >= 8*headWords {
		rec, err := r.segment()
		if err != nil {
			r.err = err
			return false
		}
		if rec != nil {
			r.rec = rec
			return true
		}
	}
	return false
}

// Record returns what Scan has read: a *Header, which comes first, a *Ring, a *Calls or a *Windows.
func (r *Reader) Record() any { return r.rec }

// Err returns the error that ended the reading, or nil at the end of a complete file.
func (r *Reader) Err() error { return r.err }

func (r *Reader) damaged(what string) error {
	return fmt.Errorf("%s is damaged after byte %d: %s", r.name, r.offset, what)
}

func (r *Reader) read(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r.r, b)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, r.damaged("it ends too early")
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", r.name, err)
	}
	r.offset += int64(n)
	return b, nil
}

func word(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }

// small returns a word as an int. If the word is not a number from 0 to MaxInt32, the result is -1.
func small(b []byte, i int) int {
	if v := word(b, i); v >= 0 && v <= math.MaxInt32 {
		return int(v)
	}
	return -1
}

func (r *Reader) header() bool {
	b, err := r.read(headerSize)
	if err != nil {
		r.err = err
		return false
	}
	if word(b, 0) != magic {
		r.err = fmt.Errorf("%s is not a file of probes, or it is from another version of gasm", r.name)
		return false
	}
	r.left = max(0, word(b, 3)-headerSize)
	r.rec = &Header{PID: small(b, 1), StartMonoNanos: word(b, 2), Refused: max(0, word(b, 4)),
		Uncounted: max(0, word(b, 5)), StopMonoNanos: word(b, 6)}
	return true
}

// segment reads one segment of the file. It returns nil if Scan should skip the segment, because its kind is unknown or
// it is not in use.
func (r *Reader) segment() (any, error) {
	head, err := r.read(8 * headWords)
	if err != nil {
		return nil, err
	}
	size := word(head, 1)
	if size == 0 && r.inner >= 8*headWords { // the rest of the outer segment is not in use yet
		rest := r.inner - 8*headWords
		r.left, r.inner = r.left-r.inner, 0
		_, err := r.read(int(rest))
		return nil, err
	}
	limit := r.left
	if r.inner > 0 {
		limit = r.inner
	}
	if size < 8*headWords || size > maxSegment || size > limit || size%8 != 0 {
		return nil, r.damaged("a segment has an impossible size")
	}
	if word(head, 0) == 4 && r.inner == 0 {
		r.left, r.inner = r.left-8*headWords, size-8*headWords
		return nil, nil
	}
	if r.inner > 0 {
		r.inner -= size
	}
	body, err := r.read(int(size) - 8*headWords)
	if err != nil {
		return nil, err
	}
	r.left -= size
	switch word(head, 0) {
	case 1:
		return r.ring(head, body)
	case 2:
		return r.calls(head, body)
	case 3:
		return r.windows(head, body)
	}
	return nil, nil
}

// order returns the index of the oldest event in a ring, how many events are in the ring, and how many were
// overwritten.
func order(written int64, capacity int) (first, n int, dropped int64) {
	if written <= int64(capacity) {
		return 0, int(max(0, written)), 0
	}
	return int(written % int64(capacity)), capacity, written - int64(capacity)
}

func (r *Reader) capacity(head, body []byte) (int, error) {
	capacity := small(head, 5)
	if capacity <= 0 || 24*capacity > len(body) {
		return 0, r.damaged("a ring is larger than its segment")
	}
	return capacity, nil
}

func (r *Reader) ring(head, body []byte) (*Ring, error) {
	capacity, err := r.capacity(head, body)
	if err != nil {
		return nil, err
	}
	written := max(0, word(head, 4))
	first, n, dropped := order(written, capacity)
	return &Ring{Slot: int(int32(word(head, 2))), TID: small(head, 3), Thread: threadName(head[64:128]),
		Written: written, Dropped: dropped, body: body, first: first, n: n, capacity: capacity}, nil
}

func threadName(b []byte) string {
	name, _, _ := strings.Cut(string(b), "\x00")
	return strings.ToValidUTF8(name, "?")
}

func (r *Reader) calls(head, body []byte) (*Calls, error) {
	if len(body) < 8*Buckets {
		return nil, r.damaged("the calls of a method are cut")
	}
	c := &Calls{Slot: int(int32(word(head, 2))), Site: small(head, 3), Entries: max(0, word(head, 4)),
		Returns: max(0, word(head, 5)), Throws: max(0, word(head, 6)), Nanos: max(0, word(head, 7)),
		MaxNanos: max(0, word(head, 8))}
	for i := range c.Histogram {
		c.Histogram[i] = max(0, word(body, i))
	}
	return c, nil
}

func (r *Reader) windows(head, body []byte) (*Windows, error) {
	capacity, err := r.capacity(head, body)
	if err != nil {
		return nil, err
	}
	first, n, dropped := order(word(head, 4), capacity)
	w := &Windows{Slot: int(int32(word(head, 2))), Dropped: dropped, Spans: make([]Span, 0, n+1)}
	for i := range n {
		at := 24 * ((first + i) % capacity)
		w.add(body[at : at+24])
	}
	if open := word(head, 6); open > 0 {
		w.Spans = append(w.Spans, Span{TID: small(head, 3), Site: small(head, 7), FromMonoNanos: open,
			ToMonoNanos: math.MaxInt64})
	}
	return w, nil
}

// BucketRange returns the range [lo, hi) of times in ns that a bucket counts. Each of the first 32 buckets counts a
// single nanosecond. Above that, there are 16 buckets per power of two. The last bucket also counts all longer times.
func BucketRange(i int) (lo, hi int64) {
	if i < 32 {
		return int64(i), int64(i) + 1
	}
	power := 5 + (i-32)/16
	step := int64(1) << (power - 4)
	lo = int64(1)<<power + int64((i-32)%16)*step
	return lo, lo + step
}

// Bucket returns the index of the bucket that counts a time in ns.
func Bucket(nanos int64) int {
	if nanos < 32 {
		return int(max(0, nanos))
	}
	power := bits.Len64(uint64(nanos)) - 1
	if power > 39 {
		return Buckets - 1
	}
	return 32 + (power-5)*16 + int(nanos>>(power-4)&15)
}
