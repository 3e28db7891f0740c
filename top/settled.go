package top

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// A Settled has the samples of some seconds, see TakeSettled.
type Settled struct {
	// FromMono and ToMono are the times of the first and the last Tick, in ns of CLOCK_MONOTONIC. The samples were
	// taken between them or a moment earlier, see [Settle].
	FromMono, ToMono int64
	Hertz            int
	Counter          string             // what is sampled, such as "cpu-clock"
	Lost             int64              // samples that were lost since the last call
	Samples          []profile.Location // Thread is "" for a thread of the application, otherwise its kind
	// Stacks has the stacks of Samples. It is valid until the next Tick, and nil if no stacks were recorded.
	Stacks *calltree.Stacks
	// SourceFiles has the names of the classes' source files, by process id and class. Two JVMs may have different classes
	// with the same name.
	SourceFiles map[int]map[string]string
}

// SettleTicks is the number of Ticks during which the code of a sample may still become known.
const SettleTicks = 5

// TakeSettled returns the samples of the Ticks since the last call, but leaves the newest Ticks for a later call. The
// parameter wait is the number of Ticks that it leaves. It returns each sample once, provided that it is called before
// there are more Ticks than the Model keeps. ok is false if there are no Ticks to return.
func (m *Model) TakeSettled(wait int) (s Settled, ok bool) {
	first := max(len(m.buckets)-int(m.closed-m.taken), 0)
	end := len(m.buckets) - wait
	if end <= first {
		return s, false
	}
	taken := m.buckets[first:end]
	m.taken += int64(len(taken))
	s = Settled{FromMono: taken[0].from, ToMono: taken[len(taken)-1].to, Hertz: m.hertz, Counter: m.counter,
		SourceFiles: map[int]map[string]string{}}
	counts := map[key]int64{}
	for i := range taken {
		for k, n := range taken[i].counts {
			counts[k] += int64(n)
		}
	}
	s.Lost, m.settledLost = m.lost-m.settledLost, m.lost
	hot := m.hotInstructions(counts)
	for k, n := range counts {
		l := m.location(k, n)
		l.Instruction = hot[place{k.code, k.pc}]
		s.Samples = append(s.Samples, l)
	}
	slices.SortFunc(s.Samples, func(a, b profile.Location) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), tally.Compare(a.Counts, b.Counts), cmp.Compare(a.PC, b.PC),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Stack, b.Stack))
	})
	if m.tree.Len() > 0 {
		s.Stacks = calltree.NewStacks(m.tree)
	}
	for pid, j := range m.jvms {
		s.SourceFiles[pid] = maps.Clone(j.source)
	}
	m.dropTaken(m.takenTo) // so long after the end of a JVM, it has no more samples
	m.takenTo = s.ToMono
	return s, true
}

// location converts n samples with the same key to a Location.
func (m *Model) location(k key, n int64) profile.Location {
	t := &m.threads[k.thread]
	l := profile.Location{PID: t.PID, Thread: threadKind(t.Kind), PC: k.pc, Stack: k.stack, Counts: tally.Counts{n}}
	inner, up := m.tree.Frame(k.stack)
	switch {
	case inner == nil:
		inner = &callstack.Frame{}
	case inner.Kind == callstack.NoCaller:
		l.Stack = calltree.NoCaller
	}
	caller := func() { // used if the stack begins with the sampled code itself
		if l.Stack = up; up == 0 {
			l.Stack = calltree.NoCaller
		}
	}
	if k.code == nil {
		f := m.functions[k.function]
		if f.Module == "" {
			l.Source = profile.UnresolvedSource
			return l
		}
		l.Source, l.Module, l.Name = f.Module, f.Module, f.Symbol
		if inner.Kind == callstack.Kernel && inner.Name == f.Symbol {
			caller()
		}
		return l
	}
	l.Source, l.Name, l.CompileID = k.code.Source, k.code.Name, k.code.CompileID
	if k.code.Kind.Java() {
		l.Frames = m.chain(k.code, k.pc)
	}
	if k.code.Kind == printassembly.Interpreter && inner.Kind == callstack.Interpreted {
		l.Frames = []printassembly.Frame{{Method: inner.Name, BCI: inner.BCI, Line: max(inner.Line, 0)}}
		caller()
	}
	return l
}

// threadKind returns the kind of a thread, or "" for a thread of the application.
func threadKind(kind string) string {
	if kind == threads.Application {
		return ""
	}
	return kind
}
