package threaddump

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/hotspot/threads"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
)

const (
	// MaxThreads limits how many threads are read. The rest are counted as Dump.More.
	MaxThreads = 1 << 14
	// MaxFrames limits how many frames of a thread are reported. It is also the default limit of jstack.
	MaxFrames = 1024
	// maxAllFrames limits how many frames are kept of all threads, maxAllNames the bytes of all names in them, and
	// walkTime how long all stacks are walked. The threads that are left then have no stack.
	maxAllFrames = 1 << 19
	maxAllNames  = 128 << 20
	// maxAllLocks limits how many locks of all frames are looked at. The frames after that have none.
	maxAllLocks = 1 << 17
	walkTime    = 5 * time.Second
	// longest is how long reading a JVM may take.
	longest = 15 * time.Second
)

// Read reads all threads of a running JVM. It returns an error if the JVM can't be read, or does not answer in time
// because its memory is mapped from a file system that does not answer.
func Read(ctx context.Context, pid int) (*Dump, error) {
	return foreign.Within(ctx, longest, func() (*Dump, error) { return read(pid) })
}

// A reader reads one JVM.
type reader struct {
	capturer
	objects
	descriptors
	pid      int
	view     *shared.View
	names    *threads.Reader
	walker   *stack.Walker
	mappings *native.Resolver
	dump     *Dump
	captures []capture
	until    time.Time     // when no further stack is walked
	waited   time.Duration // how long stacks have waited for libraries
	locks    int           // how many locks of frames were looked at
	// Indexes in dump.Threads.
	byJava, byObject map[uint64]int
	byID             map[int64]int
	lockStacks       map[uint64]int // by the object that is locked
}

