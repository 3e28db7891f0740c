package profile

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// trialCounts has the counts of one trial. A Counts in it may be shorter than the list of counters, because more
// counters may have been added later.
type trialCounts struct {
	windows.Measurement
	inside     tally.Counts             // all samples of the profile
	excluded   [exclusions]tally.Counts // samples in the windows that are not in the profile
	kernel     tally.Counts
	code       map[codeKey]tally.Counts
	native     map[nativeKey]tally.Counts
	unresolved map[addressKey]tally.Counts
	threads    map[threadKey]tally.Counts
	kept       *keptSamples // nil if no parts are wanted
	eventCounts
}

// A codeKey is the key of the samples at an address of code.
type codeKey struct {
	jvm, blob      int // as in blobRef
	pc             uint64
	slice, context int32 // slice is 0 in a trial that is not cut; context is an index in Builder.contexts
}

// A nativeKey is the key of the samples in a native function.
type nativeKey struct {
	pid                      int
	function, slice, context int32 // function is an index in Builder.functions
}

// An addressKey is the key of the samples at an unresolved address.
type addressKey struct {
	pid            int
	pc             uint64
	slice, context int32
}

// A threadKey is the key of the samples of a thread, or of several threads with the same label. outside is true for
// samples in native code.
type threadKey struct {
	pid     int
	label   int32 // index in threads.Table
	outside bool
}

func newTrialCounts(m windows.Measurement, parts bool) *trialCounts {
	t := &trialCounts{Measurement: m, code: map[codeKey]tally.Counts{}, native: map[nativeKey]tally.Counts{},
		unresolved: map[addressKey]tally.Counts{}, threads: map[threadKey]tally.Counts{}}
	if parts {
		t.kept = &keptSamples{spots: map[spot]int32{}}
	}
	return t
}

// A function is native code: a function of a file or of the kernel.
type function struct{ module, symbol string }

// A functionTable numbers the native functions of all samples.
type functionTable struct {
	list  []function
	index map[function]int32 // in list
}

// maxFunctions limits the number of native functions of all samples. A libjvm.so has 60,000 symbols. Further functions
// are counted together, without their names.
const maxFunctions = 1 << 17

// find returns the index of a native function. It adds the function if it is new. If there are too many functions, it
// returns the index of a function without a name, and false.
func (t *functionTable) find(module, symbol string) (i int32, named bool) {
	f := function{module, symbol}
	i, named = t.index[f]
	if named {
		return i, true
	}
	named = len(t.list) < maxFunctions
	if !named {
		if f.symbol = ""; module != kernelModule {
			f.module = UnknownModule
		}
		if i, ok := t.index[f]; ok {
			return i, false
		}
	}
	i = int32(len(t.list))
	t.list = append(t.list, f)
	t.index[f] = i
	return i, named
}

// A sampleContext tells samples at the same address apart: by the thread that they were in, and by the events that were
// going on.
type sampleContext struct {
	label  int32 // index in threads.Table
	events events.Set
}

// A contextTable numbers the contexts of all samples. The first one has no thread and no events.
type contextTable struct {
	list  []sampleContext
	index map[sampleContext]int32 // in list
}

// maxContexts limits the number of contexts. Once it is reached, a sample whose context is new counts for its thread
// without any events. If the table does not have this either, the sample counts for the first context.
const maxContexts = 1 << 12

func newContextTable() *contextTable {
	return &contextTable{list: []sampleContext{{}}, index: map[sampleContext]int32{{}: 0}}
}

// find returns the index of a context. It adds the context if it is new. If there are too many contexts, it returns the
// index of the context with the same thread and no events. If there is no such context, it returns 0.
func (t *contextTable) find(c sampleContext) int32 {
	for _, c := range []sampleContext{c, {c.label, 0}} {
		if i, ok := t.index[c]; ok {
			return i
		}
		if len(t.list) < maxContexts {
			i := int32(len(t.list))
			t.list = append(t.list, c)
			t.index[c] = i
			return i
		}
	}
	return 0
}

// at returns the context with a given index.
func (t *contextTable) at(i int32) sampleContext {
	if t == nil {
		return sampleContext{}
	}
	return t.list[i]
}

// taken returns all samples of each JVM, in or out of the windows.
func (b *Builder) taken(jvms []capture.JVM) []tally.Counts {
	all := make([]tally.Counts, len(jvms))
	for i, j := range jvms {
		all[i] = make(tally.Counts, len(b.counters))
		if p := b.processes[j.PID]; p != nil {
			all[i].Add(p.samples)
		}
	}
	return all
}
