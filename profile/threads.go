package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/profile/tally"
)

// A ThreadKind sums up the samples of threads that do the same sort of work.
type ThreadKind struct {
	Kind    string // "application", "JIT compilers", "garbage collector", "other JVM threads"
	Counts  tally.Counts
	Threads []Thread // hottest first
}

// A Thread sums up the threads of one name. The number at the end of a name is left out: "GC Thread#3" counts for
// "GC Thread#".
type Thread struct {
	Name   string // as the kernel has it, at most 15 bytes: "C2 CompilerThre"
	Counts tally.Counts
}

// Kinds of threads.
const (
	ApplicationThreads = "application"
	CompilerThreads    = "JIT compilers"
	CollectorThreads   = "garbage collector"
	OtherJVMThreads    = "other JVM threads"
)

// threadNames has the beginnings of the names of HotSpot's own threads in JDK 8 to 28: what Thread::name and the
// collectors' ConcurrentGCThread pass to os::set_native_thread_name. The kernel keeps 15 bytes of a name.
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

// keptName is how many bytes of a name the kernel keeps. JDK 26 and newer shorten a longer name to its first 7
// (keptStart) and last 6 bytes: "C2 Comp..hread0" (os::set_native_thread_name).
const keptName, keptStart = 15, 7

// threadKind returns the kind of a thread by its name.
func threadKind(name string) string {
	shortened := len(name) > keptStart && strings.HasPrefix(name[keptStart:], "..")
	for _, t := range threadNames {
		if strings.HasPrefix(name, t.start) || shortened && len(t.start) == keptName && name[:keptStart] == t.start[:keptStart] {
			return t.kind
		}
	}
	return ApplicationThreads
}

// A thread is what the Builder needs to know of the thread of a sample.
type thread struct {
	label  int32 // index in threadTable.labels
	kind   string
	chosen bool
}

// A threadTable numbers the names of all samples' threads.
type threadTable struct {
	choice Threads
	known  map[string]thread // by full name
	labels []string          // names without the number at their end; the first one is ""
	kinds  []string          // of labels
	index  map[string]int32  // in labels
}

// maxThreads bounds the names of threads that are told apart.
const maxThreads = 1 << 16

func newThreadTable(choice Threads) threadTable {
	t := threadTable{choice: choice, known: map[string]thread{}, index: map[string]int32{}}
	t.addLabel("")
	return t
}

// find returns a thread by its name. named is false if there are too many names. Then the thread has no label, but
// still its kind.
func (t *threadTable) find(name string) (found thread, named bool) {
	if found, ok := t.known[name]; ok {
		return found, true
	}
	label := strings.TrimRight(name, "0123456789")
	found = thread{kind: threadKind(label)}
	found.chosen = t.choice.chooses(name, found.kind)
	if len(t.known) >= maxThreads && label != "" {
		return found, false
	}
	i, ok := t.index[label]
	if !ok {
		i = t.addLabel(label)
	}
	found.label = i
	t.known[name] = found
	return found, true
}

func (t *threadTable) addLabel(label string) int32 {
	i := int32(len(t.labels))
	t.labels, t.kinds = append(t.labels, label), append(t.kinds, threadKind(label))
	t.index[label] = i
	return i
}

// doing returns what a JVM was doing when a thread with a label was sampled, in native code if outside is true.
func (t *threadTable) doing(label int32, outside bool) Doing {
	switch kind := t.kinds[label]; {
	case kind == CompilerThreads:
		return RanJIT
	case kind == CollectorThreads:
		return RanGC
	case outside:
		return RanNative
	}
	return RanJava
}

// names lists the threads of all samples in the windows, for an error.
func (t *threadTable) names() string {
	names := slices.DeleteFunc(slices.Clone(t.labels), func(label string) bool { return label == "" })
	if len(names) == 0 {
		return "the sampler recorded no names of threads"
	}
	slices.Sort(names)
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return "there are " + strings.Join(names, ", ")
}

// kindsOf sums up a trial's samples by thread. It returns nil if no sample has a thread's name.
func (t *threadTable) kindsOf(samples map[threadKey]tally.Counts, counters int) []ThreadKind {
	byLabel := map[int32]tally.Counts{}
	named := false
	for key, c := range samples {
		named = named || t.labels[key.label] != ""
		tally.AddTo(byLabel, key.label, c, counters)
	}
	if !named {
		return nil
	}
	byKind := map[string]*ThreadKind{}
	for label, c := range byLabel {
		kind := t.kinds[label]
		k := byKind[kind]
		if k == nil {
			k = &ThreadKind{Kind: kind, Counts: make(tally.Counts, counters)}
			byKind[kind] = k
		}
		k.Counts.Add(c)
		k.Threads = append(k.Threads, Thread{t.labels[label], c})
	}
	kinds := make([]ThreadKind, 0, len(byKind))
	for _, k := range byKind {
		slices.SortFunc(k.Threads, func(a, b Thread) int {
			return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Name, b.Name))
		})
		kinds = append(kinds, *k)
	}
	slices.SortFunc(kinds, func(a, b ThreadKind) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}
