package jvmcode

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/chains"
	"github.com/gasm-profiler/gasm/sampler"
)

// A ChainCode tells package chains which code is at an address ([chains.Code]).
type ChainCode struct {
	jvms   *JVMs
	reader *Reader
	called map[calledAt][]callstack.Frame
	// frameless has, by blob, the addresses of instructions at which the code has no frame.
	frameless map[Ref]map[uint64]bool
}

// maxCalled limits the number of instructions whose frames are kept.
const maxCalled = 1 << 18

// A calledAt is an instruction of a piece of code, and the address at which execution continues after it. For a sampled
// instruction, both addresses are the same.
type calledAt struct {
	Ref
	pc, next uint64
}

// NewChainCode returns a ChainCode for the code of these JVMs.
func NewChainCode(jvms *JVMs) *ChainCode {
	return &ChainCode{jvms, NewReader(jvms, disasm.ATT, func(string, ...any) {}), map[calledAt][]callstack.Frame{},
		map[Ref]map[uint64]bool{}}
}

// FramePointers implements [chains.Code].
func (c *ChainCode) FramePointers(pid int) bool {
	j := c.jvms.Of(pid)
	return j != nil && j.FramePointers
}

// Sampled implements [chains.Code].
func (c *ChainCode) Sampled(pid int, pc uint64, monoNanos int64) chains.Place {
	ref, p, ok := c.find(pid, pc, monoNanos)
	if ok {
		p.Frames = c.frames(ref, pc, pc)
		p.Frameless = c.FramePointers(pid) && c.isFrameless(ref, pc)
	}
	return p
}

// Called implements [chains.Code].
func (c *ChainCode) Called(pid int, pc uint64, monoNanos int64) chains.Place {
	// The byte before the return address is the last byte of the call. The address itself may be in other code.
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
func (c *ChainCode) mayBeCode(pid int, pc uint64) bool {
	j := c.jvms.Of(pid)
	return j != nil && len(j.Log.Blobs) > 0 && !c.jvms.Beyond(pid, pc)
}

func (c *ChainCode) find(pid int, pc uint64, monoNanos int64) (ref Ref, p chains.Place, ok bool) {
	ref, ok = c.jvms.Find(pid, &sampler.Sample{PC: pc, MonoNanos: monoNanos})
	p.Lasting = ok && !c.jvms.List[ref.JVM].Code.Reused(ref.Index)
	return ref, p, ok
}

// frames returns the frames of an instruction, innermost first. The parameter next is the address at which execution
// continues.
func (c *ChainCode) frames(ref Ref, pc, next uint64) []callstack.Frame {
	at := calledAt{ref, pc, next}
	frames, ok := c.called[at]
	if ok {
		return frames
	}
	switch blob := c.reader.Blob(ref); {
	case blob.Kind.Java():
		c.reader.ReadDebugInfo(ref)
		for _, f := range c.reader.Chain(ref, pc) {
			frame := callstack.Frame{Kind: callstack.Inlined, PC: next, CompileID: blob.ID, BCI: f.BCI, Line: f.Line,
				Name: f.Method}
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
	if len(c.called) >= maxCalled {
		clear(c.called)
	}
	c.called[at] = frames
	return frames
}

// isFrameless reports whether the code has no frame of its own at an instruction. It returns false if that is not
// known.
func (c *ChainCode) isFrameless(ref Ref, pc uint64) bool {
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
