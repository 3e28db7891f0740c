package profile

import (
	"github.com/gasm-profiler/gasm/profile/nativesamples"
	"github.com/gasm-profiler/gasm/profile/parts"
)

// keptSamples holds the samples of a trial one by one, if [Options.Parts] is set. They are cut into parts, by time and
// by thread, only after the last sample was added. See package parts.
type keptSamples struct {
	spots map[keptSpot]int32 // the number of each spot
	list  []parts.Sample
	keys  []int32 // for each sample, the number of its Key in trialCounts.stacks; nil if there are no stacks
}

// addKey adds an element to keys, for the sample that was added last. It does nothing if k is nil.
func (k *keptSamples) addKey(number int32) {
	if k != nil {
		k.keys = append(k.keys, number)
	}
}

// A keptSpot is the spot of a kept sample. For native code, it has the address too, if the code is known.
type keptSpot struct {
	spot
	native nativesamples.At
}

// keep keeps a sample, if parts are wanted. All unresolved addresses together are one spot.
func (t *trialCounts) keep(j *joinedSample) {
	k := t.kept
	if k == nil {
		return
	}
	at := keptSpot{j.spot, j.native}
	if at.jvm == inUnresolved {
		at.pc = 0
	}
	n, ok := k.spots[at]
	if !ok {
		n = int32(len(k.spots))
		k.spots[at] = n
		t.nativeAt.AddSpot(at.native, n)
	}
	k.list = append(k.list, parts.Sample{Spot: n, JVM: j.trial.jvm(j.pid), Label: j.thread.Label,
		Counter: int32(j.counter), MonoNanos: j.MonoNanos})
}
