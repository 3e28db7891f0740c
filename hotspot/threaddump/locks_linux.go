package threaddump

import (
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/stack"
)

// findOwners fills the maps that are used to find the owners of locks.
func (r *reader) findOwners() {
	r.owners = newOwners()
	for i := range r.dump.Threads {
		if r.dump.Threads[i].Java != nil {
			r.noteOwner(i)
		}
	}
	r.owners.sort()
}

// noteOwner adds a Java thread to the maps.
func (r *reader) noteOwner(thread int) {
	c := &r.captures[thread]
	r.byJava[c.java] = thread
	if c.object != 0 {
		r.byObject[c.object] = thread
	}
	r.owners.add(c.java, r.ownerIn(c.fields, c.nid))
}

// owner returns the index of the thread that has an ObjectMonitor, or -1.
func (r *reader) owner(monitor, object uint64) int {
	if i, ok := r.byJava[r.monitorOwner(monitor, object)]; ok {
		return i
	}
	return -1
}

// addLocks adds the locks of all threads to their frames.
func (r *reader) addLocks() {
	for i := range r.captures {
		if c, t := &r.captures[i], &r.dump.Threads[i]; c.result == Whole && c.java != 0 {
			r.addLocksOf(c, t)
		}
	}
}

func (r *reader) addLocksOf(c *capture, t *Thread) {
	innermost := -1
	for i := range t.Frames {
		if i >= len(c.places) || !t.Frames[i].Kind.Java() {
			continue
		}
		if innermost < 0 {
			innermost = i
		}
		for _, object := range r.held(c, &c.places[i]) {
			if i == innermost && object == c.wanted {
				continue // the thread is still waiting for this lock
			}
			if r.locks++; r.locks > maxAllLocks {
				return
			}
			if lock, ok := r.objects.describe(Locked, object); ok {
				t.Frames[i].Locks = append(t.Frames[i].Locks, lock)
			}
		}
	}
	if innermost < 0 {
		return
	}
	to := &t.Frames[innermost].Locks
	if lock, ok := r.awaited(c, t.Java.State); ok {
		lock.Owner = r.ownerIndex(&lock)
		if lock.Owner >= 0 && &r.dump.Threads[lock.Owner] == t {
			lock.Owner = -1 // the waiting thread itself has got the lock since its stack was read
		}
		*to = append([]Lock{lock.Lock}, *to...)
	}
}

// The type awaited is a lock that a thread waits for, together with the data from which the lock's owner can be found.
type awaited struct {
	Lock
	monitor uint64 // address of the ObjectMonitor, if Kind is WaitingToLock
	holder  uint64 // address of the java.lang.Thread that has the synchronizer, if Kind is ParkingFor; or 0
}

// awaited returns the lock that a thread waits for. state is the thread's state as jstack prints it.
func (l *looker) awaited(c *capture, state string) (lock awaited, ok bool) {
	o := l.capturer.layout
	if c.wanted != 0 {
		lock.monitor = le64(c.fields, o.pending.At)
		lock.Lock, ok = l.objects.describe(WaitingToLock, c.wanted)
		return lock, ok
	}
	if object := l.monitorObject(le64(c.fields, o.waiting.At)); object != 0 {
		lock.Lock, ok = l.objects.describe(WaitingOn, object)
		return lock, ok
	}
	if !strings.HasSuffix(state, "(parking)") || l.thread.blocker == 0 {
		return lock, false
	}
	blocker, holder := l.parkedFor(c)
	lock.holder = holder
	lock.Lock, ok = l.objects.describe(ParkingFor, blocker)
	return lock, ok
}

// parkedFor returns the object for which a parked thread waits, and the java.lang.Thread that owns it, or 0.
func (l *looker) parkedFor(c *capture) (blocker, holder uint64) {
	blocker, _ = l.heap.Ref(c.object, l.thread.blocker) // 0 after an error
	return blocker, l.exclusiveOwner(blocker)
}

// ownerIndex returns the index of the thread that has a lock, or -1.
func (r *reader) ownerIndex(lock *awaited) int {
	switch lock.Kind {
	case WaitingToLock:
		return r.owner(lock.monitor, lock.Address)
	case ParkingFor:
		if i, known := r.byObject[lock.holder]; known && lock.holder != 0 {
			return i
		}
	}
	return -1
}

// An interpreter frame has its monitors below the slots at fixed offsets, the newest monitor first. The lowest of these
// slots says where the first monitor is (frame_x86.hpp, frame_aarch64.hpp).
const (
	maxFrameMonitors = 64
	// If the number in this slot is between -relative and relative, it is the distance in words from the frame pointer
	// to the first monitor (JDK 21 and newer). Otherwise it is an address, because addresses are larger than relative.
	relative = 1 << 20
)

// held returns the objects whose monitors a frame holds, in the reverse order of locking.
func (l *looker) held(c *capture, p *stack.Place) (objects []uint64) {
	if p.Kind != callstack.Interpreted {
		for i := len(p.Method.Monitors) - 1; i >= 0; i-- {
			m := p.Method.Monitors[i]
			if object := l.reference(c, p.SP+m.Offset, m.Narrow); object != 0 {
				objects = append(objects, object)
			}
		}
		return objects
	}
	o := l.capturer.layout
	slot := stack.MonitorSlot(l.view.VM.Release)
	if p.FP == 0 || slot == 0 || o.lockSize == 0 {
		return nil
	}
	bottom := p.FP - slot
	top := c.word(bottom)
	if distance := int64(top); distance > -relative && distance < relative {
		top = p.FP + uint64(8*distance)
	}
	for at := top; at < bottom && bottom-at <= maxFrameMonitors*o.lockSize && top%8 == 0; at += o.lockSize {
		if object := l.reference(c, at+o.lock, false); object != 0 {
			objects = append(objects, object)
		}
	}
	return objects
}

// reference returns the object to which a reference on the stack points, or 0.
func (l *looker) reference(c *capture, at uint64, narrow bool) uint64 {
	if narrow {
		return l.heap.Narrow(le32(c.stack, at-c.call.sp))
	}
	return l.heap.Wide(c.word(at))
}

// word returns a word of the copied stack.
func (c *capture) word(at uint64) uint64 {
	if at < c.call.sp {
		return 0
	}
	return le64(c.stack, at-c.call.sp)
}
