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
// kinds, those with the most samples decide.
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

// compilerOf returns the kind of the compiled method that a frame is in.
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
