package profile

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/chains"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/sampler"
)

// A chainCode tells package chains which code is at an address (chains.Code).
type chainCode struct {
	b      *Builder
	reader *jvmcode.Reader
	called map[calledAt][]callstack.Frame
	// frameless has, by blob, the addresses of instructions at which the code has no frame.
	frameless map[jvmcode.Ref]map[uint64]bool
}

// A calledAt is an instruction of a piece of code, and the address at which the execution goes on.
type calledAt struct {
	jvmcode.Ref
	pc, next uint64
}

func newChainCode(b *Builder) *chainCode {
	return &chainCode{b, jvmcode.NewReader(b.jvms, disasm.ATT, func(string, ...any) {}), map[calledAt][]callstack.Frame{}, map[jvmcode.Ref]map[uint64]bool{}}
}

func (c *chainCode) FramePointers(pid int) bool {
	i, ok := c.b.byPID[pid]
	return ok && c.b.jvms[i].FramePointers
}

func (c *chainCode) Sampled(pid int, pc uint64, monoNanos int64) chains.Place {
	ref, p, ok := c.find(pid, pc, monoNanos)
	if ok {
		p.Frames = c.frames(ref, pc, pc)
		p.Frameless = c.FramePointers(pid) && c.isFrameless(ref, pc)
	}
	return p
}

func (c *chainCode) Called(pid int, pc uint64, monoNanos int64) chains.Place {
	// The byte before the return address belongs to the call. The address itself may be in other code.
	ref, p, ok := c.find(pid, pc-1, monoNanos)
	switch {
	case ok:
		p.Frames = c.frames(ref, pc-1, pc)
	case c.mayBeCode(pid, pc-1):
		p.Frames, p.Unknown = []callstack.Frame{callstack.At(callstack.Stub, pc)}, true
	}
	return p
}

// mayBeCode reports whether an address may be in code of HotSpot that is not in the log. HotSpot prints neither the
// interpreter nor stubs, unless it is asked to.
func (c *chainCode) mayBeCode(pid int, pc uint64) bool {
	i, ok := c.b.byPID[pid]
	return ok && len(c.b.jvms[i].Log.Blobs) > 0 && !c.b.beyondCode(pid, pc)
}

func (c *chainCode) find(pid int, pc uint64, monoNanos int64) (ref jvmcode.Ref, p chains.Place, ok bool) {
	ref, ok = c.b.findCode(pid, &sampler.Sample{PC: pc, MonoNanos: monoNanos})
	p.Lasting = ok && !c.b.jvms[ref.JVM].Code.Reused(ref.Index)
	return ref, p, ok
}

// frames returns the frames of an instruction, innermost first. next is the address at which the execution goes on.
func (c *chainCode) frames(ref jvmcode.Ref, pc, next uint64) []callstack.Frame {
	at := calledAt{ref, pc, next}
	frames, ok := c.called[at]
	if ok {
		return frames
	}
	switch blob := c.reader.Blob(ref); {
	case blob.Kind.Java():
		c.reader.ReadDebugInfo(ref)
		for _, f := range c.reader.Chain(ref, pc) {
			frame := callstack.Frame{Kind: callstack.Inlined, PC: next, CompileID: blob.ID, BCI: f.BCI, Line: f.Line, Name: f.Method}
			if f.Line == 0 {
				frame.Line = callstack.Unknown
			}
			frames = append(frames, frame)
		}
		frames[len(frames)-1].Kind = callstack.Compiled
	case blob.Kind == printassembly.Interpreter:
		frames = []callstack.Frame{callstack.At(callstack.Interpreted, 0)}
	default:
		f := callstack.At(callstack.Stub, next)
		f.Name = blob.Name
		frames = []callstack.Frame{f}
	}
	if len(c.called) >= maxAddresses {
		clear(c.called)
	}
	c.called[at] = frames
	return frames
}

// isFrameless reports whether the code has no frame of its own at an instruction. It returns false if that is not
// known.
func (c *chainCode) isFrameless(ref jvmcode.Ref, pc uint64) bool {
	blob := c.reader.Blob(ref)
	switch blob.Kind {
	case printassembly.Adapter, printassembly.VtableStub, printassembly.Unprinted:
		return true
	}
	if !blob.HasCode {
		return false
	}
	at, ok := c.frameless[ref]
	if !ok {
		at = chains.Frameless(c.reader.Listing(ref), blob.Kind == printassembly.Interpreter)
		c.frameless[ref] = at
	}
	return at[pc]
}

// stackOf returns the call stack of a sample. It makes the stack if the sample has a chain.
func (b *Builder) stackOf(j *joinedSample) callstack.ID {
	if b.chains == nil {
		return j.Stack
	}
	return b.chains.Of(chains.Sample{PID: j.pid, PC: j.PC, Kernel: j.Kernel(), MonoNanos: j.MonoNanos, Stack: j.Stack})
}

// distrusted returns the number of samples whose stacks are cut at their innermost Java frame, because their JVMs keep no
// frame pointers.
func (b *Builder) distrusted() int64 {
	if b.chains == nil {
		return 0
	}
	return b.chains.Distrusted()
}
