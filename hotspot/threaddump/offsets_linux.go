package threaddump

import (
	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// An offsets value says where HotSpot's structures have the fields that this package reads.
type offsets struct {
	javaThread   uint64 // how many bytes of a JavaThread are read
	sp, pc, fp   uint64 // fields of a JavaThread: registers in its anchor
	state        vmstructs.Field
	inJava       uint64 // the number of the state _thread_in_Java
	stackBase    vmstructs.Field
	pending      vmstructs.Field // the ObjectMonitor that the thread wants to enter
	waiting      vmstructs.Field // the ObjectMonitor in which it waits
	ownerID      vmstructs.Field // the id of a thread in ObjectMonitors; Size is 0 if they have addresses
	vthread      vmstructs.Field // the mounted virtual thread; Size is 0 before JDK 21
	lockStack    uint64          // where the list of the locks without an ObjectMonitor begins; 0 before JDK 21
	lockStackTop vmstructs.Field // the offset in the JavaThread of the first free word after them
	env          vmstructs.Field // field of a CompilerThread
	task         vmstructs.Field // field of a ciEnv
	method       vmstructs.Field // field of a CompileTask
	level, id    vmstructs.Field

	object, owner  vmstructs.Field // fields of an ObjectMonitor
	weak           bool            // object is a WeakHandle, and not a reference
	lock, lockSize uint64          // of a BasicObjectLock: the reference to its object, and its size in bytes
	superclass     vmstructs.Field
	mirrored       uint64 // offset in a java.lang.Class of the address of its Klass
}

// newOffsets returns the offsets of a JVM. If HotSpot's tables lack something that stacks need, the error names it. If
// only a field for locks is missing, its size is 0.
func newOffsets(vm *vmstructs.VM) (*offsets, error) {
	q := vmstructs.Query{VM: vm, Of: "the threads of "}
	field := func(name string, size uint64) vmstructs.Field { // the tables lack the sizes of some types
		at, ok := vm.Offset(name)
		q.Must(ok, name)
		return vmstructs.Field{At: at, Size: size}
	}
	anchor := field("JavaThread::_anchor", 0).At
	l := &offsets{
		sp: anchor + field("JavaFrameAnchor::_last_Java_sp", 8).At, pc: anchor +
			field("JavaFrameAnchor::_last_Java_pc", 8).At,
		state: field("JavaThread::_thread_state", 4), stackBase: field("JavaThread::_stack_base", 8),
	}
	if fp, ok := vm.Offset("JavaFrameAnchor::_last_Java_fp"); ok {
		l.fp = anchor + fp
	}
	inJava, ok := vm.Int("_thread_in_Java")
	q.Must(ok, "_thread_in_Java")
	l.inJava = uint64(inJava)
	l.pending = optional(vm, "JavaThread::_current_pending_monitor", "Thread::_current_pending_monitor")
	l.waiting = optional(vm, "JavaThread::_current_waiting_monitor", "Thread::_current_waiting_monitor")
	l.ownerID, l.vthread = optional(vm, "JavaThread::_monitor_owner_id"), optional(vm, "JavaThread::_vthread")
	l.env, l.task = optional(vm, "CompilerThread::_env"), optional(vm, "ciEnv::_task")
	l.method, l.level, l.id = optional(vm, "CompileTask::_method"), optional(vm, "CompileTask::_comp_level"), optional(vm,
		"CompileTask::_compile_id")
	l.findLocks(vm)
	for _, f := range []uint64{l.sp, l.pc, l.fp, l.state.At, l.stackBase.At, l.pending.At, l.waiting.At, l.ownerID.At,
		l.vthread.At, l.lockStack, l.lockStack + mostLocks*8, l.lockStackTop.At} {
		l.javaThread = max(l.javaThread, f, f+8) // f+8 may overflow
	}
	q.Must(l.javaThread < maxJavaThread, "JavaThread as it was from JDK 8 to 28")
	return l, q.Missing
}

const (
	// maxJavaThread is an upper bound for the size of a JavaThread in bytes.
	maxJavaThread = 1 << 14
	// maxLockSize is an upper bound for the size of a BasicObjectLock in bytes. If a JVM's BasicObjectLock is larger,
	// no locks are read.
	maxLockSize = 64
	// mostLocks is how many locks a LockStack has room for (LockStack::CAPACITY).
	mostLocks = 8
)

func (l *offsets) findLocks(vm *vmstructs.VM) {
	object, ok := vm.Field("ObjectMonitor::_object")
	l.object, l.owner = vmstructs.Field{At: object.At, Size: 8}, optional(vm, "ObjectMonitor::_owner")
	l.owner.Size = 8 // in old releases it is a void*, for which the tables have no size
	if !ok {
		l.object.Size = 0
	}
	l.weak = vm.Release >= 16 // ObjectMonitor::object_peek
	l.lock, _ = vm.Offset("BasicObjectLock::_obj")
	l.lockSize, _ = vm.Size("BasicObjectLock")
	l.superclass = optional(vm, "Klass::_super")
	// The JVM may be hostile, and its tables may say anything.
	if l.lockSize > maxLockSize || l.lock >= l.lockSize {
		l.lockSize = 0
	}
	stack, ok1 := vm.Offset("JavaThread::_lock_stack")
	top, ok2 := vm.Field("LockStack::_top")
	base, ok3 := vm.Offset("LockStack::_base[0]")
	if ok1 && ok2 && ok3 {
		l.lockStack, l.lockStackTop = stack+base, vmstructs.Field{At: stack + top.At, Size: 4}
	}
	if at, ok := vm.Static("java_lang_Class::_klass_offset"); ok {
		offset, _ := vm.Uint32(at) // 0 after an error
		l.mirrored = uint64(offset)
	}
}

// optional returns the first of the fields that this JVM has. If it has none, the field's size is 0.
func optional(vm *vmstructs.VM, names ...string) vmstructs.Field {
	for _, name := range names {
		if f, ok := vm.Field(name); ok {
			return f
		}
	}
	return vmstructs.Field{}
}

// A threadFields says where java.lang.Thread has its fields. A field is 0 if it could not be found.
type threadFields struct {
	id, blocker, holder      uint64
	java                     uint64 // the field with the JavaThread's address (eetop)
	status, daemon, priority uint64 // fields of the thread's holder object, if there is one
}

// newThreadFields finds the fields. JDK 19 moved some of them into an object of their own.
func newThreadFields(h *heap.Heap) (f threadFields) {
	thread := h.Class("Thread")
	offset := func(class uint64, name string) uint64 {
		if class == 0 {
			return 0
		}
		at, _ := h.Offset(class, name) // 0 after an error
		return at
	}
	f.id, f.blocker, f.holder = offset(thread, "tid"), offset(thread, "parkBlocker"), offset(thread, "holder")
	f.java = offset(thread, "eetop")
	of := thread
	if f.holder != 0 {
		of = h.Class("Thread_FieldHolder")
	}
	f.status, f.daemon, f.priority = offset(of, "threadStatus"), offset(of, "daemon"), offset(of, "priority")
	return f
}
