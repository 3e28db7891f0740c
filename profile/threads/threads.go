// Package threads tells the threads of a JVM apart by their names: what kind of work a thread does ([KindOf]), and
// which threads a user has chosen ([Choice]). A [Table] sums up samples by threads.
//
// A sampler does not record what kind of thread it samples, only the first 15 bytes of the thread's name. The whole
// names of Java threads come from the JVM's memory ([Table.AddNames]). The names of the threads in a pool differ only
// in the number at the end. Samples are therefore counted by labels: a label is a name without this number.
package threads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/profile/tally"
)

// A KindTotal sums up the samples of threads that do the same sort of work.
type KindTotal struct {
	Kind    string // "application", "JIT compilers", "garbage collector", "other JVM threads"
	Counts  tally.Counts
	Threads []Total // hottest first
}

// A Total sums up the samples of all threads with the same name. The number at the end of a name is left out: "GC
// Thread#3" is summed up under "GC Thread#".
type Total struct {
	Name   string // "http-nio-8080-exec-"; if only the kernel's name is known, its first 15 bytes: "C2 CompilerThre"
	Counts tally.Counts
}

// Kinds of threads.
const (
	Application = "application"
	Compilers   = "JIT compilers"
	Collector   = "garbage collector"
	OtherJVM    = "other JVM threads"
)

// threadNames has the beginnings of the names of HotSpot's own threads in JDK 8 to 28: what Thread::name and the
// collectors' ConcurrentGCThread pass to os::set_native_thread_name. The kernel keeps 15 bytes of a name.
var threadNames = []struct{ start, kind string }{
	{"C1 CompilerThre", Compilers}, {"C2 CompilerThre", Compilers}, {"JVMCI CompilerT", Compilers},
	{"JVMCI-native", Compilers}, {"Thread-JVMCI", Compilers}, {"libgraal", Compilers},
	{"GC Thread#", Collector}, {"G1 ", Collector}, {"GC task thread", Collector},
	{"ParGC Thread#", Collector}, {"Gang worker#", Collector}, {"Concurrent Mark", Collector},
	{"Shenandoah", Collector}, {"ZWorker", Collector}, {"ZDriver", Collector},
	{"ZDirector", Collector}, {"ZUncommitter", Collector}, {"ZUnmapper", Collector},
	{"ZStat", Collector}, {"XWorker", Collector}, {"XDriver", Collector},
	{"XDirector", Collector}, {"RuntimeWorker#", Collector}, {"StringDedup", Collector},
	{"VM Thread", OtherJVM}, {"VM Periodic Tas", OtherJVM}, {"Signal Dispatch", OtherJVM},
	{"Service Thread", OtherJVM}, {"Monitor Deflati", OtherJVM}, {"Sweeper thread", OtherJVM},
	{"Attach Listener", OtherJVM}, {"Notification Th", OtherJVM}, {"Finalizer", OtherJVM},
	{"Reference Handl", OtherJVM}, {"Common-Cleaner", OtherJVM}, {"JFR ", OtherJVM},
	{"ArchiveWorkerTh", OtherJVM}, // relocates the CDS archive (JDK 25 and newer)
}

// keptName is the number of bytes of a name that the kernel keeps. JDK 26 and newer shorten a longer name to its first
// 7 (keptStart) and last 6 bytes: "C2 Comp..hread0" (os::set_native_thread_name).
const keptName, keptStart = 15, 7

// KindOf returns the kind of a thread by its name.
func KindOf(name string) string {
	shortened := len(name) > keptStart && strings.HasPrefix(name[keptStart:], "..")
	for _, t := range threadNames {
		if strings.HasPrefix(name, t.start) || shortened && len(t.start) == keptName &&
			name[:keptStart] == t.start[:keptStart] {
			return t.kind
		}
	}
	return Application
}

// A Thread is what the Table knows about a sample's thread.
type Thread struct {
	Label  int32 // number of the thread's label, for [Table.Label]
	Kind   string
	Chosen bool
}

