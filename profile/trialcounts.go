package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/nativesamples"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/vmwork"
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
	nativeAt   nativesamples.Counts // the part of native whose code is known, by address
	unresolved map[addressKey]tally.Counts
	threads    map[threadKey]tally.Counts
	vm         map[vmwork.Work]tally.Counts // counts the samples in libjvm by kind of work
	kept       *keptSamples                 // nil if no parts are wanted
	stacks     *calltree.Counter[spot]      // nil if no stacks are wanted
	eventCounts
}

// A codeKey is the key of the samples at an address of code.
type codeKey struct {
	jvm, blob      int // as in jvmcode.Ref
	pc             uint64
	slice, context int32 // slice is 0 in a trial that is not cut into slices; context is a number in Builder.contexts
}

// A nativeKey is the key of the samples in a native function.
type nativeKey struct {
	pid                      int
	function, slice, context int32 // function is a number in Builder.functions
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

func newTrialCounts(m windows.Measurement, parts bool, stacks *calltree.Stacks) *trialCounts {
	t := &trialCounts{Measurement: m, code: map[codeKey]tally.Counts{}, native: map[nativeKey]tally.Counts{},
		unresolved: map[addressKey]tally.Counts{}, threads: map[threadKey]tally.Counts{}, vm: map[vmwork.Work]tally.Counts{}}
	if parts {
		t.kept = &keptSamples{spots: map[keptSpot]int32{}}
	}
	if stacks != nil {
		t.stacks = calltree.NewCounter[spot](stacks)
	}
	return t
}

// jvm returns the index of a process in the trial's PIDs.
func (t *trialCounts) jvm(pid int) int32 {
	i, _ := slices.BinarySearch(t.PIDs, pid)
	return int32(i)
}

// taken counts all samples of each JVM, whether they are in a window or not.
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
