package collect

import (
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/sampler"
)

// A Stream delivers samples during the recording. If the receiver is too slow, the Stream drops samples, but the
// recording has all of them.
type Stream struct {
	// C delivers the samples in the order of their times. While threads are busy, a sample comes at most two pauses
	// (see Native.Subscribe) after it was taken. C is closed when the recording ends.
	C       <-chan sampler.Sample
	in      chan sampler.Sample
	pause   time.Duration // longest pause between two looks into the kernel's buffers
	dropped atomic.Int64
}

func newStream(capacity int, pause time.Duration) *Stream {
	in := make(chan sampler.Sample, capacity)
	return &Stream{C: in, in: in, pause: pause}
}

// Dropped returns the number of samples that were dropped because C was full.
func (s *Stream) Dropped() int64 { return s.dropped.Load() }

// put hands a sample to the stream without waiting. If C is full, the sample is dropped.
func (s *Stream) put(sample *sampler.Sample) {
	select {
	case s.in <- *sample:
	default:
		s.dropped.Add(1)
	}
}
