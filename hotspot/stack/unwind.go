package stack

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/printassembly"
)

// unwindCode finds the caller of a frame of generated code.
func (k *walk) unwindCode(c *code) step {
	pushed := k.pushed
	k.pushed = c.pushes
	if c.rule == returnBarrier {
		return k.unwindReturnBarrier()
	}
	if k.exact || c.rule == byExecution || c.rule == byFP || pushed || k.native && k.pushes && c.Method != nil {
		if s := k.unwindByExecution(c); s != failed {
			return s
		}
	}
	switch {
	case pushed, k.exact && c.Method == nil && c.rule == byFrameSize:
		return failed // the frame does not have the size that the header says
	case k.exact && c.Method != nil && (c.complete == 0 || k.at.PC < c.complete):
		return k.frameless(c)
	}
	switch c.rule {
	case byFrameSize:
		if c.frameSize == 0 {
			return failed
		}
		return k.caller(k.at.Values[k.sp] + c.frameSize)
	case byFP, interpreter:
		return k.unwindByFP(c)
	}
	return failed
}

// pushedTo is the name of a stub that C1's code calls with arguments on the stack. So the stack pointer of its callers
// is not at the end of their frame (LIR_Assembler::emit_typecheck_helper).
const pushedTo = "slow_subtype_check"

// caller goes from a complete frame to its caller. The frame ends at cfa. The word below cfa is the return address, and
// the next one below is the caller's frame pointer. Compiled code preserves no other register.
func (k *walk) caller(cfa uint64) step {
	pc, ok := k.dump.Word(cfa - 8)
	if !ok {
		return k.missing(cfa - 8)
	}
	next := cfi.Registers{PC: pc}
	next.Set(k.sp, cfa)
	if value, ok := k.dump.Word(cfa - 16); ok {
		next.Set(k.fp, value)
	}
	return k.returnTo(&next)
}

// frameless goes to the caller of compiled code that has not made its frame yet.
func (k *walk) frameless(c *code) step {
	pc, sp, ok := k.calledFrom()
	switch {
	case !c.known || ok && !k.isCode(pc):
		return failed
	case !ok:
		return k.missing(k.at.Values[k.sp])
	}
	next := cfi.Registers{PC: pc}
	next.Set(k.sp, sp)
	if value, known := k.at.Get(k.fp); known {
		next.Set(k.fp, value)
	}
	return k.returnTo(&next)
}

// returnTo makes the caller's frame the current one.
func (k *walk) returnTo(caller *cfi.Registers) step {
	k.at, k.exact = *caller, false
	k.at.PC &= k.mask
	k.trueReturn()
	return found
}

// missing returns the result of a step that needs a word outside of the copy of the stack. The result is cut if the
// word is above the end of the copy, where the stack may continue, and failed if the address can't be right.
func (k *walk) missing(addr uint64) step {
	if addr >= k.dump.Base && addr-k.dump.Base >= uint64(len(k.dump.Data)) && addr-k.dump.Base < farthest {
		return cut
	}
	return failed
}

// farthest is the largest distance in bytes between the start of the copy and a frame of the same stack. Threads have
// stacks of 1 to 8 MB, and the main thread may have a larger one.
const farthest = 1 << 30

// unwindByFP finds the caller of a frame that begins with a saved frame pointer, to which the frame pointer points.
//
// On aarch64, the interpreter's stack pointer is below all that a frame may push, and the frame of a called method
// begins at the pushed arguments. So the caller's stack pointer may be below the called method's frame, and it can't be
// found here. It is not needed, because the caller is then an interpreter frame, too, which is unwound by its frame
// pointer.
func (k *walk) unwindByFP(c *code) step {
	fp, known := k.at.Get(k.fp)
	if !known {
		return failed
	}
	pc, ok1 := k.dump.Word(fp + 8)
	saved, ok2 := k.dump.Word(fp)
	sp := fp + 16
	if !ok1 || !ok2 {
		return k.missing(fp + 8)
	}
	if c.rule == interpreter {
		sender, ok := k.dump.Word(fp - senderSP)
		switch {
		case ok && sender >= fp+8: // fp+8 after MethodHandle.linkToStatic, which takes an argument off the stack
			sp = sender
		case !ok || !k.low:
			return failed
		}
	}
	next := cfi.Registers{PC: pc}
	next.Set(k.sp, sp)
	next.Set(k.fp, saved)
	return k.returnTo(&next)
}

