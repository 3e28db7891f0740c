package virtualthreads

import (
	"fmt"

	"github.com/gasm-profiler/gasm/hotspot/classes"
	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// The names of classes that a Counter needs.
const (
	threadClass       = "java/lang/Thread"
	virtualClass      = "java/lang/VirtualThread"
	continuationClass = "jdk/internal/vm/Continuation"
	ownClass          = "java/lang/VirtualThread$VThreadContinuation"
	chunkClass        = "jdk/internal/vm/StackChunk"

	mapClass        = "java/util/concurrent/ConcurrentHashMap"
	viewClass       = "java/util/concurrent/ConcurrentHashMap$CollectionView"
	nodeClass       = "java/util/concurrent/ConcurrentHashMap$Node"
	treeNodeClass   = "java/util/concurrent/ConcurrentHashMap$TreeNode"
	treeBinClass    = "java/util/concurrent/ConcurrentHashMap$TreeBin"
	forwardingClass = "java/util/concurrent/ConcurrentHashMap$ForwardingNode"
	cellClass       = "java/util/concurrent/ConcurrentHashMap$CounterCell"

	containersClass = "jdk/internal/vm/ThreadContainers"
	trackingClass   = "jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer"
	countingClass   = "jdk/internal/vm/ThreadContainers$RootContainer$CountingRootContainer"
	referenceClass  = "java/lang/ref/Reference"
	executorClass   = "java/util/concurrent/ThreadPerTaskExecutor"
	sharedClass     = "jdk/internal/vm/SharedThreadContainer"
	scopeClass      = "jdk/internal/vm/StackableScope"
	flockClass      = "jdk/internal/misc/ThreadFlock"
	flockScopeClass = "jdk/internal/misc/ThreadFlock$ThreadContainerImpl"
	stripedClass    = "java/util/concurrent/atomic/Striped64"
	stripeClass     = "java/util/concurrent/atomic/Striped64$Cell"
)

// names are the names of all these classes. A JVM loads most of them only when it needs them.
var names = []string{threadClass, virtualClass, continuationClass, ownClass, chunkClass, mapClass, viewClass, nodeClass,
	treeNodeClass, treeBinClass, forwardingClass, cellClass, containersClass, trackingClass, countingClass,
	referenceClass, executorClass, sharedClass, scopeClass, flockClass, flockScopeClass, stripedClass, stripeClass}

// A layout has the offsets of those fields of Java's classes that a Counter reads. An offset is 0 if the field's class
// is not loaded.
type layout struct {
	state, cont, blocker, scopes         uint64 // fields of a VirtualThread
	thread                               uint64 // how many bytes of a VirtualThread are read
	tail, continuation                   uint64 // field of a Continuation; how many of its bytes are read
	parent, size, sp, bottom             uint64 // fields of a StackChunk
	frames                               uint64 // offset of the frames in a StackChunk
	view                                 uint64 // of a CollectionView: the field that refers to its map
	table, base, cells, hashMap          uint64 // fields of a ConcurrentHashMap; how many of its bytes are read
	key, next, first, nextTable, nodeEnd uint64 // fields of a Node, TreeBin or ForwardingNode; how many bytes are read
	cell                                 uint64 // the number in a CounterCell
	referent                             uint64 // field of a Reference
	executor, shared                     uint64 // of containers: the fields that refer to their sets of threads
	previous, flock, flockThreads        uint64 // fields of scopes of structured concurrency
	stripeBase, stripes, stripe          uint64 // fields of a Striped64; the number in its Cell

	registry, tracked, counted uint64 // addresses of objects that static fields of the root container refer to
}

// A finder finds the offsets of fields, and remembers the first error.
type finder struct {
	heap    *heap.Heap
	classes *classes.Finder
	err     error
}

// field returns the offset of a field. It returns 0 if the class is not loaded.
func (f *finder) field(class, name string) uint64 {
	at := f.classes.Class(class)
	if at == 0 || f.err != nil {
		return 0
	}
	offset, err := f.heap.Offset(at, name)
	if err != nil {
		f.err = fmt.Errorf("%s: %w", class, err)
	}
	return offset
}

// newLayout returns the layout of a JVM. The JVM must have loaded ownClass, which it does when it creates its first
// virtual thread.
func newLayout(vm *vmstructs.VM, h *heap.Heap, loaded *classes.Finder) (*layout, error) {
	f := &finder{heap: h, classes: loaded}
	l := &layout{
		state: f.field(virtualClass, "state"), cont: f.field(virtualClass, "cont"),
		blocker: f.field(threadClass, "parkBlocker"), scopes: f.field(threadClass, "headStackableScopes"),
		tail:   f.field(continuationClass, "tail"),
		parent: f.field(chunkClass, "parent"), size: f.field(chunkClass, "size"), sp: f.field(chunkClass, "sp"),
		bottom: f.field(chunkClass, "bottom"),
		view:   f.field(viewClass, "map"),
		table:  f.field(mapClass, "table"), base: f.field(mapClass, "baseCount"), cells: f.field(mapClass, "counterCells"),
		key: f.field(nodeClass, "key"), next: f.field(nodeClass, "next"),
		first: f.field(treeBinClass, "first"), nextTable: f.field(forwardingClass, "nextTable"),
		cell: f.field(cellClass, "value"), referent: f.field(referenceClass, "referent"),
		executor: f.field(executorClass, "threads"), shared: f.field(sharedClass, "virtualThreads"),
		previous: f.field(scopeClass, "previous"), flock: f.field(flockScopeClass, "flock"),
		flockThreads: f.field(flockClass, "threads"),
		stripeBase:   f.field(stripedClass, "base"), stripes: f.field(stripedClass, "cells"),
		stripe: f.field(stripeClass, "value"),
	}
	l.thread = max(l.state, l.cont, l.blocker, l.scopes) + 8
	l.continuation = l.tail + 8
	l.hashMap = max(l.table, l.base, l.cells) + 8
	l.nodeEnd = max(l.key, l.next, l.first, l.nextTable) + 8
	most := max(l.thread, l.continuation, l.hashMap, l.nodeEnd, l.view, l.referent, l.executor, l.shared, l.previous,
		l.flock, l.flockThreads)
	if f.err == nil && most > maxInstance {
		f.err = fmt.Errorf("virtual threads: no object has %d bytes", most)
	}
	if f.err == nil {
		l.frames, f.err = instanceSize(vm, loaded.Class(chunkClass))
	}
	return l, f.err
}

// maxInstance is an upper bound for the size of an object in bytes, without the frames of a StackChunk.
const maxInstance = 1 << 10

// instanceSize returns the size in bytes of the objects of a class (Klass::layout_helper_size_in_bytes). In a
// StackChunk, the frames come after these bytes.
func instanceSize(vm *vmstructs.VM, class uint64) (uint64, error) {
	q := vmstructs.Query{VM: vm, Of: "the virtual threads of "}
	helper := q.Field("Klass::_layout_helper")
	if q.Missing != nil {
		return 0, q.Missing
	}
	size, err := vm.Uint32(class + helper.At)
	if err == nil && (size < 16 || size > maxInstance) {
		err = fmt.Errorf("the size of a StackChunk can't be %d", size)
	}
	return uint64(size) &^ 7, err
}

// findRoots reads the static fields from which all virtual threads can be reached. It must be called for each count,
// because a collector may move the objects that the fields refer to.
func (c *Counter) findRoots() {
	l := c.layout
	l.registry = c.static(containersClass, "CONTAINER_REGISTRY")
	l.tracked = c.static(trackingClass, "VTHREADS")
	l.counted = c.static(countingClass, "VTHREAD_COUNT")
}

// static returns the object to which a static field refers, or 0.
func (c *Counter) static(class, field string) uint64 {
	at := c.classes.Class(class)
	if at == 0 {
		return 0
	}
	key := class + "." + field
	offset, known := c.statics[key]
	if !known {
		offset, _ = c.heap.Offset(at, field) // 0 after an error
		c.statics[key] = offset
	}
	if offset == 0 {
		return 0
	}
	handle, err := c.vm.Uint64(at + c.mirror)
	if err != nil {
		return 0
	}
	mirror, err := c.heap.Handle(handle)
	if err != nil || mirror == 0 {
		return 0
	}
	object, _ := c.heap.Ref(mirror, offset) // 0 after an error
	return object
}
