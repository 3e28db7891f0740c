package page

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
)

// A frameKind is an entry in the legend of the flame graph. Kind is one of frameKinds, "inlined", or "rest" for calls
// that are left out.
type frameKind struct{ Kind, Name, Title string }

// legend returns the legend of the flame graph.
func legend(ps *profile.Profiles) []frameKind {
	top := ps.Trials[0].TopCompiler()
	if slices.ContainsFunc(ps.Trials, func(p profile.Profile) bool { return p.TopCompiler() != top }) {
		top = "C2 or JVMCI"
	}
	return []frameKind{
		{"thread", "thread", "thread"},
		{"c2", top, "compiled by " + top},
		{"c1", "C1", "compiled by C1"},
		{"compiled", "compiled", "compiled"},
		{"inlined", "inlined", "inlined into the method around it"},
		{"interpreter", "interpreted", "interpreted"},
		{"stub", "HotSpot's stub", "stub of HotSpot"},
		{"vm", "HotSpot", "HotSpot's library"},
		{"native", "library", "library"},
		{"kernel", "kernel", "kernel"},
		{"unresolved", "unknown code", "unknown code"},
		{"cut", "cut", "frames beyond the copied part of the stack are missing here"},
		{"frozen", "frozen", "frames of a virtual thread that were in the heap are missing here"},
		{"unwalked", "not walked", "the caller could not be found"},
		{"rest", "smaller ones", "calls with too few samples to be in this page"},
	}
}

// compilations are the compiled methods of a profile's JVMs, by compile id.
type compilations map[int][]*printassembly.Blob

// compilationsOf returns the compilations of a profile.
func compilationsOf(p *profile.Profile, jvms []capture.JVM) compilations {
	all := compilations{}
	for i := range jvms {
		if jvms[i].Log == nil || !slices.Contains(p.PIDs, jvms[i].PID) {
			continue
		}
		for k := range jvms[i].Log.Blobs {
			if b := &jvms[i].Log.Blobs[k]; b.Kind.Java() {
				all[b.ID] = append(all[b.ID], b)
			}
		}
	}
	return all
}

// kindOf returns the kind of a node of a tree of calls, as an index in frameKinds. If the node has frames of several
// kinds, it returns the kind with the most samples.
func (c compilations) kindOf(n *calltree.Node) int {
	kind := n.Kind
	if n.Frame != nil {
		kind = n.Frame.Kind
	}
	name := "unresolved"
	switch kind {
	case calltree.Thread:
		if name = "thread"; n.Parent < 0 {
			name = "root"
		}
	case callstack.Compiled, callstack.Inlined:
		name = c.compilerOf(n.Frame)
	case callstack.Interpreted:
		name = "interpreter"
	case callstack.Stub:
		if name = "stub"; n.Name == "["+profile.UnresolvedSource+"]" {
			name = "unresolved"
		}
	case callstack.Native:
		switch {
		case strings.HasPrefix(n.Module, "libjvm."):
			name = "vm"
		case n.Module != profile.UnknownModule:
			name = "native"
		}
	case callstack.Kernel:
		name = "kernel"
	case callstack.Cut:
		name = "cut"
	case callstack.Frozen:
		name = "frozen"
	case callstack.Unwalked:
		name = "unwalked"
	}
	return slices.Index(frameKinds, name)
}

// compilerOf returns the frame kind of a compiled method's frame. It depends on the compiler; if that is unknown, the
// result is "compiled".
func (c compilations) compilerOf(f *callstack.Frame) string {
	if f == nil {
		return "compiled"
	}
	for _, b := range c[f.CompileID] {
		if f.PC > b.Lo && f.PC <= b.Hi && (b.Kind != printassembly.NMethod || b.Compiler != "") {
			return kindOf(b.Source())
		}
	}
	return "compiled"
}
