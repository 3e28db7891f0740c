package profile

import (
	"cmp"
	"slices"
	"strings"
)

// A ThreadKind sums up the samples of threads that do the same sort of work.
type ThreadKind struct {
	Kind    string // "application", "JIT compilers", "garbage collector", "other JVM threads"
	Counts  Counts
	Threads []Thread // hottest first
}

// A Thread sums up the threads of one name. A number at a name's end is left out, as in
// "GC Thread#3".
type Thread struct {
	Name   string // as the kernel has it, of 15 bytes at most: "C2 CompilerThre"
	Counts Counts
}

// Kinds of threads.
const (
	ApplicationThreads = "application"
	CompilerThreads    = "JIT compilers"
	CollectorThreads   = "garbage collector"
	OtherJVMThreads    = "other JVM threads"
)

// threadNames has the beginnings of the names of HotSpot's own threads, of JDK 8 to 28:
// what Thread::name and the collectors' ConcurrentGCThread give to
// os::set_native_thread_name. The kernel keeps 15 bytes of a name.
var threadNames = []struct{ start, kind string }{
	{"C1 CompilerThre", CompilerThreads}, {"C2 CompilerThre", CompilerThreads}, {"JVMCI CompilerT", CompilerThreads},
	{"JVMCI-native", CompilerThreads}, {"Thread-JVMCI", CompilerThreads}, {"libgraal", CompilerThreads},
	{"GC Thread#", CollectorThreads}, {"G1 ", CollectorThreads}, {"GC task thread", CollectorThreads},
	{"ParGC Thread#", CollectorThreads}, {"Gang worker#", CollectorThreads}, {"Concurrent Mark", CollectorThreads},
	{"Shenandoah", CollectorThreads}, {"ZWorker", CollectorThreads}, {"ZDriver", CollectorThreads},
	{"ZDirector", CollectorThreads}, {"ZUncommitter", CollectorThreads}, {"ZUnmapper", CollectorThreads},
	{"ZStat", CollectorThreads}, {"XWorker", CollectorThreads}, {"XDriver", CollectorThreads},
	{"XDirector", CollectorThreads}, {"RuntimeWorker#", CollectorThreads}, {"StringDedup", CollectorThreads},
	{"VM Thread", OtherJVMThreads}, {"VM Periodic Tas", OtherJVMThreads}, {"Signal Dispatch", OtherJVMThreads},
	{"Service Thread", OtherJVMThreads}, {"Monitor Deflati", OtherJVMThreads}, {"Sweeper thread", OtherJVMThreads},
	{"Attach Listener", OtherJVMThreads}, {"Notification Th", OtherJVMThreads}, {"Finalizer", OtherJVMThreads},
	{"Reference Handl", OtherJVMThreads}, {"Common-Cleaner", OtherJVMThreads}, {"JFR ", OtherJVMThreads},
}

// threadKind tells by a thread's name what the thread is for.
func threadKind(name string) string {
	for _, t := range threadNames {
		if strings.HasPrefix(name, t.start) {
			return t.kind
		}
	}
	return ApplicationThreads
}

// threads adds up the samples by thread. It gives nil when no sample has a thread's name.
func (w *work) threads() []ThreadKind {
	byKind := map[string]*ThreadKind{}
	byName := map[string]Counts{}
	named := false
	for name, c := range w.trial.threads {
		named = named || name != ""
		name = strings.TrimRight(name, "0123456789")
		if byName[name] == nil {
			byName[name] = make(Counts, w.n)
		}
		byName[name].Add(c)
	}
	if !named {
		return nil
	}
	for name, c := range byName {
		kind := threadKind(name)
		k := byKind[kind]
		if k == nil {
			k = &ThreadKind{Kind: kind, Counts: make(Counts, w.n)}
			byKind[kind] = k
		}
		k.Counts.Add(c)
		k.Threads = append(k.Threads, Thread{name, c})
	}
	kinds := make([]ThreadKind, 0, len(byKind))
	for _, k := range byKind {
		slices.SortFunc(k.Threads, func(a, b Thread) int {
			return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Name, b.Name))
		})
		kinds = append(kinds, *k)
	}
	slices.SortFunc(kinds, func(a, b ThreadKind) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}
