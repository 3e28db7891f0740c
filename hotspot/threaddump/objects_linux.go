package threaddump

import (
	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/threads"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// objects reads the Java objects that a dump needs.
type objects struct {
	vm      *vmstructs.VM
	heap    *heap.Heap
	layout  *offsets
	thread  threadFields
	classes map[uint64]string // names by the address of the Klass
	owners  map[uint64]uint64 // by the address of the Klass: offset of exclusiveOwnerThread in its objects, or 0
}

// className returns the name of a Klass: "pkg.Class", or "[Ljava.lang.String;" for an array. It returns "" if there is
// no Klass at the address.
func (o *objects) className(klass uint64) string {
	if name, ok := o.classes[klass]; ok {
		return name
	}
	name := o.heap.ClassName(klass)
	o.classes[klass] = name
	return name
}

// describe returns a lock with the class of its object. ok is false if there is no object at the address.
func (o *objects) describe(kind LockKind, object uint64) (l Lock, ok bool) {
	l = Lock{Kind: kind, Address: object, Class: o.className(o.heap.ClassOf(object)), Owner: -1}
	if l.Class == "java.lang.Class" && o.layout.mirrored != 0 {
		klass, err := o.vm.Uint64(object + o.layout.mirrored)
		if err == nil && klass != 0 {
			l.Of = o.className(klass)
		}
	}
	return l, l.Class != ""
}

// monitorObject returns the object of an ObjectMonitor, or 0.
func (o *objects) monitorObject(monitor uint64) uint64 {
	if monitor == 0 || o.layout.object.Size == 0 {
		return 0
	}
	at := monitor + o.layout.object.At
	if o.layout.weak {
		var err error
		if at, err = o.vm.Uint64(at); err != nil || at == 0 {
			return 0
		}
	}
	object, _ := o.heap.Handle(at) // 0 after an error
	return object
}

// maxSupers limits how many superclasses are examined.
const maxSupers = 32

// exclusiveOwner returns the java.lang.Thread that has a synchronizer, or 0. Only objects of classes that extend
// AbstractOwnableSynchronizer say which thread has them.
func (o *objects) exclusiveOwner(object uint64) uint64 {
	klass := o.heap.ClassOf(object)
	at, known := o.owners[klass]
	if !known {
		super := klass
		for n := 0; super != 0 && n < maxSupers && o.layout.superclass.Size > 0; n++ {
			if o.className(super) == "java.util.concurrent.locks.AbstractOwnableSynchronizer" {
				at, _ = o.heap.Offset(super, "exclusiveOwnerThread") // 0 after an error
				break
			}
			super, _ = o.vm.Uint64(super + o.layout.superclass.At)
		}
		o.owners[klass] = at
	}
	if at == 0 {
		return 0
	}
	owner, _ := o.heap.Ref(object, at) // 0 after an error
	return owner
}

// readThread reads the fields of a java.lang.Thread.
func (o *objects) readThread(object uint64) (j JavaThread) {
	if object == 0 {
		return j
	}
	f := o.thread
	if f.id != 0 {
		id, _ := o.vm.Uint64(object + f.id) // 0 after an error
		j.ID = int64(id)
	}
	of := object
	if f.holder != 0 {
		of, _ = o.heap.Ref(object, f.holder)
	}
	if of == 0 || f.status == 0 {
		return j
	}
	if status, err := o.vm.Uint32(of + f.status); err == nil {
		j.State = javaState(status)
	}
	if daemon, err := o.vm.Read(nil, of+f.daemon, 1); err == nil && f.daemon != 0 {
		j.Daemon = daemon[0] != 0
	}
	if priority, err := o.vm.Uint32(of + f.priority); err == nil && f.priority != 0 {
		j.Priority = int(int32(priority))
	}
	return j
}

// Bits of Thread.threadStatus (JVMTI_THREAD_STATE_… in jvmti.h).
const (
	alive, terminated, runnable            = 0x1, 0x2, 0x4
	timed, sleeping                        = 0x20, 0x40
	inObjectWait, parked, blockedOnMonitor = 0x100, 0x200, 0x400
)

// javaState returns the name of a thread's state as jstack prints it (java_lang_Thread::thread_status_name).
func javaState(status uint32) string {
	waiting := "WAITING"
	if status&timed != 0 {
		waiting = "TIMED_WAITING"
	}
	switch {
	case status == 0:
		return "NEW"
	case status&terminated != 0:
		return "TERMINATED"
	case status&alive == 0:
		return ""
	case status&blockedOnMonitor != 0:
		return "BLOCKED (on object monitor)"
	case status&sleeping != 0:
		return waiting + " (sleeping)"
	case status&inObjectWait != 0:
		return waiting + " (on object monitor)"
	case status&parked != 0:
		return waiting + " (parking)"
	case status&runnable != 0:
		return "RUNNABLE"
	}
	return ""
}

// readVirtual returns the virtual thread whose reference is at an address, if it is another thread than the carrier.
func (o *objects) readVirtual(handle, carrier uint64, names *threads.Reader) *Virtual {
	if handle == 0 {
		return nil
	}
	object, err := o.heap.Handle(handle)
	if err != nil || object == 0 || object == carrier || o.className(o.heap.ClassOf(object)) == "" {
		return nil
	}
	v := &Virtual{ID: o.readThread(object).ID}
	v.Name, _ = names.Name(object) // "" after an error
	return v
}
