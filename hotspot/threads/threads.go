// Package threads reads the names of a running JVM's Java threads from its memory. The kernel keeps only 15 bytes of a
// name, and calls the main thread "java".
//
// HotSpot keeps its Java threads in an array (ThreadsSMRSupport::_java_thread_list), or in JDK 11 and older in a linked
// list (Threads::_thread_list). Each entry is a JavaThread. It refers to a java.lang.Thread, which has the name, and to
// an OSThread, which has the kernel's thread id. Compiler threads are Java threads too, but the threads of a garbage
// collector are not.
package threads

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A Thread is a Java thread.
type Thread struct {
	// TID is the thread's id in the JVM's own PID namespace, as gettid returns it there.
	TID  int
	Name string // the first MaxName chars of its name
}

const (
	// MaxName limits how many chars of a name are read.
	MaxName = 256
	// MaxThreads limits how many threads are read.
	MaxThreads = 1 << 15
)

// A Reader reads the threads of one JVM.
type Reader struct {
	vm   *vmstructs.VM
	heap *heap.Heap
	name uint64 // offset in a java.lang.Thread

	list, length, array, next uint64 // next is 0 if the list is an array
	osThread, object, id      vmstructs.Field
}

// NewReader returns a Reader. If HotSpot's tables lack something, the error names it.
func NewReader(vm *vmstructs.VM) (*Reader, error) {
	h, err := heap.New(vm)
	if err != nil {
		return nil, err
	}
	q := vmstructs.Query{VM: vm, Of: "the threads of "}
	r := &Reader{vm: vm, heap: h, object: q.Field("JavaThread::_threadObj"), id: q.Field("OSThread::_thread_id")}
	var ok bool
	if r.list, ok = vm.Static("ThreadsSMRSupport::_java_thread_list"); ok {
		r.length, r.array = q.Field("ThreadsList::_length").At, q.Field("ThreadsList::_threads").At
	} else {
		r.list, r.next = q.Static("Threads::_thread_list").At, q.Field("JavaThread::_next").At
	}
	if r.osThread, ok = vm.Field("Thread::_osthread"); !ok {
		r.osThread = q.Field("JavaThread::_osthread")
	}
	class := h.Class("Thread")
	if q.Must(class != 0, "class Thread"); q.Missing != nil {
		return nil, q.Missing
	}
	if r.name, err = h.Offset(class, "name"); err != nil {
		return nil, fmt.Errorf("java.lang.Thread: %w", err)
	}
	return r, nil
}

// Read returns the Java threads whose names can be read. An error means that the list can't be read.
func (r *Reader) Read() ([]Thread, error) {
	all, err := r.javaThreads()
	if err != nil {
		return nil, fmt.Errorf("reading the JVM's list of threads: %w", err)
	}
	var found []Thread
	for _, at := range all {
		t, err := r.thread(at)
		switch {
		case errors.Is(err, syscall.ESRCH), errors.Is(err, syscall.EPERM):
			return found, nil // the JVM has ended
		case err == nil && t.TID > 0 && t.Name != "":
			found = append(found, t)
		}
	}
	return found, nil
}

// listAttempts is the maximum number of attempts to read a list that the JVM replaces meanwhile.
const listAttempts = 20

// javaThreads returns the addresses of the JavaThreads. When a thread begins or ends, HotSpot makes another array and
// frees the old one, whose memory may then be used for anything. So the addresses that were read are valid only if the
// array is still in use afterwards.
func (r *Reader) javaThreads() (all []uint64, err error) {
	for range listAttempts {
		at, err := r.vm.Uint64(r.list)
		if err != nil {
			return nil, err
		}
		if r.next != 0 {
			return r.linked(at)
		}
		all, err := r.inArray(at)
		now, changed := r.vm.Uint64(r.list)
		if changed != nil {
			return nil, changed
		}
		if now == at {
			return all, err
		}
	}
	return nil, errChanging
}

var errChanging = errors.New("threads begin and end so fast that the list has changed each time while it was read")

// linked returns the addresses in a linked list.
func (r *Reader) linked(at uint64) (all []uint64, err error) {
	for at != 0 && len(all) < MaxThreads {
		all = append(all, at)
		if at, err = r.vm.Uint64(at + r.next); err != nil {
			break // the thread has just ended
		}
	}
	return all, nil
}

func (r *Reader) inArray(list uint64) ([]uint64, error) {
	length, err := r.vm.Uint32(list + r.length)
	if err != nil {
		return nil, err
	}
	array, err := r.vm.Uint64(list + r.array)
	if err != nil {
		return nil, err
	}
	data, err := r.vm.Read(nil, array, 8*uint64(min(length, MaxThreads)))
	if err != nil {
		return nil, err
	}
	all := make([]uint64, len(data)/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return all, nil
}

// thread reads one JavaThread.
func (r *Reader) thread(at uint64) (t Thread, err error) {
	if t.TID, err = r.TID(at); err != nil {
		return t, err
	}
	object, err := r.Object(at)
	if err != nil {
		return t, err
	}
	t.Name, err = r.Name(object)
	return t, err
}

// Addresses returns the addresses of the JavaThreads.
func (r *Reader) Addresses() ([]uint64, error) { return r.javaThreads() }

// TID returns the kernel's id of the JavaThread at an address, in the JVM's own PID namespace.
func (r *Reader) TID(at uint64) (int, error) {
	osThread, err := r.vm.Uint64(at + r.osThread.At)
	if err != nil {
		return 0, err
	}
	id, err := r.vm.Uint32(osThread + r.id.At)
	return int(int32(id)), err
}

// Name returns the first MaxName chars of the name of the java.lang.Thread at an address.
func (r *Reader) Name(object uint64) (string, error) {
	name, err := r.heap.Ref(object, r.name)
	if err != nil {
		return "", err
	}
	return r.heap.String(name, MaxName)
}

// Object returns the address of the java.lang.Thread that belongs to the JavaThread at an address. Since JDK 17 a
// JavaThread has an OopHandle, which points to the reference.
func (r *Reader) Object(at uint64) (uint64, error) {
	if r.object.Type != "OopHandle" {
		return r.heap.Handle(at + r.object.At)
	}
	handle, err := r.vm.Uint64(at + r.object.At)
	if err != nil {
		return 0, err
	}
	return r.heap.Handle(handle)
}
