package virtualthreads

import (
	"bytes"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

const (
	// batch is how many threads are read together. The number is small, so that little time passes between the first
	// and the second reading of a thread.
	batch = 32
	// attempts is the maximum number of attempts to read a thread that changes in the meantime.
	attempts = 3
	// maxFrames is how many bytes of a thread's frames are copied. If the stack is larger, its outer frames are left
	// out.
	maxFrames = 64 << 10
	// maxChunks is the maximum number of a thread's StackChunks that are read.
	maxChunks = 8
)

// A look has copies of the objects of a virtual thread in the heap.
type look struct {
	at     uint64 // address of the VirtualThread
	weight float64
	kind   kind
	thread []byte // the first bytes of the VirtualThread
	cont   uint64 // address of its Continuation; 0 if it is not known
	// tail is the Continuation's reference to the first chunk. It may be the address from before a collector moved the
	// chunk.
	tail    uint64
	chunks  []chunk
	blocker uint64 // the class (Klass) of the object for which the thread is parked, or 0
	nanos   int64  // when it was copied (CLOCK_MONOTONIC)
}

// A kind says what sort of thread, if any, is at an address.
type kind uint8

const (
	unread   kind = iota
	platform      // a platform thread
	mounted
	ended
	unmounted
)

// A chunk is a copy of a StackChunk, and of its frames.
type chunk struct {
	at     uint64
	header []byte
	frames stack.Frozen
	cut    bool // some outer frames were not copied
}

// read reads threads. Threads that change while they are read are read again.
func (c *Counter) read(looks []*look) {
	for range attempts {
		var again []*look
		for len(looks) > 0 {
			n := min(len(looks), batch)
			again = append(again, c.readBatch(looks[:n])...)
			looks = looks[n:]
		}
		if looks = again; len(looks) == 0 {
			return
		}
	}
}

// readBatch reads some threads. It returns those that changed while they were read, and sets their kind to unread.
func (c *Counter) readBatch(looks []*look) (changed []*look) {
	var waiting []*look
	at := addresses(looks)
	for i, data := range c.copies(at, c.layout.thread) {
		l := looks[i]
		*l = look{at: at[i], weight: l.weight, thread: data}
		if l.kind = c.kindOf(data); l.kind == unmounted {
			waiting = append(waiting, l)
		}
	}
	c.findChunks(waiting)
	changed = c.snapshot(waiting)
	c.readBlockers(waiting)
	return changed
}

// readBlockers finds out for which objects the threads are parked.
func (c *Counter) readBlockers(looks []*look) {
	blockers := make([]uint64, len(looks))
	for i, l := range looks {
		blockers[i] = c.heap.RefIn(l.thread, c.layout.blocker)
	}
	for i, data := range c.copies(blockers, 16) {
		looks[i].blocker = c.heap.ClassIn(data)
	}
}

func addresses(looks []*look) (all []uint64) {
	for _, l := range looks {
		all = append(all, l.at)
	}
	return all
}

// kindOf returns the kind of a thread, from a copy of the thread's object.
func (c *Counter) kindOf(thread []byte) kind {
	class := c.heap.ClassIn(thread)
	switch {
	case class == 0:
		return unread
	case class != c.classes.Class(virtualClass):
		if c.isThread(class) {
			return platform
		}
		return unread
	}
	switch _, in := stateOf(le32(thread, c.layout.state)); in {
	case "":
		return unread
	case inMounted:
		return mounted
	case inEnded:
		return ended
	}
	return unmounted
}

// maxSupers limits how many superclasses isThread checks.
const maxSupers = 32

// isThread reports whether a class extends java.lang.Thread. Its objects are platform threads.
func (c *Counter) isThread(class uint64) bool {
	is, known := c.threads[class]
	if known {
		return is
	}
	thread, super := c.classes.Class(threadClass), class
	for range maxSupers {
		if super == 0 || super%8 != 0 || super == thread {
			break
		}
		super, _ = c.vm.Uint64(super + c.super) // 0 after an error
	}
	if len(c.threads) < maxClasses {
		c.threads[class] = super == thread
	}
	return super == thread
}

// maxClasses is the maximum number of classes in Counter.threads, and in Counter.blockers.
const maxClasses = 1 << 12

// findChunks finds the Continuations of threads, and their StackChunks.
func (c *Counter) findChunks(looks []*look) {
	l := c.layout
	conts := make([]uint64, len(looks))
	for i, k := range looks {
		conts[i] = c.heap.RefIn(k.thread, l.cont)
	}
	next := map[*look]uint64{} // the next StackChunk of each thread
	for i, data := range c.copies(conts, l.continuation) {
		looks[i].cont, looks[i].tail = conts[i], c.heap.RefIn(data, l.tail)
		next[looks[i]] = looks[i].tail
	}
	for range maxChunks {
		var of []*look
		var at []uint64
		for _, k := range looks {
			if next[k] != 0 {
				of, at = append(of, k), append(at, next[k])
			}
		}
		if len(of) == 0 {
			return
		}
		clear(next)
		for i, header := range c.copies(at, l.frames) {
			of[i].chunks = append(of[i].chunks, chunk{at: at[i], header: header})
			if c.isChunk(header) {
				next[of[i]] = c.heap.RefIn(header, l.parent)
			}
		}
	}
}

// snapshot reads threads once more, together with their frames. It reads all parts of a thread with one system call,
// which takes a few microseconds. It returns the threads that have changed in the meantime.
//
// To notice changes, snapshot reads the thread and the headers of its StackChunks twice: before the frames and after
// them. Then it reads the frames and the thread once more. Without that, it could miss this case: gasm is interrupted
// between two reads, and meanwhile the thread parks elsewhere and then again where it was before. Then both copies of
// the thread are equal, but the frames are those of the other place.
func (c *Counter) snapshot(looks []*look) (changed []*look) {
	l := c.layout
	var pieces []vmstructs.Piece
	add := func(at, size uint64) { pieces = append(pieces, vmstructs.Piece{Addr: at, Buf: make([]byte, size)}) }
	first := make([]int, len(looks)+1)
	now := monotonic.Nanos()
	for i, k := range looks {
		k.nanos = now
		add(k.at, l.thread)
		add(k.cont, l.continuation)
		for n := range k.chunks {
			add(k.chunks[n].at, l.frames)
			add(c.framesOf(&k.chunks[n]))
		}
		for n := range k.chunks {
			add(k.chunks[n].at, l.frames)
		}
		add(k.at, l.thread)
		for n := range k.chunks {
			frames := &pieces[first[i]+3+2*n]
			add(frames.Addr, uint64(len(frames.Buf)))
		}
		add(k.at, l.thread)
		first[i+1] = len(pieces)
	}
	read := c.gather(pieces)
	for i, k := range looks {
		from, to := first[i], first[i+1]
		if slices.Contains(read[from:to], false) || !c.take(k, pieces[from:to]) {
			k.kind = unread
			changed = append(changed, k)
		}
	}
	return changed
}

// framesOf returns the address of a StackChunk's frames, and how many bytes of them are to be copied. It sets the
// chunk's fields that depend on these sizes.
func (c *Counter) framesOf(k *chunk) (at, copied uint64) {
	word := func(at uint64) uint64 { return uint64(le32(k.header, at)) }
	size, sp, bottom := word(c.layout.size), word(c.layout.sp), word(c.layout.bottom)
	if !c.isChunk(k.header) || sp >= bottom || c.copied >= maxCopied {
		k.cut = sp < bottom
		return k.at, 0
	}
	want := 8*(size-sp) + stack.FrozenHeader
	copied = min(want, maxFrames)
	c.copied += int(copied)
	k.cut = copied < want
	k.frames.Size = min(8*(bottom-sp)+stack.FrozenHeader, copied)
	return k.at + c.layout.frames + 8*sp - stack.FrozenHeader, copied
}

// take stores what snapshot has read of a thread. It reports whether the thread was unchanged since its first reading,
// and stayed unchanged during the snapshot.
func (c *Counter) take(k *look, pieces []vmstructs.Piece) bool {
	n := len(k.chunks)
	thread, cont, again, last := pieces[0].Buf, pieces[1].Buf, pieces[2+3*n].Buf, pieces[3+4*n].Buf
	if !c.sameThread(k.thread, thread) || !c.sameThread(thread, again) || !c.sameThread(thread, last) ||
		c.heap.ClassIn(cont) != c.classes.Class(ownClass) || c.heap.RefIn(cont, c.layout.tail) != k.tail {
		return false
	}
	for i := range k.chunks {
		header, frames, again := pieces[2+2*i].Buf, pieces[3+2*i].Buf, pieces[2+2*n+i].Buf
		// The first word is not compared, because a collector may change it.
		before := k.chunks[i].header
		if before == nil || !c.isChunk(header) || !bytes.Equal(header[8:], before[8:]) ||
			!bytes.Equal(header[8:], again[8:]) || !bytes.Equal(frames, pieces[3+3*n+i].Buf) {
			return false
		}
		k.chunks[i].frames.Data = frames
	}
	return true
}

// isChunk reports whether a copied header is that of a StackChunk and its numbers are plausible.
func (c *Counter) isChunk(header []byte) bool {
	l := c.layout
	size, sp, bottom := le32(header, l.size), le32(header, l.sp), le32(header, l.bottom)
	return header != nil && c.heap.ClassIn(header) == c.classes.Class(chunkClass) && size <= maxWords && bottom <= size &&
		sp <= size && (sp >= stack.FrozenHeader/8 || sp >= bottom)
}

// maxWords is an upper bound for the size of a StackChunk, in words. Stacks have 1 GB at most.
const maxWords = 1 << 27

// maxCopied limits how many bytes of frames are copied for one count. Each of them is read twice. When the limit is
// reached, the other threads get no frames.
const maxCopied = 32 << 20

// sameThread reports whether two copies are of the same thread, and show the thread waiting for the same thing.
func (c *Counter) sameThread(a, b []byte) bool {
	l := c.layout
	return c.heap.ClassIn(a) == c.heap.ClassIn(b) && le32(a, l.state) == le32(b, l.state) &&
		c.heap.RefIn(a, l.cont) == c.heap.RefIn(b, l.cont) && c.heap.RefIn(a, l.blocker) == c.heap.RefIn(b, l.blocker)
}
