package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
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
	// or the name of an event of the program's own.
	During []string
	// PC is the address in the code cache or, for unresolved samples, near it. It is 0 for native code, which is
	// counted by function, because its addresses mean nothing without the files that were mapped there.
	PC uint64
	// Source is the name of the row in [Profile.Sources] that has the samples.
	Source string
	// Module is the Module of the [NativeFunction], or "" for all other code.
	Module string
	// Name is the name of the method, stub, codelet or native function; "" if it is unknown.
	Name      string
	CompileID int // of compiled code; 0 for all other code
	// Frames is the inlining chain of compiled code, innermost first. Without debug info it is the method itself. It is
	// nil for all other code.
	Frames []printassembly.Frame
	Counts tally.Counts
}

// locations returns all locations, hottest first. Each sample of the profile is in one of them.
func (w *work) locations() []Location {
	all := w.codeLocations()
	native := map[nativeKey]tally.Counts{} // over all slices
	for key, c := range w.trial.native {
		key.slice = 0
		tally.AddTo(native, key, c, w.n)
	}
	for key, c := range native {
		f := w.b.functions.At(key.function)
		l := w.location(key.pid, key.context, c)
		l.Source, l.Module, l.Name = f.Module, f.Module, f.Symbol
		all = append(all, l)
	}
	unresolved := map[addressKey]tally.Counts{}
	for key, c := range w.trial.unresolved {
		key.slice = 0
		tally.AddTo(unresolved, key, c, w.n)
	}
	for key, c := range unresolved {
		l := w.location(key.pid, key.context, c)
		l.PC, l.Source = key.pc, UnresolvedSource
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Location) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.PID, b.PID), cmp.Compare(a.PC, b.PC),
			cmp.Compare(a.Module, b.Module), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.CompileID, b.CompileID),
			cmp.Compare(a.Thread, b.Thread), slices.Compare(a.During, b.During))
	})
	return all
}

// location returns a location of a process, with the thread and the events of a context.
func (w *work) location(pid int, context int32, c tally.Counts) Location {
	in := w.b.contexts.At(context)
	return Location{PID: pid, Thread: w.b.threads.Label(in.Label), During: w.b.events.Names(in.Events), Counts: c}
}

// codeLocations returns the locations in the code cache.
func (w *work) codeLocations() []Location {
	type contextPC struct {
		pc      uint64
		context int32
	}
	byBlob := map[blobRef]map[contextPC]tally.Counts{}
	for key, c := range w.trial.code { // over all slices
		ref := blobRef{key.jvm, key.blob}
		if byBlob[ref] == nil {
			byBlob[ref] = map[contextPC]tally.Counts{}
		}
		tally.AddTo(byBlob[ref], contextPC{key.pc, key.context}, c, w.n)
	}
	var all []Location
	for _, s := range w.sampled {
		for at, c := range byBlob[s.blobRef] {
			l := w.location(s.pid, at.context, c)
			l.PC, l.Source, l.Name, l.CompileID = at.pc, s.Source(), s.Name, s.ID
			if s.Kind.Java() {
				l.Frames = w.code.chain(s, at.pc)
			}
			all = append(all, l)
		}
	}
	return all
}
