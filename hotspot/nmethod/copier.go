package nmethod

import (
	"errors"
	"fmt"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// Known tells whether this package knows the debug info of a feature release of the
// JDK: its copies were compared with what that release prints.
func Known(release int) bool {
	switch release {
	case 11, 17, 21, 25:
		return true
	}
	return false
}

// Copyable tells why the code of JVMs of a feature release, started by this process,
// can't be copied; nil when it can be.
func Copyable(release int) error {
	if !Known(release) {
		return unknownRelease(release)
	}
	return vmstructs.Allowed()
}

func unknownRelease(release int) error {
	return fmt.Errorf("gasm does not know the memory of JDK %d", release)
}

// ErrGone tells that a method was gone before it could be copied: its nmethod was
// freed, or its memory has another nmethod by now.
var ErrGone = errors.New("the method was gone before it was copied")

// A Copier copies compiled methods out of the memory of one JVM. It is for one
// goroutine.
type Copier struct {
	vm     *vmstructs.VM
	layout layout

	// What was read before, see Forget.
	methods map[uint64]*method   // by the address of the Method
	classes map[uint64]string    // names, by the address of the Klass
	members map[memberKey]string // names; "" where none could be read

	code Code // of the last Copy
}

// NewCopier makes a Copier for a JVM. JDK 8 is the oldest that it can be.
func NewCopier(vm *vmstructs.VM) (*Copier, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	c := &Copier{vm: vm, layout: l}
	c.Forget()
	return c, nil
}

// Frames tells why copies have no frames: the JVM's release is not [Known], or its
// tables lack something. It is nil where they have frames.
func (c *Copier) Frames() error { return c.layout.noFrames }

// Forget forgets the names of methods, classes and members, which a Copier otherwise
// reads once for each address. When classes are unloaded, HotSpot may put others at
// their addresses.
func (c *Copier) Forget() {
	c.methods, c.classes, c.members = map[uint64]*method{}, map[uint64]string{}, map[memberKey]string{}
}
