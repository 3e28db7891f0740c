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
		f := callstack.At(callstack.Stub, k.at.PC)
		f.Name = p.code.Name
		k.frames = append(k.frames, f)
	case p.mapped:
		f := callstack.At(callstack.Native, k.at.PC)
		if named, ok := k.mappings.Resolve(k.pid, k.lookup(), ""); ok {
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
		at := callstack.At(callstack.Inlined, pc)
		at.CompileID = c.Method.ID
		describe(&at, &f)
		frames = append(frames, at)
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
	f := callstack.At(callstack.Interpreted, 0)
	if method, bcp, ok := k.interpreterState(c); ok {
		if at, err := k.jvm.copier.Interpreted(method, bcp); err == nil {
			describe(&f, &at)
		}
	}
	return f
}

// interpreterState returns the address of the Method that is executed, and that of its bytecode, or 0 if that is
// unknown.
func (k *walk) interpreterState(c *code) (method, bcp uint64, ok bool) {
	entry := isMethodEntry(c.Name)
	if fp, known := k.at.Get(rbp); known && (!k.exact || k.hasFrame(c)) {
		if method, ok = k.dump.Word(fp - k.jvm.layout.method); ok {
			switch {
			case !k.exact:
				bcp, _ = k.dump.Word(fp - k.jvm.layout.bcp)
			case !entry:
				bcp, _ = k.at.Get(r13)
			}
			return method, bcp, true
		}
	}
	if k.exact && entry { // the frame is not there yet, or is not complete
		method, ok = k.at.Get(rbx)
	}
	return method, 0, ok // without a frame, a method has returned already, and rbp is its caller's
}

// isMethodEntry reports whether a codelet is one that the interpreter begins a method with. Native methods have some of
// their own since JDK 25.
func isMethodEntry(codelet string) bool { return strings.Contains(codelet, "method entry point") }

// describe copies what is known about a method into a frame that has nothing of it.
func describe(to *callstack.Frame, f *nmethod.Frame) {
	to.Name = clip(f.Method)
	if f.BCI >= 0 {
		to.BCI = f.BCI
	}
	if f.Line > 0 {
		to.Line = f.Line
	}
}

// longestName is the maximum length of a name in a frame, in bytes.
const longestName = 2 << 10

func clip(name string) string {
	if len(name) > longestName {
		return name[:longestName] + "…"
	}
	return name
}
