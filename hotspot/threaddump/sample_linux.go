package threaddump

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

const (
	// sampleTime limits how long gasm waits until the threads that run are sampled. A thread that gets a processor is
	// sampled after about a millisecond (see frequency).
	sampleTime = 100 * time.Millisecond
	// mostSampled limits how many threads are sampled, because each of them takes file descriptors.
	mostSampled = 64
	frequency   = 997
)

// sample returns a sample, by thread id, of each thread that gets a processor within sampleTime. Others are missing. If
// only some threads could be sampled, it returns their samples and an error.
func sample(tids []int) (samples map[int]perfevent.Record, err error) {
	event := perfevent.Event{Name: "cpu-clock", Type: unix.PERF_TYPE_SOFTWARE,
		Config: [3]uint64{unix.PERF_COUNT_SW_CPU_CLOCK}}
	tids = tids[:min(len(tids), mostSampled)]
	set, err := perfevent.OpenThreads(tids, perfevent.Options{Events: []perfevent.Event{event}, Frequency: frequency,
		Stacks: perfevent.MaxStack, DrainEvery: 5 * time.Millisecond})
	if set == nil {
		return nil, err
	}
	defer set.Close()
	samples = map[int]perfevent.Record{}
	for until := time.Now().Add(sampleTime); len(samples) < len(tids) && time.Now().Before(until); {
		set.Wait(5 * time.Millisecond)
		set.Drain(true, func(r *perfevent.Record) {
			tid := int(r.TID)
			if _, known := samples[tid]; known || r.Kind != perfevent.Sample || r.ThreadState == nil {
				return
			}
			kept := *r
			state := *r.ThreadState
			state.Stack = slices.Clone(state.Stack)
			kept.ThreadState = &state
			samples[tid] = kept
		})
	}
	return samples, err
}
