package codecache

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A Namer returns the name and the bytecode size of the Method at an address. The name has the form
// "pkg.Class::method", as in printassembly.Installed.
type Namer func(method uint64) (name string, bytecodeSize int, err error)

// A Cache knows which code is in the code cache of one JVM, and which code was in it earlier. Only one goroutine may
// call Poll at a time. Any goroutine may call [Cache.At], [Cache.Only], [Cache.Find] and [Cache.Generation], which do
// not wait for the JVM.
type Cache struct {
	vm     *vmstructs.VM
	layout *layout
	namer  Namer
	watch  watch
	heaps  []*heap
	pieces pieces

	jvmci      bool              // code of level 4 comes from a JVMCI compiler instead of C2
	names      map[uint64]string // names of blobs that this Poll has read, by the address of the text
	nmethods   map[uint64]string // the names "nmethod" and "native nmethod", by their addresses; kept for later Polls
	now, last  int64             // times of this Poll and of the previous one
	notBefore  int64             // Blob.NotBeforeMonoNanos for blobs that are found now
	generation int               // increases with each pass over the blocks of a heap
	fresh      []*freshBlock
	failures   int    // Polls in a row that failed
	blockBuf   []byte // memory for the blocks of the current batch
	changes    Changes

	mu      sync.RWMutex // guards the fields below, and LastMonoNanos and GoneMonoNanos of all Blobs
	current []*Blob      // the blobs that are there now, sorted by address
	history history
	version int // counts the Polls that have found changes
}

// New returns a Cache for a JVM. It is empty until the first Poll.
func New(vm *vmstructs.VM, name Namer) (*Cache, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	c := &Cache{vm: vm, layout: l, namer: name, names: map[uint64]string{}, nmethods: map[uint64]string{},
		history: newHistory()}
	if err := c.watch.find(vm, l); err != nil {
		return nil, err
	}
	return c, nil
}

// maxFailures is the number of Polls in a row that may fail before an error is reported. Single failures are normal,
// because HotSpot's pointers are invalid for short moments while it starts. An error is reported at once if the process
// has ended, or if the kernel does not let gasm read it.
const maxFailures = 50

// Poll finds out what has changed since the last Poll. The first Poll finds all blobs. If nothing has changed, a Poll
// takes one system call.
//
// An error means that the JVM's memory can't be read. The error wraps syscall.ESRCH if the process has ended. Poll also
// returns the changes that it found before the error.
func (c *Cache) Poll(nowMonoNanos int64) (Changes, error) {
	c.now = nowMonoNanos
	c.notBefore = c.last
	c.changes, c.fresh = Changes{}, c.fresh[:0]
	clear(c.names)
	err := c.poll()
	c.finish()
	c.last = nowMonoNanos
	if err == nil {
		c.failures = 0
		return c.changes, nil
	}
	for _, hp := range c.heaps {
		hp.walkAgain = true
	}
	c.failures++
	if c.failures <= maxFailures && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM) {
		return c.changes, nil
	}
	return c.changes, fmt.Errorf("reading the code cache: %w", err)
}

func (c *Cache) poll() error {
	if err := c.watch.read(c); err != nil {
		return err
	}
	if err := c.findStubList(); err != nil {
		return err
	}
	if err := c.pieces.read(c); err != nil {
		return err
	}
	for _, hp := range c.heaps {
		if err := c.pollHeap(hp); err != nil {
			return err
		}
	}
	if err := c.nameFresh(); err != nil {
		return err
	}
	if c.pieces.changed {
		c.splitAgain()
		c.pieces.changed = false
	}
	return nil
}

// recheck is the shortest pause between two passes over a heap whose CodeHeap has not changed. Such passes are needed
// while the JVM compiles, because HotSpot may free a method between two Polls and put another one into the same memory.
// Then the CodeHeap looks the same as before.
const recheck = 250 * time.Millisecond

// pollHeap reads what has changed in one heap.
func (c *Cache) pollHeap(hp *heap) error {
	before := hp.next
	grown, changed := hp.update(c.layout)
	pause := max(recheck, 50*hp.walkTook)
	compiled := hp.compileIDs != c.watch.compileIDs
	if len(c.watch.counts) == 0 { // without the counters of compile ids, assume that the JVM compiles
		compiled, pause = true, 4*pause
	}
	unexplained := !changed && compiled && c.now-hp.walked > int64(pause)
	if changed || hp.walkAgain || unexplained || hp.next < before {
		if unexplained {
			c.notBefore = hp.walked
		}
		// HotSpot may still be changing the heap while it is read here, so the next Poll reads it once more.
		hp.walkAgain = changed
		started := time.Now()
		if err := c.readBlocks(hp, 0); err != nil {
			return err
		}
		hp.walked, hp.walkTook, hp.compileIDs = c.now, time.Since(started), c.watch.compileIDs
		c.notBefore = c.last
		return nil
	}
	if err := c.readUnsettled(hp); err != nil || !grown {
		return err
	}
	return c.readBlocks(hp, before)
}

// finish updates the list of blobs and the history with what a Poll has found.
func (c *Cache) finish() {
	if !c.changes.Any() {
		return
	}
	byAddress := func(a, b *Blob) int {
		if a.Lo < b.Lo {
			return -1
		}
		return min(int(a.Lo-b.Lo), 1)
	}
	slices.SortFunc(c.changes.Added, byAddress)
	slices.SortFunc(c.changes.Gone, byAddress)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	for _, b := range c.changes.Gone {
		b.LastMonoNanos, b.GoneMonoNanos = max(c.last, b.SinceMonoNanos), c.now
		c.history.add(b)
	}
	merged := make([]*Blob, 0, len(c.current)+len(c.changes.Added))
	added := c.changes.Added
	for _, b := range c.current {
		if b.Gone() {
			continue
		}
		for len(added) > 0 && added[0].Lo < b.Lo {
			merged, added = append(merged, added[0]), added[1:]
		}
		merged = append(merged, b)
	}
	merged = append(merged, added...)
	// Two blobs overlap only if the memory was read while HotSpot changed it. The blob at the higher address is left
	// out here, and the next Poll corrects the error.
	end := uint64(0)
	c.current = slices.DeleteFunc(merged, func(b *Blob) bool {
		if b.Lo < end {
			return true
		}
		end = b.Hi
		return false
	})
}

// add appends new blobs to c.changes.Added. notBefore is a time at which they were not there yet.
func (c *Cache) add(notBefore int64, blobs ...*Blob) {
	for _, b := range blobs {
		b.SinceMonoNanos, b.NotBeforeMonoNanos = c.now, notBefore
	}
	c.changes.Added = append(c.changes.Added, blobs...)
}
