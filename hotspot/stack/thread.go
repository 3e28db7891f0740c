package stack

import (
	"runtime"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A State says where the walk of a thread that does not run begins. It has what is known about the thread's first
// frame.
type State struct {
	PC, SP uint64
	FP     uint64 // the frame pointer; 0 if it is unknown
	// Exact is true if PC is the address of the instruction at which the thread was interrupted, or entered the kernel.
	// Otherwise it is a return address.
	Exact bool
	// Stack is a copy of the stack, from SP upwards.
	Stack     []byte
	MonoNanos int64 // when Stack was copied; CLOCK_MONOTONIC
}

// A Place is a frame, and where it is on the stack.
type Place struct {
	callstack.Frame
	where
	// Method has more about a Java method: the source file, and the monitors that a compiled method holds.
	Method nmethod.Frame
}

// The type where says where a frame is on the stack.
type where struct {
	SP uint64 // the frame's stack pointer; if the method was inlined, that of the compiled method's frame
	FP uint64 // the frame pointer; 0 if it is unknown
}

// noteWheres sets the elements of wheres for the frames that were appended since the last call.
func (k *walk) noteWheres() {
	if !k.places {
		return
	}
	fp, _ := k.at.Get(k.fp)
	for len(k.wheres) < len(k.frames) {
		k.wheres = append(k.wheres, where{k.at.Values[k.sp], fp})
	}
}

// WalkState returns the frames of a thread, innermost first. Unlike the result of Walk, they begin with the frame of
// the given state itself. mark says what is missing after the last frame; it is 0 if nothing is missing.
func (w *Walker) WalkState(pid int, s *State, mappings *native.Resolver) (frames []Place, mark callstack.Kind) {
	return w.walkThread(pid, s.MonoNanos, mappings, func(k *walk) {
		k.exact = s.Exact
		k.dump = cfi.Memory{Base: s.SP, Data: s.Stack}
		k.at.PC = s.PC & k.mask
		k.at.Set(k.sp, s.SP)
		if s.FP != 0 {
			k.at.Set(k.fp, s.FP)
		}
		k.trueReturn()
	})
}

// Reading reports whether a library is still being read. A walk that needs this library may fail now, and succeed
// later.
func (w *Walker) Reading() bool {
	reading := false
	for _, l := range w.libraries {
		if l.reading != nil {
			select {
			case c := <-l.reading.done:
				w.take(l, c)
			default:
			}
		}
		reading = reading || l.reading != nil || l.attempts == 0
	}
	return reading
}

// WalkSample returns the frames of a sample, as WalkState does.
func (w *Walker) WalkSample(r *perfevent.Record, mappings *native.Resolver) (frames []Place, mark callstack.Kind) {
	if r.ThreadState == nil || r.ABI != perfevent.ABI64 {
		return nil, callstack.Unwalked
	}
	return w.walkThread(int(r.PID), r.MonoNanos, mappings, func(k *walk) { k.enter(r) })
}

func (w *Walker) walkThread(pid int, monoNanos int64, mappings *native.Resolver, enter func(*walk)) (frames []Place,
	mark callstack.Kind) {
	mark = w.walkOne(pid, monoNanos, mappings, func(k *walk) callstack.Kind {
		k.places = true
		enter(k)
		return k.climb(true)
	})
	frames = slices.Grow(frames, len(w.walk.frames))
	for i, f := range w.walk.frames {
		frames = append(frames, Place{f.Frame, w.walk.wheres[i], f.method})
	}
	return frames, mark
}

// walkOne begins a walk in a process and calls climb, which collects the frames in w.walk.frames and returns the mark
// for missing ones. walkOne returns this mark. If the process can't be read, it does not call climb, and there are no
// frames.
func (w *Walker) walkOne(pid int, monoNanos int64, mappings *native.Resolver,
	climb func(*walk) callstack.Kind) (mark callstack.Kind) {
	k := &w.walk
	k.frames = k.frames[:0]
	if w.processor == nil {
		return callstack.Unwalked
	}
	j := w.process(pid, monoNanos)
	j.open(monoNanos)
	began := time.Now()
	if j.refused() || !k.begin(w, j, monoNanos, mappings) {
		return callstack.Unwalked
	}
	k.until = began.Add(longestWalk)
	mark = climb(k)
	j.took(time.Since(began))
	return mark
}

// MonitorSlot returns the distance in bytes from an interpreter frame's frame pointer down to the slot that says
// where the frame's first monitor is. All monitors of the frame are below this slot. MonitorSlot returns 0 if the
// distance is unknown. release is the feature release of the JDK.
func MonitorSlot(release int) uint64 {
	p := processors[runtime.GOARCH]
	if p == nil {
		return 0
	}
	slot := p.bcpSlot
	if release == 8 {
		slot = p.bcpSlot8
	}
	return slot + p.monitorsBelowBCP
}
