package stack

import (
	"runtime"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// mostFrames is the largest number of frames of a stack, including inlined ones. Deeper stacks are cut.
const mostFrames = 4096

// A Walker walks the stacks of all sampled processes. Only one goroutine may use it.
type Walker struct {
	processor *processor // nil if stacks can't be walked
	set       *shared.JVMs
	givenUp   chan struct{}     // closed by GiveUp
	out       *callstack.Writer // the Writer that gave the frames their numbers
	jvms      map[int]*jvm
	libraries map[libraryKey]*library
	tables    int     // the size of all libraries' tables, in bytes
	swept     int64   // when processes without samples were forgotten last
	walk      walk    // the current walk; the next one uses its memory again
	caller    uint64  // see Caller
	reader    *reader // of the memory of JVMs; nil before the first read, and while that goroutine can't be used
	elsewhere monotonic.Spent
}

// NewWalker returns a Walker. It uses the JVMs that are already open in the set.
func NewWalker(set *shared.JVMs) *Walker {
	return &Walker{processor: processors[runtime.GOARCH], set: set, givenUp: make(chan struct{}), jvms: map[int]*jvm{},
		libraries: map[libraryKey]*library{}}
}

// Elsewhere returns the CPU time that walks have used outside of the goroutine that called them. They read the JVM's
// memory and libraries in other goroutines.
func (w *Walker) Elsewhere() time.Duration { return w.elsewhere.Total() }

// Close closes what the Walker has opened. The Walker can't be used after that.
func (w *Walker) Close() {
	for _, j := range w.jvms {
		j.close()
	}
	clear(w.jvms)
}

// A walk is the state of walking one sample's stack.
type walk struct {
	*processor
	w         *Walker
	jvm       *jvm
	pid       int
	mask      uint64 // the bits of an address that are not part of a signature
	monoNanos int64
	mappings  *native.Resolver
	dump      cfi.Memory    // the top of the thread's stack
	at        cfi.Registers // registers of the current frame
	// exact is true if at.PC is the address of an instruction that was executing, and not a return address.
	exact  bool
	leaf   bool
	pushed bool  // the callee has arguments on the stack, above the frame of the current code
	native bool  // the callee is a library's function
	here   *site // the last result of site, which was for herePC; may be nil
	herePC uint64
	late   bool     // the JVM's memory was not read in time
	frames []*frame // innermost first
	// If places is true, wheres[i] says where frames[i] is on the stack.
	places bool
	wheres []where
	mark   callstack.Kind // what is missing after the outermost frame; 0 if nothing is missing
	until  time.Time      // when the walk may be given up
	// cpuUntil is the CPU time of this process at which the walk is given up. It is set only after the time in the
	// field until has passed.
	cpuUntil time.Duration
}

// Walk returns the stack of a sample, as package callstack describes it, without the frames of the kernel. It returns 0
// if the sample has no registers, because its thread is one of the kernel's own, and callstack.NoRoom if out is full.
// The record must have been taken with a copy of its stack (perfevent.Options.Stacks). Records must come in the order
// of their times.
func (w *Walker) Walk(out *callstack.Writer, r *perfevent.Record, mappings *native.Resolver) callstack.ID {
	if r.ThreadState == nil || r.ABI == perfevent.NoABI || w.processor == nil {
		return 0
	}
	w.caller = 0
	k := &w.walk
	k.frames, k.mark = k.frames[:0], callstack.Unwalked
	if cap(k.frames) > 2*mostFrames {
		k.frames = nil
	}
	if w.out != out {
		w.out = out
		w.forgetNumbers()
	}
	j := w.process(int(r.PID), r.MonoNanos)
	j.open(r.MonoNanos)
	began := time.Now()
	if r.ABI == perfevent.ABI64 && !j.refused() {
		if k.begin(w, j, r.MonoNanos, mappings) {
			k.enter(r)
			k.until = began.Add(longestWalk)
			k.mark = k.climb(r.Mode == perfevent.Kernel)
		}
		j.took(time.Since(began))
	}
	id := callstack.ID(0)
	switch {
	case k.mark != 0:
		id = out.Push(id, callstack.At(k.mark, 0))
	case len(k.frames) == 0:
		id = out.Push(id, callstack.At(callstack.NoCaller, 0))
	}
	for i := len(k.frames) - 1; i >= 0; i-- {
		f := k.frames[i]
		if f.id == 0 {
			f.id = out.Frame(&f.Frame)
		}
		id = out.PushFrame(id, f.id)
	}
	return id
}

// forgetNumbers forgets the numbers of all frames, because another Writer has other numbers.
func (w *Walker) forgetNumbers() {
	for _, j := range w.jvms {
		j.sites = sites{}
		if j.openJVM == nil {
			continue
		}
		for _, c := range j.codes {
			clear(c.frames)
		}
	}
}

// begin starts a walk at the leaf. It returns false if the JVM's memory can't be read in time.
func (k *walk) begin(w *Walker, j *jvm, monoNanos int64, mappings *native.Resolver) bool {
	if j.openJVM != nil && j.asked.Load() || !j.poll(monoNanos) {
		return false
	}
	generation := 0
	if j.openJVM != nil {
		generation = j.view.Cache.Generation()
	}
	j.sites.refresh(generation, mappings.Version(j.pid), monotonic.Nanos())
	frames, wheres := k.frames[:0], k.wheres[:0]
	*k = walk{processor: w.processor, mask: ^uint64(0), w: w, jvm: j, pid: j.pid, monoNanos: monoNanos, mappings: mappings,
		exact: true, leaf: true, frames: frames, wheres: wheres}
	if k.signs {
		k.mask = native.AddressMask(mappings.Highest(j.pid))
	}
	return true
}

// enter makes the sampled instruction the current frame.
func (k *walk) enter(r *perfevent.Record) {
	k.dump = cfi.Memory{Base: r.Regs[k.sampled[k.sp]], Data: r.Stack}
	for to, from := range k.sampled {
		k.at.Set(to, r.Regs[from])
	}
	k.at.PC = r.Regs[k.pc]
}

// A step is the result of an attempt to find a frame's caller.
type step uint8

const (
	found  step = iota
	bottom      // there is no caller
	cut         // the caller is beyond the end of the stack's copy
	failed      // the caller could not be found
)

// climb goes from the sampled code (the leaf) to the outermost frame, and collects the frames. It returns the mark
// for what is missing, or 0. The leaf gets no frame, unless it has entered the kernel or is in the interpreter.
func (k *walk) climb(inKernel bool) (mark callstack.Kind) {
	for n := 1; len(k.frames) < mostFrames; n++ {
		if n%32 == 0 && k.expired() {
			return callstack.Unwalked
		}
		p := k.place()
		if k.places && p.isInterpreter() {
			k.findFP(p.code)
		}
		if !k.late && (!k.leaf || inKernel || p.isInterpreter()) {
			k.emit(p)
			k.noteWheres()
			k.count(p)
		}
		if k.late {
			return callstack.Unwalked
		}
		sp, exact := k.at.Values[k.sp], k.exact
		k.pushed = k.pushed && p.code != nil
		result := k.unwind(p)
		k.noteWheres()
		k.native = p.mapped != nil
		switch result {
		case bottom:
			return 0
		case cut:
			return callstack.Cut
		case failed:
			return callstack.Unwalked
		}
		if now, known := k.at.Get(k.sp); !known || now < sp || now == sp && !exact || k.at.PC == 0 {
			return callstack.Unwalked
		}
		k.leaf = false
	}
	return callstack.Cut
}

// A compiled method is worth copying if it is a caller in the stacks of at least leastCalls samples, and of at least
// one in callerShare samples.
const leastCalls, callerShare = 20, 100

// count notes that the current frame has called other code. In a recursion, a method is counted several times for one
// stack.
func (k *walk) count(p place) {
	c := p.code
	if c == nil || c.Method == nil || k.exact {
		return
	}
	c.calls++
	if c.calls >= max(c.calledFor, leastCalls) && c.calls*callerShare >= k.jvm.walks && k.w.caller == 0 {
		k.w.caller, c.calledFor = k.at.PC-1, 2*c.calls
	}
}

// Caller returns an address in a compiled method on the stack of the last Walk if the method's code is worth copying,
// because many samples are in code that it has called. Otherwise it returns 0. It also returns 0 if it is called a
// second time before the next Walk. It returns the same method again when the number of such samples has doubled.
func (w *Walker) Caller() (pc uint64) {
	pc, w.caller = w.caller, 0
	return pc
}

// expired reports whether the walk has taken too long.
func (k *walk) expired() bool {
	now := time.Now()
	if now.Before(k.until) {
		return false
	}
	cpu := monotonic.CPU()
	if k.cpuUntil == 0 {
		k.cpuUntil = cpu + longestCPU
	}
	return cpu > k.cpuUntil || now.After(k.until.Add(longestWait))
}

// lookup returns the address at which the code of the current frame is looked up. For a return address that is the byte
// before it, because the call may be the last instruction of its code.
func (k *walk) lookup() uint64 {
	if k.exact {
		return k.at.PC
	}
	return k.at.PC - 1
}

// place returns the code of the current frame.
func (k *walk) place() place {
	if j := k.jvm; j.openJVM != nil {
		// HotSpot puts the barrier's first address in place of a return address. There is no call instruction before
		// it.
		if b := j.barrier.Load(); b != nil && k.at.PC == b.Lo {
			return place{code: k.codeOf(b)}
		}
	}
	if k.exact {
		return k.find(k.at.PC)
	}
	return k.site().place
}

// unwind replaces the current frame with its caller's: it sets the registers to those of the caller.
func (k *walk) unwind(p place) step {
	switch {
	case p.code != nil:
		return k.unwindCode(p.code)
	case p.mapped != nil:
		return k.unwindLibrary(p.mapped)
	}
	return failed
}
