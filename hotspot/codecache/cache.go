package codecache

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A Namer gives the name ("pkg.Class::method", as printassembly.Installed has it) and the
// size of the bytecode of the Method at an address.
type Namer func(method uint64) (name string, bytecodeSize int, err error)

// A Cache knows what is and was in the code cache of one JVM. It is for one goroutine.
type Cache struct {
	vm     *vmstructs.VM
	layout *layout
	namer  Namer
	watch  watch
	heaps  []*heap
	pieces pieces

	jvmci      bool              // level 4 is compiled by a JVMCI compiler
	names      map[uint64]string // of blobs, by address; read in this Poll
	nmethods   map[uint64]string // those of nmethods, which never change
	current    []*Blob           // by address
	history    history
	now, last  int64 // this Poll and the one before
	notBefore  int64 // for what is found now
	generation int   // counts walks through a whole heap
	fresh      []*freshBlock
	failures   int    // Polls that failed in a row
	blockBuf   []byte // of the blocks that are just being read
	changes    Changes
}

// New makes a Cache of a JVM. Nothing is known before the first Poll.
func New(vm *vmstructs.VM, name Namer) (*Cache, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	c := &Cache{vm: vm, layout: l, namer: name, names: map[uint64]string{}, nmethods: map[uint64]string{}, history: newHistory()}
	if err := c.watch.find(vm, l); err != nil {
		return nil, err
	}
	return c, nil
}

// maxFailures is how many Polls may fail in a row before they are taken to fail for good.
// While HotSpot starts, its structures lead nowhere for moments.
const maxFailures = 50

// Poll looks what has changed since the last Poll. The first one finds all that there is.
// If nothing has changed, it takes one system call.
//
// An error says that the memory can't be read, as when the process has ended; syscall.ESRCH
// then. It comes with what was found before.
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

// recheck is how long what seems unchanged is believed while the JVM compiles. A method
// that was freed and another one that got the same memory between two Polls leave no trace
// in the heap.
const recheck = 250 * time.Millisecond

// pollHeap reads of one heap what has changed.
func (c *Cache) pollHeap(hp *heap) error {
	before := hp.next
	grown, changed := hp.update(c.layout)
	pause := max(recheck, 50*hp.walkTook)
	compiled := hp.compileIDs != c.watch.compileIDs
	if len(c.watch.counts) == 0 { // nothing tells
		compiled, pause = true, 4*pause
	}
	unexplained := !changed && compiled && c.now-hp.walked > int64(pause)
	if changed || hp.walkAgain || unexplained || hp.next < before {
		if unexplained {
			c.notBefore = hp.walked
		}
		// What HotSpot was about to change while it was read is read once more.
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

// finish makes the lists of what a Poll has found.
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
	// Two blobs overlap only if the memory was read while HotSpot changed it. The next Poll knows better.
	end := uint64(0)
	c.current = slices.DeleteFunc(merged, func(b *Blob) bool {
		if b.Lo < end {
			return true
		}
		end = b.Hi
		return false
	})
}

// add makes blobs known, which were not there at a moment.
func (c *Cache) add(notBefore int64, blobs ...*Blob) {
	for _, b := range blobs {
		b.SinceMonoNanos, b.NotBeforeMonoNanos = c.now, notBefore
	}
	c.changes.Added = append(c.changes.Added, blobs...)
}
