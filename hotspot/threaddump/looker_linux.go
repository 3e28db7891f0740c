package threaddump

import (
	"fmt"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/heap"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/hotspot/threads"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A looker looks at single threads of one JVM.
type looker struct {
	capturer
	objects
	descriptors
	pid      int
	ownPID   int // in the JVM's own PID namespace
	view     *shared.View
	ahead    *vmstructs.Ahead // nil unless the JVM is read through it
	names    *threads.Reader
	walker   *stack.Walker
	mappings *native.Resolver
	owners   owners
	waited   time.Duration // how long stacks have waited for the symbols of libraries
}

// mostBytes limits how many bytes a burst of reads may take from a JVM's memory, and bytesPerSecond limits the average
// rate. A stack has up to 512 KiB.
const mostBytes, bytesPerSecond = 256 << 20, 64 << 20

// newLooker opens a JVM, and reads what is the same for all of its threads. If ahead is true, the JVM's memory is read
// through an Ahead. The caller must close the looker.
func newLooker(jvms *shared.JVMs, pid int, ahead bool) (l *looker, err error) {
	l = &looker{pid: pid, walker: stack.NewWalker(jvms), mappings: native.NewResolver()}
	process, err := foreign.Open(pid)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			process.Close()
		}
	}()
	status, err := process.Status()
	if err != nil {
		return nil, err
	}
	if l.view, err = jvms.Open(pid); err != nil {
		return nil, err
	}
	l.view.Quiet()
	// The stacks get a budget of their own, so that they don't use up the budget for copying the JVM's code.
	l.view.VM = l.view.VM.Within(vmstructs.NewBudget(mostBytes, bytesPerSecond))
	if ahead {
		l.view.VM, l.ahead = l.view.VM.Ahead()
	}
	l.ownPID = status.OwnPID
	if err := l.prepare(process); err != nil {
		l.view.Close()
		return nil, err
	}
	return l, nil
}

func (l *looker) prepare(process *foreign.Process) error {
	vm := l.view.VM
	o, err := newOffsets(vm)
	if err != nil {
		return err
	}
	h, err := heap.New(vm)
	if err != nil {
		return err
	}
	if l.names, err = threads.NewReader(vm); err != nil {
		return err
	}
	l.capturer = capturer{process: process, vm: vm, layout: o, began: time.Now()}
	l.objects = objects{vm: vm, heap: h, layout: o, thread: newThreadFields(h), classes: map[uint64]string{},
		owners: map[uint64]uint64{}}
	l.descriptors = descriptors{process: process, vm: vm, files: map[uint64]string{}}
	return nil
}

func (l *looker) close() {
	l.walker.Close()
	l.view.Close()
	l.capturer.process.Close()
}

// readMaps reads which files are mapped. A reader calls it after it has read the stacks, because they may contain
// addresses in files that were mapped only shortly before.
func (l *looker) readMaps() error {
	maps, err := native.ReadMaps(l.pid)
	l.mappings.Add(maps...)
	return err
}

// javaThreads returns the addresses of the JavaThreads, by thread id in the JVM's own PID namespace.
func (l *looker) javaThreads() (map[int]uint64, error) {
	addresses, err := l.names.Addresses()
	if err != nil {
		return nil, fmt.Errorf("reading the JVM's list of threads: %w", err)
	}
	java := map[int]uint64{}
	for _, at := range addresses {
		if tid, err := l.names.TID(at); err == nil {
			java[tid] = at
		}
	}
	return java, nil
}

// ownID returns the id of a thread in the JVM's own PID namespace.
func (l *looker) ownID(tid int) (int, error) {
	if l.ownPID == l.pid {
		return tid, nil
	}
	return l.capturer.process.OwnTID(tid)
}

// describe returns everything about a captured thread except its stack.
func (l *looker) describe(c *capture) Thread {
	t := Thread{Name: strings.TrimSuffix(c.comm, "\n"), TID: c.tid, NID: c.nid, CPU: time.Duration(c.runs.Ran),
		Kernel: c.kernel, Stack: c.result}
	if c.result == Whole {
		t.Kernel.Call, t.Kernel.On = l.descriptors.describe(&c.call)
	}
	if c.java == 0 {
		return t
	}
	object, _ := l.names.Object(c.java) // 0 after an error
	c.object = object
	j := l.readThread(object)
	j.Address = c.java
	t.Java = &j
	if name, err := l.names.Name(object); err == nil {
		t.Name = name
	}
	if at := l.capturer.layout.vthread; at.Size > 0 || at.At > 0 {
		handle := le64(c.fields, at.At)
		t.Virtual = l.readVirtual(handle, object, l.names)
	}
	if strings.Contains(t.Name, "CompilerThread") {
		t.Compiling = l.compiling(c.java)
	}
	return t
}

// compiling returns the method that a compiler thread is compiling.
func (l *looker) compiling(java uint64) string {
	t, ok := l.compilation(java)
	if !ok || t.method%8 != 0 || t.level < 1 || t.level > 4 {
		return ""
	}
	var name string
	var err error
	l.view.Copy(func(c *nmethod.Copier) { name, _, err = c.MethodName(t.method) })
	if now, ok := l.compilation(java); err != nil || !ok || now != t {
		return ""
	}
	return fmt.Sprintf("%s at level %d", name, t.level)
}

// A compilation is what a compiler thread does: the address of its CompileTask, and what that contains.
type compilation struct {
	task, method uint64
	level        uint32
}

func (l *looker) compilation(java uint64) (c compilation, ok bool) {
	o, vm := l.capturer.layout, l.view.VM
	if o.env.At == 0 || o.task.At == 0 {
		return c, false
	}
	env, err := vm.Uint64(java + o.env.At)
	if err != nil || env == 0 {
		return c, false
	}
	if c.task, err = vm.Uint64(env + o.task.At); err != nil || c.task == 0 {
		return c, false
	}
	if c.method, err = vm.Uint64(c.task + o.method.At); err != nil || c.method == 0 {
		return c, false
	}
	c.level, err = vm.Uint32(c.task + o.level.At)
	return c, err == nil
}

// now returns the time for which the code on the stack is looked up: the time at which the stack was copied or, if that
// is not known, the current time.
func (c *capture) now() int64 {
	if c.monoNanos != 0 {
		return c.monoNanos
	}
	return monotonic.Nanos()
}
