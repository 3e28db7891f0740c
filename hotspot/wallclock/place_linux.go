package wallclock

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/wall"
)

// reasons says what the innermost frames of a stack show about why a thread waits in the JVM.
type reasons struct {
	safepoint, collection bool
	// allocates is true if the thread is in the JVM because it allocates memory or has called System.gc. If such a
	// thread is blocked, and there is no safepoint, it waits for a collection, or for a lock that is held during one.
	allocates bool
}

// place returns the place at which a blocked thread was found.
func (r *Recorder) place(t *thread, k *threaddump.Look) (s wall.Spell) {
	if k.Same {
		s.Stack = t.previous.Stack
	} else {
		s.Stack = r.push(k.Frames)
		t.reasons = findReasons(k.Frames)
	}
	s.State, s.Detail = r.state(t, k)
	if k.Virtual != nil {
		s.Virtual = k.Virtual.ID
	}
	if k.Lock != nil && (s.State == wall.Monitor || s.State == wall.Park || s.State == wall.Wait) {
		s.Lock = r.lock(t, k)
	}
	t.previous = s
	return s
}

// push writes the stack with these frames, innermost first, and returns its id.
func (r *Recorder) push(frames []callstack.Frame) (id callstack.ID) {
	for _, f := range slices.Backward(frames) {
		id = r.out.Push(id, f)
	}
	return id
}

// Words in the names of HotSpot's functions and stubs.
var (
	safepointWords = []string{"SafepointSynchronize::", "SafepointMechanism::", "WaitBarrier",
		"VMThread::wait_until_executed", "VMThread::execute", "HandshakeState::"}
	collectionWords = []string{"CollectForAllocation", "CollectForMetadataAllocation", "JVM_GC", "Heap::collect",
		"Heap::try_collect", "Heap::mem_allocate", "Heap::attempt_allocation", "Heap::allocate_new_tlab",
		"Heap::allocate_memory", "Heap::common_mem_allocate", "MemAllocator::", "alloc_stall", "alloc_page_stall",
		"GCLocker::", "VM_GC_"}
	allocationStubs = []string{"new_instance", "new_array", "new_type_array", "new_object_array", "new_multi_array",
		"multianewarray"}
)

// findReasons examines the frames up to the innermost Java frame. Native frames may be missing.
func findReasons(frames []callstack.Frame) (r reasons) {
	for i := range frames {
		f := &frames[i]
		if f.Kind.Java() {
			r.allocates = r.allocates || f.Name == "java.lang.Runtime::gc"
			break
		}
		contains := func(word string) bool { return strings.Contains(f.Name, word) }
		r.safepoint = r.safepoint || slices.ContainsFunc(safepointWords, contains)
		r.collection = r.collection || slices.ContainsFunc(collectionWords, contains)
		r.allocates = r.allocates || f.Kind == callstack.Stub && slices.ContainsFunc(allocationStubs, contains)
	}
	return r
}

// socketCalls are the system calls that are made only on sockets, and fileCalls those that are made only on files.
var (
	socketCalls = map[string]bool{"recvfrom": true, "recvmsg": true, "recvmmsg": true, "sendto": true, "sendmsg": true,
		"accept": true, "accept4": true, "connect": true,
		"epoll_wait": true, "epoll_pwait": true}
	fileCalls = map[string]bool{"openat": true, "open": true, "unlinkat": true, "unlink": true, "renameat2": true,
		"rename": true, "statx": true, "stat": true,
		"fsync": true, "fdatasync": true, "flock": true, "fcntl": true, "fallocate": true, "ftruncate": true, "msync": true,
		"pread64": true, "pwrite64": true, "preadv": true, "pwritev": true}
)

// state returns the state of a blocked thread, and what it waits for.
func (r *Recorder) state(t *thread, k *threaddump.Look) (wall.State, string) {
	call, on := k.Kernel.Call, k.Kernel.On
	if r.stopped || k.Kernel.State == threaddump.Stopped {
		return wall.Stopped, ""
	}
	if call == "" {
		return wall.PageFault, ""
	}
	if on == limited {
		on = ""
	}
	detail := strings.TrimSpace(call + " " + on)
	switch call {
	case "futex", "nanosleep", "clock_nanosleep", "restart_syscall":
		return r.waitState(t, k, call)
	}
	switch {
	case socketCalls[call], strings.HasPrefix(on, "socket"), strings.HasPrefix(on, "Unix socket"):
		return wall.Socket, detail
	case fileCalls[call], strings.HasPrefix(on, "/"), strings.HasPrefix(on, "pipe:"):
		return wall.File, detail
	}
	return wall.NativeCall, detail
}

// limited is how a Look describes a wait with a time limit.
const limited = "for a limited time"

// waitState returns the state of a thread that waits for another one, or for time to pass.
func (r *Recorder) waitState(t *thread, k *threaddump.Look, call string) (wall.State, string) {
	switch {
	case t.reasons.collection:
		return wall.GC, ""
	case t.reasons.safepoint && t.known.Java != 0:
		return wall.Safepoint, ""
	case strings.HasPrefix(k.JavaState, "BLOCKED"):
		return wall.Monitor, ""
	case strings.HasSuffix(k.JavaState, "(sleeping)"):
		return wall.Sleep, ""
	case strings.HasSuffix(k.JavaState, "(on object monitor)"):
		return wall.Wait, ""
	case strings.HasSuffix(k.JavaState, "(parking)"):
		return wall.Park, ""
	case t.reasons.allocates:
		return wall.GC, ""
	}
	return wall.NativeCall, call
}

// A takenKey is a lock and the thread that has it.
type takenKey struct {
	object uint64
	owner  *thread
}

// The type taken holds the stack at which a thread got a lock.
type taken struct{ stack callstack.ID }

// lock returns the number of the lock that a thread waits for.
func (r *Recorder) lock(t *thread, k *threaddump.Look) int {
	l := wall.Lock{Kind: wall.MonitorLock, Address: k.Lock.Address, Class: k.Lock.Class, Of: k.Lock.Of}
	if k.Lock.Kind == threaddump.ParkingFor {
		l.Kind = wall.Synchronizer
	}
	owner := r.byNID[k.Owner]
	if owner != nil && owner != t {
		l.Owner = owner.number
		if l.Kind == wall.MonitorLock {
			l.Taken = r.takenAt(owner, l.Address)
		}
	}
	return r.out.Lock(l)
}

// takenAt returns the part of a lock owner's stack that begins with the frame that holds the lock, up to the outermost
// frame. It reads the stack once a second at most.
func (r *Recorder) takenAt(owner *thread, object uint64) callstack.ID {
	key := takenKey{object, owner}
	if known, ok := r.taken[key]; ok {
		return known.stack
	}
	id := r.push(r.looker.Taken(owner.known, object))
	r.taken[key] = taken{id}
	return id
}
