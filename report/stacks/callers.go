package stacks

import (
	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/report/names"
)

// A stackLocations converts stacks of one tree to locations of pprof.
type stackLocations struct {
	*pprofBuilder
	stacks *calltree.Stacks // nil if there are no stacks
	known  map[callerKey]caller
}

// A callerKey identifies the innermost frame of a stack. The process matters because each has its own code cache.
type callerKey struct {
	pid   int
	stack callstack.ID
}

// A caller is the innermost frame of a stack, as a location of pprof. If the frame is an inlined method, the location
// also has the frames around it, up to the compiled method. The field next is the rest of the stack.
type caller struct {
	location *pprof.Location
	next     callstack.ID
}

// Names of mappings that are not files, for frames of stacks.
const (
	interpreted = "[interpreter]"
	marks       = "[stack]" // marks in place of missing frames
	instruction = "[instruction]"
)

// mapCallers extends the mapping of a process's code cache so that the mapping contains the addresses of a stack.
func (b *stackLocations) mapCallers(pid int, id callstack.ID) {
	if b.stacks == nil {
		return
	}
	for {
		f, up := b.stacks.Frame(id)
		key := callerKey{pid, id}
		if _, known := b.known[key]; f == nil || known {
			return
		}
		b.known[key] = caller{}
		if inCodeCache(f) {
			b.mapAddress(pid, f.PC)
		}
		id = up
	}
}

// inCodeCache reports whether the address of a frame is in the code cache.
func inCodeCache(f *callstack.Frame) bool {
	return f.Kind == callstack.Compiled || f.Kind == callstack.Inlined || f.Kind == callstack.Stub
}

// append appends the locations of all frames of a stack, the innermost first.
func (b *stackLocations) append(all []*pprof.Location, pid int, id callstack.ID) []*pprof.Location {
	if b.stacks == nil {
		return all
	}
	if f, _ := b.stacks.Frame(id); f == nil {
		for code := range b.stacks.Callers(id) {
			all = append(all, b.mark(code))
		}
		return all
	}
	for id != 0 {
		if len(all) > calltree.MaxFrames {
			return append(all, b.mark(calltree.Code{Kind: callstack.Cut}))
		}
		c := b.caller(pid, id)
		all = append(all, c.location)
		id = c.next
	}
	return all
}

// mark returns the location of a mark, which is in place of missing frames.
func (b *pprofBuilder) mark(code calltree.Code) *pprof.Location {
	return b.namedMark(code.Label())
}

// namedMark returns the location of a frame that is not a function of the program.
func (b *pprofBuilder) namedMark(name string) *pprof.Location {
	return b.locationOf(b.mapping(mappingKey{0, marks}), 0, []pprof.Line{{Function: b.function(name, "")}})
}

// instruction returns the location of a frame that stands for an instruction.
func (b *pprofBuilder) instruction(name string) *pprof.Location {
	return b.locationOf(b.mapping(mappingKey{0, instruction}), 0, []pprof.Line{{Function: b.function(name, "")}})
}

// caller returns the innermost frame of a stack. The stack must not be empty.
func (b *stackLocations) caller(pid int, id callstack.ID) caller {
	key := callerKey{pid, id}
	if c := b.known[key]; c.location != nil {
		return c
	}
	f, up := b.stacks.Frame(id)
	lines := []pprof.Line{b.callerLine(f)}
	for inlined := f; inlined.Kind == callstack.Inlined && up != 0 && len(lines) < calltree.MaxFrames; {
		inlined, up = b.stacks.Frame(up)
		lines = append(lines, b.callerLine(inlined))
	}
	c := caller{b.locationOf(b.mapping(mappingOf(pid, f)), f.PC, lines), up}
	b.known[key] = c
	return c
}

// mappingOf returns the key of the mapping that contains a frame's code.
func mappingOf(pid int, f *callstack.Frame) mappingKey {
	switch {
	case inCodeCache(f):
		return mappingKey{pid, codeCache}
	case f.Kind == callstack.Interpreted:
		return mappingKey{0, interpreted}
	case f.Kind == callstack.Kernel:
		return mappingKey{0, kernel}
	case f.Kind == callstack.Native && f.Module != "":
		return mappingKey{0, f.Module}
	case f.Kind == callstack.Native:
		return mappingKey{0, profile.UnknownModule}
	}
	return mappingKey{0, marks}
}

// callerLine returns the line of a frame.
func (b *pprofBuilder) callerLine(f *callstack.Frame) pprof.Line {
	if f.Kind.Java() {
		return pprof.Line{Function: b.function(f.Name, names.SourcePath(f.Name, b.all.SourceFile(f.Name))),
			Line: int64(max(f.Line, 0))}
	}
	code := calltree.CodeOf(f)
	return pprof.Line{Function: b.function(code.Label(), "")}
}
