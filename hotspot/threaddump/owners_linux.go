package threaddump

import (
	"cmp"
	"slices"
	"time"
)

// owners finds the JavaThread that has a lock, by what the lock says of it.
type owners struct {
	java   map[uint64]bool   // the addresses of all JavaThreads
	byID   map[int64]uint64  // where ObjectMonitors have the ids of threads as their owners
	stacks []stackOf         // by base
	locked map[uint64]uint64 // see lockStackOwner
	read   time.Time         // when locked was made
}

// A stackOf is the stack of a JavaThread. It grows downwards from the base.
type stackOf struct{ base, java uint64 }

// newOwners reads what it takes to find owners among the Java threads that are known.
func (l *Looker) newOwners() owners {
	o := owners{java: map[uint64]bool{}, byID: map[int64]uint64{}}
	layout := l.capturer.layout
	for _, at := range l.java {
		o.java[at] = true
		if base, err := l.view.VM.Uint64(at + layout.stackBase.At); err == nil {
			o.stacks = append(o.stacks, stackOf{base, at})
		}
		if layout.ownerID.At != 0 {
			if id, err := l.view.VM.Uint64(at + layout.ownerID.At); err == nil {
				o.byID[int64(id)] = at
			}
		}
	}
	slices.SortFunc(o.stacks, func(a, b stackOf) int { return cmp.Compare(a.base, b.base) })
	return o
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
		if l.owners.java[java] {
			return java
		}
	}
	return 0
}

// monitorOwner returns the JavaThread that has an ObjectMonitor, or 0. See reader.owner.
func (l *Looker) monitorOwner(monitor, object uint64) uint64 {
	layout := l.capturer.layout
	owner, err := l.view.VM.Uint64(monitor + layout.owner.At)
	switch {
	case err != nil || owner == 0:
		return 0
	case owner == anonymous && layout.lockStack != 0:
		return l.lockStackOwner(object)
	case layout.ownerID.At != 0:
		return l.owners.byID[int64(owner)]
	case l.owners.java[owner]:
		return owner
	}
	i, _ := slices.BinarySearchFunc(l.owners.stacks, owner, func(s stackOf, at uint64) int { return cmp.Compare(s.base, at) })
	if i < len(l.owners.stacks) && l.owners.stacks[i].base-owner < maxJavaStack {
		return l.owners.stacks[i].java
	}
	return 0
}

// maxJavaStack is an upper bound for how large a Java thread's stack is, in bytes.
const maxJavaStack = 1 << 30

// lockStackEvery is how often the lists of locks without an ObjectMonitor are read at most. There is one in each JavaThread.
const lockStackEvery = time.Second

// lockStackOwner returns the JavaThread that has locked an object without an ObjectMonitor, or 0.
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
