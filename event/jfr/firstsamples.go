package jfr

// FirstSamples finds the samples of allocations that stand for more than what a thread allocated while it was recorded. The
// weight of jdk.ObjectAllocationSample is what its thread has allocated since its last sample, so the first sample of a thread
// weighs all since the thread's start, which may have been hours before. Of a thread that began within the recording
// (jdk.ThreadStart) it is right. A recording has its chunks in one file, or in several, and events not always in the order of
// their times.
//
// A virtual thread is left alone: it has samples with what its carrier has allocated, and no event tells which one that is.
type FirstSamples struct {
	begun map[int64]bool
	first map[int64]firstSample
}

type firstSample struct {
	monoNanos int64
	number    int
}

// maxThreads limits of how many threads it is remembered that they began.
const maxThreads = 1 << 20

// See takes note of the last event of x. The number is the caller's, for [FirstSamples.Numbers].
func (s *FirstSamples) See(x *Events, number int) {
	e := x.r.Event()
	switch e.typ.Name {
	case "jdk.ThreadStart":
		if t := e.Field("thread").Thread(); t != nil && len(s.begun) < maxThreads {
			set(&s.begun, t.id(), true)
		}
	case "jdk.ObjectAllocationSample":
		t := e.Thread()
		if t == nil || t.ofVirtual() {
			return
		}
		if f, ok := s.first[t.id()]; !ok || x.event.MonoNanos < f.monoNanos {
			set(&s.first, t.id(), firstSample{x.event.MonoNanos, number})
		}
	}
}

// Numbers are those of the first samples of threads that are not known to have begun within the recording, in no order.
func (s *FirstSamples) Numbers() (numbers []int) {
	for id, f := range s.first {
		if !s.begun[id] {
			numbers = append(numbers, f.number)
		}
	}
	return numbers
}

// id tells a thread from all others of the JVM: the kernel may give an id again.
func (t *Thread) id() int64 {
	if t.JavaID > 0 {
		return t.JavaID
	}
	return -t.OSID
}

// ofVirtual tells whether it is a virtual thread.
func (t *Thread) ofVirtual() bool { return t.Virtual || t.OSID == 0 }

func set[V any](m *map[int64]V, key int64, value V) {
	if *m == nil {
		*m = map[int64]V{}
	}
	(*m)[key] = value
}
