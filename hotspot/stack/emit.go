package stack

import (
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
)

// emit appends the frames of the current place, innermost first.
func (k *walk) emit(p place) {
	switch {
	case p.code != nil && p.code.Method != nil:
		k.frames = append(k.frames, k.compiled(p.code, k.at.PC)...)
	case p.isInterpreter():
		k.frames = append(k.frames, k.interpreted(p.code))
	case p.code != nil && p.code.rule == returnBarrier && k.at.PC == p.code.Lo: // unwindReturnBarrier marks it
	case p.code != nil:
		k.frames = append(k.frames, callstack.Frame{Kind: callstack.Stub, PC: k.at.PC, BCI: callstack.Unknown, Line: callstack.Unknown, Name: p.code.Name})
	case p.mapped:
		f := callstack.Frame{Kind: callstack.Native, PC: k.at.PC, BCI: callstack.Unknown, Line: callstack.Unknown}
		pc := k.at.PC
		if !k.exact {
			pc--
		}
		if named, ok := k.mappings.Resolve(k.pid, pc, ""); ok {
			f.Module, f.Name = named.Module, named.Symbol
		}
		k.frames = append(k.frames, f)
	}
}

// compiled returns the frames of a compiled method at a return address, innermost first.
func (k *walk) compiled(c *code, pc uint64) []callstack.Frame {
	if frames, ok := c.frames[pc]; ok && !k.exact {
		return frames
	}
	var frames []callstack.Frame
	methods, ok := k.inlined(c, pc)
	for _, f := range methods {
		frames = append(frames, callstack.Frame{Kind: callstack.Inlined, PC: pc, CompileID: c.Method.ID, BCI: known(f.BCI >= 0, f.BCI),
			Line: known(f.Line > 0, f.Line), Name: clip(f.Method)})
	}
	frames[len(frames)-1].Kind = callstack.Compiled
	if ok && len(c.frames) < mostReturns {
		c.frames[pc] = frames
	}
	return frames
}

// mostReturns is the largest number of return addresses in a method whose frames are read.
const mostReturns = 1 << 12

// inlined reads the frames at a return address from the method's debug info. If that is not possible, or if the thread
// was not calling, it returns the method alone, and ok is false.
func (k *walk) inlined(c *code, pc uint64) (frames []nmethod.Frame, ok bool) {
	alone := []nmethod.Frame{{Method: c.Name, BCI: -1}}
	switch {
	case k.exact || c.Method.Size > mostCode || len(c.frames) >= mostReturns:
		return alone, false
	case c.Method.Kind == "c2n" || c.Method.Kind == "cnt":
		return alone, true
	}
	copied, err := k.jvm.copier.Copy(c.Method)
	if err != nil {
		return alone, false
	}
	frames, _, err = copied.FramesAt(pc)
	if err != nil || len(frames) == 0 {
		return alone, false
	}
	return frames, true
}

// interpreted returns the frame of the method that the interpreter executes in a codelet.
func (k *walk) interpreted(c *code) callstack.Frame {
	f := callstack.Frame{Kind: callstack.Interpreted, BCI: callstack.Unknown, Line: callstack.Unknown}
	method, bcp, ok := k.interpreterState(c)
	if !ok {
		return f
	}
	at, err := k.jvm.copier.Interpreted(method, bcp)
	if err != nil {
		return f
	}
	f.Name, f.BCI, f.Line = clip(at.Method), known(at.BCI >= 0, at.BCI), known(at.Line > 0, at.Line)
	return f
}

// interpreterState returns the address of the Method that is executed, and that of its bytecode, or 0 if that is
// unknown.
func (k *walk) interpreterState(c *code) (method, bcp uint64, ok bool) {
	if k.exact && isMethodEntry(c.Name) && !k.hasFrame(c) {
		method, ok = k.at.Get(rbx)
		return method, 0, ok
	}
	fp, ok := k.at.Get(rbp)
	if !ok || k.exact && !k.hasFrame(c) { // the method has returned already, and rbp is its caller's
		return 0, 0, false
	}
	method, ok = k.dump.Word(fp + uint64(k.jvm.layout.methodSlot))
	if !ok {
		return 0, 0, false
	}
	if k.exact {
		if !isMethodEntry(c.Name) {
			bcp, _ = k.at.Get(r13)
		}
		return method, bcp, true
	}
	bcp, _ = k.dump.Word(fp + uint64(k.jvm.layout.bcpSlot))
	return method, bcp, true
}

// isMethodEntry reports whether a codelet is one that the interpreter begins a method with. Native methods have some of
// their own since JDK 25.
func isMethodEntry(codelet string) bool { return strings.Contains(codelet, "method entry point") }

// known returns n, or Unknown.
func known(ok bool, n int) int {
	if !ok {
		return callstack.Unknown
	}
	return n
}

// longestName is the maximum length of a name in a frame, in bytes.
const longestName = 2 << 10

func clip(name string) string {
	if len(name) > longestName {
		return name[:longestName] + "…"
	}
	return name
}
