package nmethod

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// Known reports whether this package knows how a feature release of the JDK encodes debug info. For these releases, the
// tests compare copies with what HotSpot prints.
func Known(release int) bool {
	switch release {
	case 11, 17, 21, 25, 26, 27, 28:
		return true
	}
	return false
}

// ErrGone means that a method was gone before it could be copied: its nmethod was freed, or another nmethod has its
// memory now.
var ErrGone = errors.New("the method was gone before it was copied")

// A Copier copies compiled methods out of the memory of one JVM. It must not be used by several goroutines at once.
type Copier struct {
	vm     *vmstructs.VM
	layout layout

	names Names

	// These fields have what copies of all methods need. They are read only once, because they do not change.
	prepared  bool
	symbols   map[string]uint64 // of libjvm.so
	bytecodes *[256]string      // names, by HotSpot's numbers
	tables    []virtualTable
	heaps     []codeHeap

	// These fields cache what was read for earlier methods. Forget empties all of them except kinds.
	methods  map[uint64]*method      // by the address of the Method
	classes  map[uint64]string       // names, by the address of the Klass
	members  map[memberKey]string    // names; "" where none could be read
	kinds    map[uint64]metadataKind // by the address of the table of virtual functions
	metadata map[uint64]string       // descriptions, by address; "" where none could be read
	targets  map[uint64]string       // names of the targets of calls, by address; "" where there is none

	kept map[uint64]keptMethod // methods of the interpreter, by address; Forget does not empty it

	// The classes whose source files were looked up, and the files that AppendSourceFiles has not written yet.
	sourced map[string]bool
	untold  []sourceFile

	profiler *profiler // nil until the first profile
	bodies   bodies

	forgetAt time.Time // when ForgetStale is to call Forget

	code Code // the result of the last Copy
}

// NewCopier returns a Copier for a JVM of JDK 8 or newer.
func NewCopier(vm *vmstructs.VM) (*Copier, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	c := &Copier{vm: vm, layout: l, sourced: map[string]bool{}, kept: map[uint64]keptMethod{}}
	c.Forget()
	return c, nil
}

// Frames returns why copies have no frames and no relocations: the JVM's release is not [Known], or HotSpot's tables
// lack something that is needed. It returns nil if copies have both.
func (c *Copier) Frames() error {
	c.prepare()
	return c.layout.noFrames
}

// Forget discards the names of methods, classes, members, metadata and call targets. Until the next call of Forget, a
// Copier reads the name at each address only once. Call Forget after classes were unloaded or code was freed, because
// HotSpot may reuse their addresses.
func (c *Copier) Forget() {
	c.methods, c.classes, c.members = map[uint64]*method{}, map[uint64]string{}, map[memberKey]string{}
	c.metadata, c.targets = map[uint64]string{}, map[uint64]string{}
	if c.profiler != nil {
		clear(c.profiler.numbers)
		clear(c.profiler.classes)
	}
}

// keepNames is how long names of classes and methods are assumed to be valid. The JVM can unload a class at any time,
// and put another one at its address.
const keepNames = 250 * time.Millisecond

// ForgetStale calls Forget, unless its last call of Forget was less than keepNames ago.
func (c *Copier) ForgetStale() {
	if now := time.Now(); now.After(c.forgetAt) {
		c.Forget()
		c.forgetAt = now.Add(keepNames)
	}
}

// prepare reads what all methods need. It does so only in its first call.
func (c *Copier) prepare() {
	if c.prepared {
		return
	}
	c.prepared = true
	// Most of a copy needs no symbols, so a library that was stripped of its symbols is not an error.
	c.symbols, _ = c.vm.Symbols(append(slices.Collect(maps.Keys(virtualTables)), javaCodes)...)
	c.kinds = map[uint64]metadataKind{}
	c.readVirtualTables()
	var err error
	if c.bytecodes, err = c.readBytecodes(); c.layout.noFrames == nil {
		c.layout.noFrames = err
	}
}