// trueReturn replaces the address of a deoptimization handler with the address that the callee would have returned to
// before the method was deoptimized. HotSpot has stored it in the method's frame (frame::deoptimize).
func (k *walk) trueReturn() {
	if k.jvm.openJVM == nil {
		return
	}
	c := k.place().code
	if c == nil || c.Method == nil || k.at.PC != c.deopt[0] && k.at.PC != c.deopt[1] {
		return
	}
	if pc, ok := k.dump.Word(k.at.Values[k.sp] + c.origPC); ok && pc&k.mask >= c.Lo && pc&k.mask < c.Hi {
		k.at.PC = pc & k.mask
	}
}

// unwindReturnBarrier skips the frames of a virtual thread that are in the heap. HotSpot has replaced the return
// address of the outermost frame on the carrier's stack with the address of the return barrier. The next frame on that
// stack is the one of Continuation.enterSpecial.
//
// If the thread is in the barrier itself or in cont_thaw, frames are being moved at that moment. Then the walk
// continues with the next return address on the stack that belongs to Continuation.enterSpecial or to its caller,
// Continuation.run.
func (k *walk) unwindReturnBarrier() step {
	special, barrier := k.jvm.special.Load(), k.jvm.barrier.Load()
	if special == nil {
		return failed
	}
	frozen := &frame{Frame: callstack.At(callstack.Frozen, 0)}
	if k.exact || barrier == nil || k.at.PC != barrier.Lo {
		s := k.findContinuation()
		if s == found {
			k.frames = append(k.frames, frozen)
		}
		return s
	}
	below := k.codeOf(special)
	if below == nil {
		return failed
	}
	entered, _ := k.compiled(below, special.Lo)
	k.frames = append(append(k.frames, frozen), entered...)
	if below.frameSize == 0 {
		return failed
	}
	return k.caller(k.at.Values[k.sp] + below.frameSize)
}

// mostCandidates limits how many return addresses into Java methods findContinuation examines.
const mostCandidates = 64

// findContinuation searches the stack upwards for the frame of Continuation.enterSpecial or Continuation.run. The space
// that cont_thaw has reserved for the frames that it moves still has old return addresses. So a return address into
// enterSpecial counts only if there is one into Continuation.run where the frame of enterSpecial ends.
func (k *walk) findContinuation() step {
	before := k.at
	candidates := 0
	for at := k.at.Values[k.sp] &^ 7; candidates < mostCandidates; at += 8 {
		c, s := k.returnAt(at)
		switch {
		case s != found:
			return s
		case c == nil:
			continue
		case c.Blob == k.jvm.special.Load():
			entered := k.at
			if run, _ := k.returnAt(at + c.frameSize); run != nil && k.isRun(run) {
				k.at = entered
				return found
			}
		case k.isRun(c):
			return found
		}
		candidates++
		k.at = before
	}
	return failed
}

// returnAt reads the word at an address of the stack. If the word is a return address into Java code, returnAt returns
// this code, and the current frame becomes the one that the address returns to. Otherwise c is nil, and the current
// frame does not change.
func (k *walk) returnAt(at uint64) (c *code, s step) {
	pc, ok := k.dump.Word(at)
	if !ok {
		return nil, k.missing(at)
	}
	pc &= k.mask
	b, _ := k.jvm.view.Cache.At(pc-1, k.monoNanos)
	if b == nil || b.Method == nil && b.Kind != printassembly.Interpreter {
		return nil, found
	}
	next := cfi.Registers{PC: pc}
	next.Set(k.sp, at+8)
	if value, ok := k.dump.Word(at - 8); ok {
		next.Set(k.fp, value)
	}
	return k.codeOf(b), k.returnTo(&next)
}

// isRun reports whether the current frame is that of Continuation.run. c is the frame's code.
func (k *walk) isRun(c *code) bool {
	const run = "jdk.internal.vm.Continuation::run"
	if c.Method != nil {
		frames, _ := k.compiled(c, k.at.PC)
		return frames[0].Name == run
	}
	fp, known := k.at.Get(k.fp)
	return known && fp > k.at.Values[k.sp] && k.interpreted(c).Name == run
}