func read(pid int) (*Dump, error) {
	began := time.Now()
	process, err := foreign.Open(pid)
	if err != nil {
		return nil, err
	}
	defer process.Close()
	jvms := shared.NewJVMs()
	view, err := jvms.Open(pid)
	if err != nil {
		return nil, err
	}
	defer view.Close()
	r := &reader{pid: pid, view: view, walker: stack.NewWalker(jvms), mappings: native.NewResolver(),
		dump:   &Dump{PID: pid, Release: view.VM.Release, Time: began},
		byJava: map[uint64]int{}, byObject: map[uint64]int{}, byID: map[int64]int{}, lockStacks: map[uint64]int{}}
	if err := r.prepare(process); err != nil {
		return nil, err
	}
	if err := r.captureAll(); err != nil {
		return nil, err
	}
	if err := r.readMaps(); err != nil {
		return nil, err
	}
	r.walkAll()
	r.findOwners()
	r.addLocks()
	r.dump.Deadlocks = r.confirmed(findDeadlocks(r.dump.Threads))
	if process.Ended() {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	r.dump.Took = time.Since(began)
	return r.dump, nil
}

// prepare finds what all threads need.
func (r *reader) prepare(process *foreign.Process) error {
	vm := r.view.VM
	l, err := newOffsets(vm)
	if err != nil {
		return err
	}
	h, err := heap.New(vm)
	if err != nil {
		return err
	}
	if r.names, err = threads.NewReader(vm); err != nil {
		return err
	}
	r.dump.Version, _, _ = vm.Version() // "" after an error
	r.capturer = capturer{process: process, vm: vm, layout: l, began: time.Now()}
	r.objects = objects{vm: vm, heap: h, layout: l, thread: newThreadFields(h), classes: map[uint64]string{}, owners: map[uint64]uint64{}}
	r.descriptors = descriptors{process: process, vm: vm, files: map[uint64]string{}}
	return nil
}

// readMaps reads which files are mapped. It is called after the stacks were read, because they may lead into files that
// were mapped only shortly before.
func (r *reader) readMaps() error {
	maps, err := native.ReadMaps(r.pid)
	r.mappings.Add(maps...)
	return err
}

// captureAll reads all threads.
func (r *reader) captureAll() error {
	process := r.capturer.process
	tids := process.Threads()
	slices.Sort(tids)
	r.dump.More = len(tids) > MaxThreads
	tids = tids[:min(len(tids), MaxThreads)]
	addresses, err := r.names.Addresses()
	if err != nil {
		return fmt.Errorf("reading the JVM's list of threads: %w", err)
	}
	java := map[int]uint64{} // by the id in the JVM's namespace
	for _, at := range addresses {
		if tid, err := r.names.TID(at); err == nil {
			java[tid] = at
		}
	}
	status, err := process.Status()
	if err != nil {
		return err
	}
	refused := 0
	for _, tid := range tids {
		nid := tid
		if status.OwnPID != r.pid { // it is in a PID namespace of its own
			if nid, err = process.OwnTID(tid); err != nil {
				continue
			}
		}
		t := r.capture(tid, java[nid])
		t.nid = nid
		if t.java != 0 && t.result == Whole { // at once, because a collector moves objects, but not those in the copy
			t.wanted = r.monitorObject(le64(t.fields, r.capturer.layout.pending.At))
		}
		if t.comm == "" {
			continue // it has ended
		}
		if t.result == Unread {
			refused++
		}
		r.captures = append(r.captures, t)
	}
	if refused > 0 && refused == len(r.captures) {
		return errors.New("the kernel does not say what its threads do (/proc/PID/task/TID/syscall): " +
			"it was built without that, or refuses it; run gasm as root")
	}
	return nil
}

// walkAll walks the stacks of all threads.
func (r *reader) walkAll() {
	var running []int
	r.until = time.Now().Add(walkTime)
	frames, names := 0, 0
	for i := range r.captures {
		t := &r.captures[i]
		r.dump.Threads = append(r.dump.Threads, r.describe(t))
		switch t.result {
		case Whole:
			if frames > maxAllFrames || names > maxAllNames || time.Now().After(r.until) {
				r.dump.Threads[i].Stack = Unread
				continue
			}
			r.walk(t, &r.dump.Threads[i])
			frames += len(r.dump.Threads[i].Frames)
			for _, f := range r.dump.Threads[i].Frames {
				names += len(f.Name) + len(f.Module) + len(f.Source)
			}
		case Running, Moved:
			running = append(running, t.tid)
		}
	}
	if len(running) > 0 {
		r.sampleAll(running)
	}
	for i := range r.dump.Threads {
		if r.dump.Threads[i].Stack == Moved {
			r.dump.Moved++
		}
	}
}

// describe returns what is known of a thread apart from its stack.
func (r *reader) describe(c *capture) Thread {
	t := Thread{Name: strings.TrimSuffix(c.comm, "\n"), TID: c.tid, NID: c.nid, CPU: c.cpu, Kernel: c.kernel, Stack: c.result}
	if c.result == Whole {
		t.Kernel.Call, t.Kernel.On = r.descriptors.describe(&c.call)
	}
	if c.java == 0 {
		return t
	}
	object, _ := r.names.Object(c.java) // 0 after an error
	c.object = object
	j := r.readThread(object)
	j.Address = c.java
	t.Java = &j
	if name, err := r.names.Name(object); err == nil {
		t.Name = name
	}
	l := r.capturer.layout
	if l.vthread.Size > 0 || l.vthread.At > 0 {
		handle := le64(c.fields, l.vthread.At)
		t.Virtual = r.readVirtual(handle, object, r.names)
	}
	if strings.Contains(t.Name, "CompilerThread") {
		t.Compiling = r.compiling(c.java)
	}
	return t
}

// compiling returns the method that a compiler's thread compiles.
func (r *reader) compiling(java uint64) string {
	t, ok := r.compilation(java)
	if !ok || t.method%8 != 0 || t.level < 1 || t.level > 4 {
		return ""
	}
	var name string
	var err error
	r.view.Copy(func(c *nmethod.Copier) { name, _, err = c.MethodName(t.method) })
	if now, ok := r.compilation(java); err != nil || !ok || now != t {
		return ""
	}
	return fmt.Sprintf("%s at level %d", name, t.level)
}

// A compilation is what a compiler's thread does: the address of its CompileTask, and what that has.
type compilation struct {
	task, method uint64
	level        uint32
}

func (r *reader) compilation(java uint64) (c compilation, ok bool) {
	l, vm := r.capturer.layout, r.view.VM
	if l.env.At == 0 || l.task.At == 0 {
		return c, false
	}
	env, err := vm.Uint64(java + l.env.At)
	if err != nil || env == 0 {
		return c, false
	}
	if c.task, err = vm.Uint64(env + l.task.At); err != nil || c.task == 0 {
		return c, false
	}
	if c.method, err = vm.Uint64(c.task + l.method.At); err != nil || c.method == 0 {
		return c, false
	}
	c.level, err = vm.Uint32(c.task + l.level.At)
	return c, err == nil
}

// sampleAll samples the threads that run.
func (r *reader) sampleAll(tids []int) {
	samples, err := sample(tids)
	r.dump.Unsampled = err
	if len(samples) > 0 {
		_ = r.readMaps() // after an error, what is known already is used
	}
	for i := range r.dump.Threads {
		t := &r.dump.Threads[i]
		record, ok := samples[t.TID]
		if !ok {
			continue
		}
		record.PID = int32(r.pid) // the kernel's number is that of gasm's PID namespace, as r.pid is
		places, mark := r.complete(func() ([]stack.Place, callstack.Kind) { return r.walker.WalkSample(&record, r.mappings) })
		if mark != 0 {
			places = append(places, stack.Place{Frame: callstack.At(mark, 0)})
		}
		t.setFrames(places, false)
		t.Stack = Sampled
		t.Kernel = Kernel{State: OnProcessor}
	}
}

// now returns the time for which the code of a stack is looked up.
func (c *capture) now() int64 {
	if c.monoNanos != 0 {
		return c.monoNanos
	}
	return monotonic.Nanos()
}
