package collect

import (
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/sampler"
)

// A Stream gives samples while they are taken. Who reads it too slowly misses samples;
// the samples in the recording are all there.
type Stream struct {
	// C gets the samples in the order of their times, at most two pauses after they were
	// taken while threads are busy, and is closed at the end.
	C       <-chan sampler.Sample
	in      chan sampler.Sample
	pause   time.Duration // between two looks into the kernel's buffers
	dropped atomic.Int64
}

func newStream(capacity int, pause time.Duration) *Stream {
	in := make(chan sampler.Sample, capacity)
	return &Stream{C: in, in: in, pause: pause}
}

// Dropped is how many samples found no room in C.
func (s *Stream) Dropped() int64 { return s.dropped.Load() }

// put gives a sample to the stream without waiting.
func (s *Stream) put(sample *sampler.Sample) {
	select {
	case s.in <- *sample:
	default:
		s.dropped.Add(1)
	}
}
