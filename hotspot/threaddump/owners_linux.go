package threaddump

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// An owners finds the JavaThread that has a lock, from the data in the lock.
type owners struct {
	java   map[uint64]owner  // by the address of the JavaThread
	byID   map[int64]uint64  // by owner id, in JVMs whose ObjectMonitors hold ids of threads
	stacks []stackOf         // sorted by base
	locked map[uint64]uint64 // see lockStackOwner
	read   time.Time         // when locked was read
}

// A stackOf is the stack of a JavaThread. It grows downwards from the base.
type stackOf struct{ base, java uint64 }

// An owner is a JavaThread that may own locks.
type owner struct {
	nid  int    // its thread id in the JVM's own PID namespace
	base uint64 // of its stack; 0 if it is not known
	id   int64  // in ObjectMonitors; 0 if they hold addresses
}

// newOwner reads a JavaThread.
func (l *Looker) newOwner(at uint64) (o owner, err error) {
	if o.nid, err = l.names.TID(at); err != nil || o.nid == 0 {
		return o, cmp.Or(err, errNotStarted)
	}
	layout := l.capturer.layout
	o.base, _ = l.view.VM.Uint64(at + layout.stackBase.At) // 0 after an error
	if layout.ownerID.At != 0 {
		id, _ := l.view.VM.Uint64(at + layout.ownerID.At) // 0 after an error
		o.id = int64(id)
	}
	return o, nil
}

var errNotStarted = errors.New("the thread has not started")

func (o *owners) add(at uint64, of owner) {
	o.java[at] = of
	if of.id != 0 {
		o.byID[of.id] = at
	}
	if of.base != 0 {
		o.stacks = append(o.stacks, stackOf{of.base, at})
	}
}

func (o *owners) sort() {
	slices.SortFunc(o.stacks, func(a, b stackOf) int { return cmp.Compare(a.base, b.base) })
}

// known reports whether there is a JavaThread at an address.
func (o *owners) known(java uint64) bool {
	_, ok := o.java[java]
	return ok
}

// owner returns the JavaThread that has a lock, or 0.
func (l *Looker) owner(lock *awaited) uint64 {
	switch lock.Kind {
	case WaitingToLock:
		return l.monitorOwner(lock.monitor, lock.Address)
	case ParkingFor:
		if lock.holder == 0 || l.thread.java == 0 {
			return 0
		}
		java, _ := l.view.VM.Uint64(lock.holder + l.thread.java) // 0 after an error
		if l.owners.known(java) {
			return java
		}
	}
	return 0
}

// monitorOwner returns the JavaThread that owns an ObjectMonitor, or 0. See reader.owner.
func (l *Looker) monitorOwner(monitor, object uint64) uint64 {
	layout := l.capturer.layout
	owner, err := l.view.VM.Uint64(monitor + layout.owner.At)
	switch {
	case err != nil || owner == 0:
		return 0
	case owner == anonymous && layout.lockStack != 0:
		return l.lockStackOwner(object)
	case layout.ownerID.At != 0:
		java := l.owners.byID[int64(owner)]
		if java == 0 {
			return 0
		}
		// A carrier has the id of the virtual thread that is mounted on it now.
		if id, err := l.view.VM.Uint64(java + layout.ownerID.At); err != nil || id != owner {
			return 0
		}
		return java
	case l.owners.known(owner):
		return owner
	}
	i, _ := slices.BinarySearchFunc(l.owners.stacks, owner,
		func(s stackOf, at uint64) int { return cmp.Compare(s.base, at) })
	if i < len(l.owners.stacks) && l.owners.stacks[i].base-owner < maxJavaStack {
		return l.owners.stacks[i].java
	}
	return 0
}

// maxJavaStack is an upper bound for the size of a Java thread's stack, in bytes.
const maxJavaStack = 1 << 30

// lockStackEvery is the minimum time between two readings of the lists of locks without an ObjectMonitor, of which each
// JavaThread has one.
const lockStackEvery = time.Second

// lockStackOwner returns the JavaThread that has locked the object without an ObjectMonitor, or 0.
func (l *Looker) lockStackOwner(object uint64) uint64 {
	o := &l.owners
	if java := o.locked[object]; java != 0 && slices.Contains(l.lockedBy(java), object) {
		return java
	}
	if time.Since(o.read) < lockStackEvery {
		return 0
	}
	o.locked, o.read = map[uint64]uint64{}, time.Now()
	for java := range o.java {
		for _, locked := range l.lockedBy(java) {
			o.locked[locked] = java
		}
	}
	return o.locked[object]
}

// lockedBy returns the objects that a JavaThread has locked without an ObjectMonitor.
func (l *Looker) lockedBy(java uint64) []uint64 {
	data, err := l.view.VM.Read(nil, java, l.capturer.layout.javaThread)
	if err != nil {
		return nil
	}
	return l.lockedIn(data)
}
