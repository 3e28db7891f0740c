package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Location is where samples of one process and thread were: at an address in the code cache, or in a function outside
// of it.
type Location struct {
	PID int
	// Thread is the thread's name without the number at its end, as in [threads.Total]. It is "" if the sampler
	// recorded no name.
	Thread string
	// During are the events of the JVM or the thread that were going on when the samples were taken: "gc", "safepoint",
	// or the name of one of the program's own events.
	During []string
	// PC is the address in the code cache or, for unresolved samples, near it. It is 0 for native code, which is
	// counted by function: an address in native code means nothing without the files that were mapped there.
	PC uint64
	// Source is the name of the row in [Profile.Sources] that has the samples.
	Source string
	// Module is the Module of the [NativeFunction], or "" for all other code.
	Module string
	// Name is the name of the method, stub, codelet or native function; "" if it is unknown.
	Name      string
	CompileID int // the compile id of compiled code; 0 for all other code
	// Frames is the inlining chain of compiled code, innermost first. If there is no debug info, Frames is the method
	// itself. For the interpreter, Frames is the interpreted method, if the stack has it. For all other code, Frames is
	// nil.
	Frames []printassembly.Frame
	// Instruction is the name of the instruction at PC, as package top sets it for hot instructions; usually "".
	Instruction string
	// Stack is the stack of this code's callers, in [Profiles.Stacks]. It is 0 if the callers are not known.
	Stack  callstack.ID
	Counts tally.Counts
}

// locations returns all locations, hottest first. Each sample of the profile is in one of them.
func (w *work) locations() []Location {
	var all []Location
	if w.trial.stacks != nil {
		w.trial.stacks.Each(w.n, func(k calltree.Key[spot], c tally.Counts) {
			all = append(all,
				w.location(k, slices.Clone(c)))
		})
	} else {
		for k, c := range w.withoutStacks() {
			all = append(all, w.location(k, c))
		}
	}
	slices.SortFunc(all, func(a, b Location) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.PID, b.PID), cmp.Compare(a.PC, b.PC),
			cmp.Compare(a.Module, b.Module), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.CompileID, b.CompileID),
			cmp.Compare(a.Thread, b.Thread), slices.Compare(a.During, b.During), cmp.Compare(a.Stack, b.Stack))
	})
	return all
}

// withoutStacks sums up the samples of all time slices by spot and context, without call stacks.
func (w *work) withoutStacks() map[calltree.Key[spot]]tally.Counts {
	sums := map[calltree.Key[spot]]tally.Counts{}
	add := func(at spot, pid int, context int32, c tally.Counts) {
		tally.AddTo(sums, calltree.Key[spot]{Spot: at, JVM: w.trial.jvm(pid), Context: context}, c, w.n)
	}
	for key, c := range w.trial.code {
		add(spot{int32(key.jvm), int32(key.blob), key.pc}, w.b.jvms.List[key.jvm].PID, key.context, c)
	}
	for key, c := range w.trial.native {
		add(spot{jvm: inNative, blob: key.function}, key.pid, key.context, c)
	}
	for key, c := range w.trial.unresolved {
		add(spot{jvm: inUnresolved, pc: key.pc}, key.pid, key.context, c)
	}
	return sums
}

// location returns the Location of the samples that were counted for a key.
func (w *work) location(k calltree.Key[spot], c tally.Counts) Location {
	in := w.b.contexts.At(k.Context)
	l := Location{PID: w.trial.PIDs[k.JVM], Thread: w.b.threads.Label(in.Label), During: w.b.events.Names(in.Events),
		Counts: c, Stack: k.Stack}
	switch k.Spot.jvm {
	case inUnresolved:
		l.PC, l.Source = k.Spot.pc, UnresolvedSource
	case inNative:
		f := w.b.functions.At(k.Spot.blob)
		l.Source, l.Module, l.Name = f.Module, f.Module, f.Symbol
	default:
		ref := k.Spot.ref()
		blob := w.code.Blob(ref)
		l.PC, l.Source, l.Name, l.CompileID = k.Spot.pc, blob.Source(), blob.Name, blob.ID
		if blob.Kind.Java() {
			l.Frames = w.code.Chain(ref, k.Spot.pc)
		}
	}
	if frames, caller := w.b.leaf(w.code, k.Spot, k.Stack); caller != k.Stack {
		l.Stack = caller
		if f := frames[0]; f.Kind == callstack.Interpreted {
			l.Frames = []printassembly.Frame{{Method: f.Name, BCI: f.BCI, Line: max(f.Line, 0)}}
		}
	}
	return l
}