// A Table numbers the labels of all samples' threads. Label 0 is "".
type Table struct {
	choice Choice
	known  map[string]Thread // the threads that were found, by full name
	labels []string
	kinds  []string                 // of labels
	index  map[string]int32         // in labels
	whole  map[int]map[int][]string // names by process and thread id; see AddNames

	// The arguments and results of the last call of Find. They are kept because most samples are of the same thread as
	// the sample before.
	last      sampled
	lastFound Thread
	lastNamed bool
}

// The type sampled identifies a thread by what a sample says about it.
type sampled struct {
	pid, tid int
	kernel   string // the kernel's name for the thread
}

// MaxNames is the maximum number of thread names that a Table remembers. Threads with further names get no label.
const MaxNames = 1 << 16

// NewTable returns an empty Table. choice says which threads are chosen; see Thread.Chosen.
func NewTable(choice Choice) *Table {
	t := &Table{choice: choice, known: map[string]Thread{}, index: map[string]int32{}, whole: map[int]map[int][]string{}}
	t.addLabel("")
	return t
}

// Find returns a sample's thread. kernel is the kernel's name for it. If its name is new and the Table already has
// MaxNames names, named is false, and the thread has a kind but no label.
func (t *Table) Find(pid, tid int, kernel string) (found Thread, named bool) {
	key := sampled{pid, tid, kernel}
	if key == t.last && t.lastNamed {
		return t.lastFound, true
	}
	t.last = key
	t.lastFound, t.lastNamed = t.find(t.nameOf(pid, tid, kernel), kernel)
	return t.lastFound, t.lastNamed
}

// find returns the thread with a name.
func (t *Table) find(name, kernel string) (found Thread, named bool) {
	if found, ok := t.known[name]; ok {
		return found, true
	}
	label := strings.TrimRight(name, "0123456789")
	found = Thread{Kind: KindOf(label)}
	found.Chosen = t.choice.chooses(name, found.Kind) || t.choice.chooses(kernel, found.Kind)
	if len(t.known) >= MaxNames && label != "" {
		return found, false
	}
	i, ok := t.index[label]
	if !ok {
		i = t.addLabel(label)
	}
	found.Label = i
	t.known[name] = found
	return found, true
}

func (t *Table) addLabel(label string) int32 {
	i := int32(len(t.labels))
	t.labels, t.kinds = append(t.labels, label), append(t.kinds, KindOf(label))
	t.index[label] = i
	return i
}

// Label returns the label with the number i.
func (t *Table) Label(i int32) string { return t.labels[i] }

// Kind returns the kind of the threads whose label has the number i.
func (t *Table) Kind(i int32) string { return t.kinds[i] }

// maxListed is the maximum number of labels that Names lists.
const maxListed = 10

// Names lists the labels of the threads that had samples, for an error message: "there are C2 CompilerThre, main".
func (t *Table) Names() string {
	names := slices.DeleteFunc(slices.Clone(t.labels), func(label string) bool { return label == "" })
	if len(names) == 0 {
		return "the sampler recorded no names of threads"
	}
	slices.Sort(names)
	if more := len(names) - maxListed; more > 0 {
		names = append(names[:maxListed], fmt.Sprintf("%d more", more))
	}
	return "there are " + strings.Join(names, ", ")
}

// Totals sums up samples by the kind of their threads. The key in byLabel is the number of a label, and the value has
// the label's samples for each of the counters. Totals returns nil if no sample has a thread's name.
func (t *Table) Totals(byLabel map[int32]tally.Counts, counters int) []KindTotal {
	if _, unnamed := byLabel[0]; len(byLabel) == 0 || unnamed && len(byLabel) == 1 {
		return nil
	}
	byKind := map[string]*KindTotal{}
	for label, c := range byLabel {
		kind := t.kinds[label]
		k := byKind[kind]
		if k == nil {
			k = &KindTotal{Kind: kind, Counts: make(tally.Counts, counters)}
			byKind[kind] = k
		}
		k.Counts.Add(c)
		k.Threads = append(k.Threads, Total{t.labels[label], c})
	}
	kinds := make([]KindTotal, 0, len(byKind))
	for _, k := range byKind {
		slices.SortFunc(k.Threads, func(a, b Total) int {
			return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Name, b.Name))
		})
		kinds = append(kinds, *k)
	}
	slices.SortFunc(kinds, func(a, b KindTotal) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}
