package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A Location is a place in one process with the samples there: a program
// counter in the code cache, or a function outside of it.
type Location struct {
	PID int
	// Thread is the thread's name without the number at its end, as in [Thread]; "" where
	// the sampler gave none.
	Thread string
	// During are the events that lasted, of the JVM or the thread: "gc", "safepoint", or the
	// name of one of the program's own.
	During []string
	// PC is the address in the code cache or, of unresolved samples, near it. It is 0
	// for native code: that is counted by function, because its addresses mean nothing
	// without the files that were mapped there.
	PC uint64
	// Source is the Source of the row of [Profile.Sources] that has the samples.
	Source string
	// Module is that of a [NativeFunction], "" for all other code.
	Module string
	// Name is the method's, the stub's, the codelet's or the native function's;
	// "" when it is unknown.
	Name      string
	CompileID int // of compiled code; 0 without one
	// Frames is the inlining chain of compiled code, innermost first; without
	// debug info it is the method itself. Nil for all other code.
	Frames []printassembly.Frame
	Counts Counts
}

// locations makes the list of all locations. Each profiled sample is in one of them.
func (w *work) locations(sampled []*sampledBlob) []Location {
	all := w.codeLocations(sampled)
	native := map[nativeKey]Counts{} // over all slices
	for key, c := range w.trial.native {
		key.slice = 0
		addTo(w, native, key, c)
	}
	for key, c := range native {
		f := w.b.functions[key.function]
		thread, during := w.apart(key.thread)
		all = append(all, Location{PID: key.pid, Thread: thread, During: during, Source: f.module, Module: f.module, Name: f.symbol, Counts: c})
	}
	unresolved := map[processPC]Counts{}
	for key, c := range w.trial.unresolved {
		key.slice = 0
		addTo(w, unresolved, key, c)
	}
	for key, c := range unresolved {
		thread, during := w.apart(key.thread)
		all = append(all, Location{PID: key.pid, Thread: thread, During: during, PC: key.pc, Source: UnresolvedSource, Counts: c})
	}
	slices.SortFunc(all, func(a, b Location) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.PID, b.PID), cmp.Compare(a.PC, b.PC),
			cmp.Compare(a.Module, b.Module), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.CompileID, b.CompileID),
			cmp.Compare(a.Thread, b.Thread), slices.Compare(a.During, b.During))
	})
	return all
}

// apart gives the thread and the events of locations that are counted apart.
func (w *work) apart(at int32) (thread string, during []string) {
	thread, now := w.b.seen.apartOf(at)
	for bit := 0; now != 0; bit++ {
		if now&1 != 0 {
			t := &w.b.happening.totals[bit]
			name := string(t.Kind)
			if t.Kind == event.Own {
				name = t.Name
			}
			if name = cmp.Or(name, t.Name); !slices.Contains(during, name) {
				during = append(during, name)
			}
		}
		now >>= 1
	}
	slices.Sort(during)
	return thread, during
}

// codeLocations are the locations in the code cache.
func (w *work) codeLocations(sampled []*sampledBlob) []Location {
	type threadPC struct {
		pc     uint64
		thread int32
	}
	byBlob := map[blobRef]map[threadPC]Counts{}
	for key, c := range w.trial.code { // over all slices
		ref := blobRef{key.jvm, key.blob}
		if byBlob[ref] == nil {
			byBlob[ref] = map[threadPC]Counts{}
		}
		addTo(w, byBlob[ref], threadPC{key.pc, key.thread}, c)
	}
	var all []Location
	for _, s := range sampled {
		for at, c := range byBlob[s.blobRef] {
			thread, during := w.apart(at.thread)
			l := Location{PID: s.pid, Thread: thread, During: during, PC: at.pc, Source: s.Source(), Name: s.Name, CompileID: s.ID, Counts: c}
			if s.Kind.Java() {
				l.Frames = w.chain(s, at.pc)
			}
			all = append(all, l)
		}
	}
	return all
}

// addTo adds counts to the sum of a key.
func addTo[K comparable](w *work, sums map[K]Counts, key K, c Counts) {
	if sums[key] == nil {
		sums[key] = make(Counts, w.n)
	}
	sums[key].Add(c)
}

// unresolved sums up the samples at addresses that are in no known code or file.
func (w *work) unresolved() Counts {
	sum := make(Counts, w.n)
	for _, c := range w.trial.unresolved {
		sum.Add(c)
	}
	return sum
}

// startWall gives the value of [Profile.StartWallNanos].
func (w *work) startWall() int64 {
	firstWindow := map[int]int64{}
	for _, win := range w.trial.Windows {
		if at, ok := firstWindow[win.PID]; !ok || win.FromMonoNanos < at {
			firstWindow[win.PID] = win.FromMonoNanos
		}
	}
	var first int64
	for _, pid := range w.trial.pids {
		i, ok := w.b.byPID[pid]
		if !ok || w.b.jvms[i].Log.StartWallMillis == 0 {
			continue
		}
		j := w.b.jvms[i]
		from := j.StartMonoNanos
		if at, ok := firstWindow[pid]; ok && from > 0 {
			from = at
		}
		start := j.Log.StartWallMillis*1e6 + from - j.StartMonoNanos
		if first == 0 || start < first {
			first = start
		}
	}
	return first
}
