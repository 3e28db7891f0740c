package stack

import (
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
)

// emit appends the frames at the current address, innermost first. A compiled method has several if methods are inlined
// there.
func (k *walk) emit(p place) {
	switch {
	case p.isInterpreter():
		k.frames = append(k.frames, k.interpreted(p.code))
	case p.code != nil && p.code.rule == returnBarrier && k.at.PC == p.code.Lo: // unwindReturnBarrier adds a mark
	case k.exact && p.mapped != nil:
		k.frames = append(k.frames, k.interruptedIn(p))
	case k.exact:
		frames, _ := k.framesOf(p)
		k.frames = append(k.frames, frames...)
	default:
		s := k.site()
		frames := s.frames
		if frames == nil {
			var ok bool
			if frames, ok = k.framesOf(p); ok {
				s.frames = frames
			}
		}
		k.frames = append(k.frames, frames...)
	}
}

// framesOf returns the frames of code that is not the interpreter's. ok is false if a later call may find more frames.
func (k *walk) framesOf(p place) (frames []*frame, ok bool) {
	switch {
	case p.code != nil && p.code.Method != nil:
		return k.compiled(p.code, k.at.PC)
	case p.code != nil:
		f := callstack.At(callstack.Stub, k.at.PC)
		f.Name = p.code.Name
		return []*frame{{Frame: f}}, true
	case p.mapped != nil:
		f := callstack.At(callstack.Native, k.at.PC)
		if named, ok := k.mappings.Resolve(k.pid, k.lookup(), ""); ok {
			f.Module, f.Name = named.Module, named.Symbol
		}
		return []*frame{{Frame: f}}, true
	}
	return nil, false
}

// interruptedIn returns the frame of a library's function that has entered the kernel, or was interrupted by a signal.
func (k *walk) interruptedIn(p place) *frame {
	known := k.jvm.sites.interrupted
	f := known[k.at.PC]
	if f == nil {
		frames, _ := k.framesOf(p)
		if f = frames[0]; len(known) < mostSites {
			known[k.at.PC] = f
		}
	}
	return f
}

// compiled returns the frames of a compiled method at a return address, innermost first. ok is false if it is not known
// what was inlined. Then the only frame is the method's own.
func (k *walk) compiled(c *code, pc uint64) (frames []*frame, ok bool) {
	if frames, ok := c.frames[pc]; ok && !k.exact {
		return frames, true
	}
	methods, ok := k.inlined(c, pc)
	for _, f := range methods {
		at := callstack.At(callstack.Inlined, pc)
		at.CompileID = c.Method.ID
		describe(&at, &f)
		frames = append(frames, &frame{Frame: at, method: f})
	}
	frames[len(frames)-1].Kind = callstack.Compiled
	if ok && len(c.frames) < mostReturns {
		c.frames[pc] = frames
	}
	return frames, ok
}

// mostReturns is the largest number of return addresses in one method for which the inlined frames are read.
const mostReturns = 1 << 12

// inlined reads the frames at a return address from the method's debug info. If that is not possible, or if the thread
// was not in a call, it returns the method alone, and ok is false.
func (k *walk) inlined(c *code, pc uint64) (frames []nmethod.Frame, ok bool) {
	wrapper := c.Method.Kind == "c2n" || c.Method.Kind == "cnt" // of a native method
	alone := []nmethod.Frame{{Method: c.Name, BCI: -1, Native: wrapper}}
	// The exact frames are not known here. But the outermost frame at any address has the name of the method's source
	// file.
	if k.exact && k.places && c.Method.Size <= mostCode {
		if frames := k.copied(c, pc); len(frames) > 0 {
			alone[0].Source = frames[len(frames)-1].Source
		}
		return alone, false
	}
	switch {
	case k.exact || c.Method.Size > mostCode || len(c.frames) >= mostReturns:
		return alone, false
	case wrapper:
		return alone, true
	}
	if frames = k.copied(c, pc); len(frames) == 0 {
		return alone, false
	}
	return frames, true
}

