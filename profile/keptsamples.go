package profile

import "slices"

// keptSamples are the samples of a trial one by one, for [Options.Parts]. They are cut into parts only after the last
// one has come, because only then it is known which time the slices have to cover, and which threads are hot enough
// to have a group of their own.
type keptSamples struct {
	spots map[spot]int32 // numbers the spots
	list  []keptSample
}

// A keptSample is one sample of a profile.
type keptSample struct {
	spot    int32 // its number in keptSamples.spots
	jvm     int32 // index of the process in the trial's pids
	label   int32 // of the thread: index in threads.Table
	counter int32 // index in Builder.counters
	mono    int64 // negative for a sample without a time
}

// add keeps a sample, if samples are wanted. All unresolved addresses are one spot.
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
	jvm, _ := slices.BinarySearch(j.trial.PIDs, j.pid)
	k.list = append(k.list, keptSample{n, int32(jvm), j.thread.Label, int32(j.counter), j.MonoNanos})
}
