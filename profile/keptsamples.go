package profile

import "github.com/gasm-profiler/gasm/profile/parts"

// keptSamples holds the samples of a trial one by one, if [Options.Parts] is set. They are cut into parts, by time and
// by thread, only after the last sample was added. See package parts.
type keptSamples struct {
	spots map[spot]int32 // the number of each spot
	list  []parts.Sample
	keys  []int32 // for each sample, the number of its Key in trialCounts.stacks; nil if there are no stacks
}

// addKey adds an element to keys, for the sample that was added last. It does nothing if k is nil.
func (k *keptSamples) addKey(number int32) {
	if k != nil {
		k.keys = append(k.keys, number)
	}
}

// add keeps a sample. It does nothing if k is nil. All unresolved addresses together are one spot.
func (k *keptSamples) add(j *joinedSample) {
	if k == nil {
		return
	}
	at := j.spot
	if at.jvm == inUnresolved {
		at.pc = 0
	}
	n, ok := k.spots[at]
	if !ok {
		n = int32(len(k.spots))
		k.spots[at] = n
	}
	k.list = append(k.list, parts.Sample{Spot: n, JVM: j.trial.jvm(j.pid), Label: j.thread.Label, Counter: int32(j.counter), MonoNanos: j.MonoNanos})
}
