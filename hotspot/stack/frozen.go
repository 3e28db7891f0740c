package stack

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A Frozen is a copy of frames of a virtual thread that HotSpot has moved to a StackChunk object in the heap. The
// frames are laid out as on a stack, except that interpreter frames refer to other places on the stack by distances in
// words, and not by addresses.
type Frozen struct {
	// Data begins with the FrozenHeader bytes below the stack pointer of the innermost frame.
	Data []byte
	// Size is the number of bytes of Data that belong to frames. Arguments of the outermost frame may follow them.
	Size uint64
}

// FrozenHeader is the size of what a frozen frame has below its stack pointer: its frame pointer and its program
// counter.
const FrozenHeader = 16

// frozenBase is the address that a walk assumes for the copy. Any address would do, because nothing in the copy refers
// to it.
const frozenBase = 1 << 20

// WalkFrozen appends the frames in the copy f to the slice frames, innermost first, and returns the result. monoNanos
// is the time at which the copy was made. mark is 0 if no frame in the copy is missing.
func (w *Walker) WalkFrozen(frames []callstack.Frame, pid int, f *Frozen, monoNanos int64, mappings *native.Resolver) (
	all []callstack.Frame, mark callstack.Kind) {
	mark = w.walkOne(pid, monoNanos, mappings, func(k *walk) callstack.Kind {
		if k.jvm.openJVM == nil {
			return callstack.Unwalked
		}
		k.exact, k.leaf = false, false
		k.dump = cfi.Memory{Base: frozenBase, Data: f.Data}
		return k.climbFrozen(frozenBase + min(f.Size, uint64(len(f.Data))))
	})
	for _, f := range w.walk.frames {
		frames = append(frames, f.Frame)
	}
	return frames, mark
}

// climbFrozen collects the frames from the innermost to the outermost one, as StackChunkFrameStream::next visits them.
// The parameter end is the address at which the outermost frame ends. climbFrozen returns the mark for missing frames,
// or 0.
func (k *walk) climbFrozen(end uint64) (mark callstack.Kind) {
	at := frozenFrame{frozenBase + FrozenHeader, frozenBase + FrozenHeader}
	for n := 1; ; n++ {
		if len(k.frames) >= mostFrames {
			return callstack.Cut
		}
		pc, ok1 := k.dump.Word(at.sp - 8)
		link, ok2 := k.dump.Word(at.sp - 16)
		if !ok1 || !ok2 || n%32 == 0 && k.expired() {
			return callstack.Unwalked
		}
		k.at = cfi.Registers{PC: pc & k.mask}
		k.at.Set(k.sp, at.unextended)
		p := k.place()
		if p.code == nil || k.late {
			return callstack.Unwalked
		}
		if p.isInterpreter() {
			k.at.Set(k.fp, at.sp-16+8*link)
		} else {
			k.trueReturn()
		}
		k.emit(p)
		caller, ok := k.frozenCaller(p.code, at, end)
		switch {
		case !ok || k.late:
			return callstack.Unwalked
		case caller.sp >= end-FrozenHeader:
			return 0
		case caller.sp <= at.sp:
			return callstack.Unwalked
		}
		at = caller
	}
}

// A frozenFrame says where a frame is in a copy. sp is its stack pointer, and unextended is the stack pointer without
// the arguments that the frame has pushed for an interpreted method.
type frozenFrame struct{ sp, unextended uint64 }

// frozenCaller returns the caller of a frame. For the outermost frame, whose caller is not in the copy, the returned
// stack pointer is at least end-FrozenHeader.
func (k *walk) frozenCaller(c *code, at frozenFrame, end uint64) (caller frozenFrame, ok bool) {
	if c.rule != interpreter {
		sp := at.unextended + c.frameSize
		return frozenFrame{sp, sp}, c.frameSize > 0
	}
	fp, _ := k.at.Get(k.fp)
	sender, ok1 := k.dump.Word(fp - senderSP)
	locals, ok2 := k.dump.Word(fp - k.bcpAt() + 8)
	if fp+8*locals+8 >= end { // the local variables of the outermost frame reach up to the end
		return frozenFrame{end, end}, ok1 && ok2
	}
	return frozenFrame{fp + 16, fp + 8*sender}, ok1 && ok2
}