// copied reads the frames at a return address from a copy of the method. It returns nil if the method can't be copied.
func (k *walk) copied(c *code, pc uint64) []nmethod.Frame {
	view := k.jvm.view
	return ask(k, func() (frames []nmethod.Frame) {
		view.Copy(func(copier *nmethod.Copier) {
			if copied, err := copier.Copy(c.Method); err == nil {
				frames, _, _ = copied.FramesAt(pc)
			}
		})
		return frames
	})
}

// interpreted returns the frame of the method that the interpreter executes in a codelet.
func (k *walk) interpreted(c *code) *frame {
	method, bcp, ok := k.interpreterState(c)
	if !ok {
		return &frame{Frame: callstack.At(callstack.Interpreted, 0)}
	}
	known := k.jvm.sites.methods
	at := methodAt{method, bcp}
	f := known[at]
	if f == nil {
		if f = k.interpretedAt(at); !k.late {
			known[at] = f
		}
	}
	f.used = true
	return f
}

// interpretedAt returns the frame at a bytecode that the interpreter executes. It also checks the stale frames, and
// keeps those that are still right.
func (k *walk) interpretedAt(at methodAt) *frame {
	view, sites := k.jvm.view, &k.jvm.sites
	stale := slices.Collect(maps.Keys(sites.stale))
	type result struct {
		frame nmethod.Frame
		stale []nmethod.Frame // what stale are now; without a name if the method has changed
	}
	found := ask(k, func() (found result) {
		found.frame.BCI = -1
		view.Copy(func(copier *nmethod.Copier) {
			found.stale = unchanged(copier, stale)
			if read, err := copier.Interpreted(at.method, at.bcp); err == nil {
				found.frame = read
			}
		})
		return found
	})
	f := &frame{Frame: callstack.At(callstack.Interpreted, 0)}
	if k.late {
		return f
	}
	for i, at := range stale {
		// Another reader may have read another method at this address, which has not changed since.
		if was, is := sites.stale[at], &found.stale[i]; was.method.Method == is.Method && was.method.BCI == is.BCI &&
			was.method.Line == is.Line && was.method.Source == is.Source && was.method.Native == is.Native {
			sites.methods[at] = was
		}
	}
	sites.stale = nil
	if right := sites.methods[at]; right != nil {
		return right
	}
	describe(&f.Frame, &found.frame)
	f.method = found.frame
	return f
}

// unchanged returns the frames at bytecodes whose methods have not changed. The others are zero.
func unchanged(copier *nmethod.Copier, at []methodAt) []nmethod.Frame {
	methods := make([]uint64, len(at))
	for i := range at {
		methods[i] = at[i].method
	}
	frames := make([]nmethod.Frame, len(at))
	for i, same := range copier.Unchanged(methods) {
		if same {
			frames[i], _ = copier.Interpreted(methods[i], at[i].bcp) // it reads nothing, so it does not fail
		}
	}
	return frames
}

// interpreterState returns the address of the Method that the interpreter executes, and the address of the bytecode,
// which is 0 if it is unknown. ok is false if the Method is unknown.
func (k *walk) interpreterState(c *code) (method, bcp uint64, ok bool) {
	entry := isMethodEntry(c.Name)
	if fp, known := k.at.Get(k.fp); known && (!k.exact || k.hasFrame(c)) {
		if method, ok = k.dump.Word(fp - k.methodSlot); ok {
			switch {
			case !k.exact:
				bcp, _ = k.dump.Word(fp - k.bcpAt())
			case !entry:
				bcp, _ = k.at.Get(k.bcp)
			}
			return method, bcp, true
		}
	}
	if k.exact && entry { // the frame does not exist yet, or is not complete
		method, ok = k.at.Get(k.method)
	}
	// In other codelets without a frame, the method has already returned, and fp is the frame pointer of its caller.
	return method, 0, ok
}

// bcpAt returns the distance in bytes from fp down to the place where an interpreter frame has the address of the
// bytecode that it executes.
func (k *walk) bcpAt() uint64 {
	if k.jvm.layout.release == 8 {
		return k.bcpSlot8
	}
	return k.bcpSlot
}

// isMethodEntry reports whether the interpreter begins methods with this codelet. Since JDK 25, some of these codelets
// are only for native methods.
func isMethodEntry(codelet string) bool { return strings.Contains(codelet, "method entry point") }

// describe sets a frame's name, bci and line from what is known about its method. The frame must not have them yet.
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
