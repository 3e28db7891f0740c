package threaddump

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// An owners finds the JavaThread that owns a lock, from the data in the lock.
type owners struct {
	java   map[uint64]owner  // by the address of the JavaThread
	byID   map[int64]uint64  // by owner id, in JVMs whose ObjectMonitors hold ids of threads
	stacks []stackOf         // sorted by base
	locked map[uint64]uint64 // see lockStackOwner
	// searchAt is the earliest time at which the map locked is filled again.
	searchAt time.Time
}

// A stackOf is the stack of a JavaThread. It grows downwards from the base.
type stackOf struct{ base, java uint64 }

// An owner is a JavaThread that may own locks.
type owner struct {
	nid  int    // its thread id in the JVM's own PID namespace
	base uint64 // base of its stack; 0 if it is not known
	id   int64  // its id in ObjectMonitors; 0 if they have addresses instead
}

// newOwners returns an index that has no threads yet.
func newOwners() owners {
	return owners{java: map[uint64]owner{}, byID: map[int64]uint64{}, locked: map[uint64]uint64{}}
}

// newOwner reads a JavaThread.
func (l *Looker) newOwner(at uint64) (o owner, err error) {
	layout := l.capturer.layout
	o.base, _ = l.view.VM.Uint64(at + layout.stackBase.At) // 0 after an error
	if layout.ownerID.At != 0 {
		id, _ := l.view.VM.Uint64(at + layout.ownerID.At) // 0 after an error
		o.id = int64(id)
	}
	if o.nid, err = l.names.TID(at); err != nil || o.nid == 0 {
		return o, cmp.Or(err, errNotStarted)
	}
	return o, nil
}

// ownerIn is like newOwner for a JavaThread whose first bytes were read already. The parameter fields holds them.
func (l *looker) ownerIn(fields []byte, nid int) owner {
	layout := l.capturer.layout
	o := owner{nid: nid, base: layout.stackBase.In(fields)}
	if layout.ownerID.At != 0 {
		o.id = int64(le64(fields, layout.ownerID.At))
	}
	return o
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

// ownerOf returns the JavaThread that has a lock, or 0.
func (l *looker) ownerOf(lock *awaited) uint64 {
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

// anonymous stands for the owner in an ObjectMonitor that was made when a thread had already locked the object without
// one (ObjectMonitor::ANONYMOUS_OWNER). The owner is then the JavaThread whose own list of locks contains the object.
const anonymous = 1

// monitorOwner returns the JavaThread that owns an ObjectMonitor, or 0.
func (l *looker) monitorOwner(monitor, object uint64) uint64 {
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
		// If a virtual thread is mounted on a carrier, the carrier's JavaThread has that thread's id now. So check that
		// the id is still the owner's.
		if id, err := l.view.VM.Uint64(java + layout.ownerID.At); err != nil || id != owner {
			return 0
		}
		return java
	case l.owners.known(owner):
		return owner
	}
	// Otherwise the owner is the address of a BasicLock on a thread's stack.
	i, _ := slices.BinarySearchFunc(l.owners.stacks, owner,
		func(s stackOf, at uint64) int { return cmp.Compare(s.base, at) })
	if i < len(l.owners.stacks) && l.owners.stacks[i].base-owner < maxJavaStack {
		return l.owners.stacks[i].java
	}
	return 0
}

// maxJavaStack is an upper bound for the size of a Java thread's stack, in bytes.
const maxJavaStack = 1 << 30

const (
	// Each JavaThread has a list of its locks without an ObjectMonitor. lockStackEvery is the minimum time between two
	// readings of all these lists. lockStackShare is the share of the time that the readings may take.
	lockStackEvery = time.Second
	lockStackShare = 0.002
)

// lockStackOwner returns the JavaThread that has locked the object without an ObjectMonitor, or 0.
func (l *looker) lockStackOwner(object uint64) uint64 {
	o := &l.owners
	if java := o.locked[object]; java != 0 && slices.Contains(l.lockedBy(java), object) {
		return java
	}
	began := time.Now()
	if began.Before(o.searchAt) {
		return 0
	}
	l.findLocked()
	took := time.Since(began)
	o.searchAt = began.Add(max(lockStackEvery, time.Duration(float64(took)/lockStackShare)))
	return o.locked[object]
}

// findLocked reads which objects all threads have locked without an ObjectMonitor. It reads many threads with one
// system call, and not more than maxLockStacks threads.
func (l *looker) findLocked() {
	o, layout := &l.owners, l.capturer.layout
	clear(o.locked)
	size := layout.lockStackEnd() - layout.lockStackStart()
	threads := min(len(o.java), maxLockStacks)
	data := make([]byte, uint64(threads)*size)
	all, pieces := make([]uint64, 0, threads), make([]vmstructs.Piece, 0, threads)
	for java := range o.java {
		if len(all) == threads {
			break
		}
		from := uint64(len(all)) * size
		all = append(all, java)
		pieces = append(pieces, vmstructs.Piece{Addr: java + layout.lockStackStart(), Buf: data[from : from+size]})
	}
	ok, _ := l.view.VM.GatherSome(pieces) // after an error, some threads were not read
	for i, java := range all {
		if !ok[i] {
			continue
		}
		for _, object := range l.lockedIn(pieces[i].Buf, layout.lockStackStart()) {
			o.locked[object] = java
		}
	}
}

// maxLockStacks is the maximum number of threads whose lists of locks are read at once. A list has 72 bytes.
const maxLockStacks = MaxThreads

// lockedBy returns the objects that a JavaThread has locked without an ObjectMonitor.
func (l *looker) lockedBy(java uint64) []uint64 {
	from := l.capturer.layout.lockStackStart()
	data, err := l.view.VM.Read(nil, java+from, l.capturer.layout.lockStackEnd()-from)
	if err != nil {
		return nil
	}
	return l.lockedIn(data, from)
}

// lockedIn returns the objects that a thread has locked without an ObjectMonitor. data has bytes of its JavaThread,
// beginning at the offset in the parameter from.
func (l *looker) lockedIn(data []byte, from uint64) (objects []uint64) {
	o := l.capturer.layout
	if o.lockStack == 0 {
		return nil
	}
	top := uint64(le32(data, o.lockStackTop.At-from))
	for at := o.lockStack; at < top && at < o.lockStack+8*mostLocks; at += 8 {
		if object := l.heap.Wide(le64(data, at-from)); object != 0 {
			objects = append(objects, object)
		}
	}
	return objects
}

// lockStackStart and lockStackEnd are the bounds of the part of a JavaThread with its locks without an ObjectMonitor.
func (o *offsets) lockStackStart() uint64 { return min(o.lockStack, o.lockStackTop.At) }
func (o *offsets) lockStackEnd() uint64 {
	return max(o.lockStack+8*mostLocks, o.lockStackTop.At+o.lockStackTop.Size)
}
