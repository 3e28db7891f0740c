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

// keptName is how many bytes of a name the kernel keeps. Of a longer one JDK 26 and newer keep
// the first 7 and the last 6: "C2 Comp..hread0" (os::set_native_thread_name).
const keptName, keptStart = 15, 7

// threadKind tells by a thread's name what the thread is for.
func threadKind(name string) string {
	shortened := len(name) > keptStart && strings.HasPrefix(name[keptStart:], "..")
	for _, t := range threadNames {
		if strings.HasPrefix(name, t.start) || shortened && len(t.start) == keptName && name[:keptStart] == t.start[:keptStart] {
			return t.kind
		}
	}
	return ApplicationThreads
}

// A threadKey is what the counts of threads have. outside tells that the samples are outside
// the code cache.
type threadKey struct {
	pid     int
	label   int32
	outside bool
}

// A thread is what the builder needs to know of the thread of a sample.
type thread struct {
	label  int32 // its place in seenThreads.labels
	kind   string
	chosen bool
}

// seenThreads are the threads that samples had so far.
type seenThreads struct {
	// apart counts code by thread too.
	apart   bool
	choice  Threads
	known   map[string]thread
	labels  []string // names without the number at their end. The first one is ""
	kinds   []string // of labels
	labelAt map[string]int32
	// pairs are the threads and events of places that are counted apart. The first one is of
	// no thread and no events.
	pairs  []apartPair
	pairAt map[apartPair]int32
}

// An apartPair is what samples of one place are told apart by.
type apartPair struct {
	label int32
	now   eventSet
}

// apartAt gives the place of a pair in pairs, to which it adds a new one. When there are too
// many, it is that of the thread, or the first one.
func (t *seenThreads) apartAt(label int32, now eventSet) int32 {
	if t.pairAt == nil {
		t.pairs, t.pairAt = []apartPair{{}}, map[apartPair]int32{{}: 0}
	}
	for _, pair := range []apartPair{{label, now}, {label, 0}} {
		if at, ok := t.pairAt[pair]; ok {
			return at
		}
		if len(t.pairs) < maxApart {
			at := int32(len(t.pairs))
			t.pairs, t.pairAt[pair] = append(t.pairs, pair), at
			return at
		}
	}
	return 0
}

// apartOf gives the thread and the events of a place that is counted apart.
func (t *seenThreads) apartOf(at int32) (label string, now eventSet) {
	if int(at) >= len(t.pairs) {
		return "", 0
	}
	return t.label(t.pairs[at].label), t.pairs[at].now
}

// thread gives a thread by its name; false when there are more names than any program has.
// Then the thread has no name.
func (t *seenThreads) thread(name string) (thread, bool) {
	if found, ok := t.known[name]; ok {
		return found, true
	}
	if t.known == nil {
		t.known, t.labelAt = map[string]thread{}, map[string]int32{}
		t.addLabel("")
	}
	label := strings.TrimRight(name, "0123456789")
	found := thread{kind: threadKind(label)}
	found.chosen = t.choice.chooses(name, found.kind)
	if len(t.known) >= maxThreads && label != "" {
		return found, false
	}
	at, ok := t.labelAt[label]
	if !ok {
		at = t.addLabel(label)
	}
	found.label = at
	t.known[name] = found
	return found, true
}

func (t *seenThreads) addLabel(label string) int32 {
	at := int32(len(t.labels))
	t.labels, t.kinds = append(t.labels, label), append(t.kinds, threadKind(label))
	t.labelAt[label] = at
	return at
}

// label gives a thread's name without the number at its end; "" for a thread without a name.
func (t *seenThreads) label(at int32) string {
	if int(at) >= len(t.labels) {
		return ""
	}
	return t.labels[at]
}

// threads adds up the samples by thread. It gives nil when no sample has a thread's name.
func (w *work) threads() []ThreadKind {
	byLabel := map[int32]Counts{}
	named := false
	for key, c := range w.trial.threads {
		named = named || w.b.seen.labels[key.label] != ""
		addTo(w, byLabel, key.label, c)
	}
	if !named {
		return nil
	}
	byKind := map[string]*ThreadKind{}
	for label, c := range byLabel {
		kind := w.b.seen.kinds[label]
		k := byKind[kind]
		if k == nil {
			k = &ThreadKind{Kind: kind, Counts: make(Counts, w.n)}
			byKind[kind] = k
		}
		k.Counts.Add(c)
		k.Threads = append(k.Threads, Thread{w.b.seen.labels[label], c})
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
