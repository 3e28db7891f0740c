package jfr

// FirstSamples finds allocation samples whose weight includes allocations from before the recording. The weight of a
// jdk.ObjectAllocationSample is what its thread has allocated since its previous sample. So the first sample of a
// thread includes everything since the thread's start, which may be hours before the recording. If the thread started
// during the recording (jdk.ThreadStart), the weight is right. One FirstSamples can be used for several files if these
// are parts of one recording. Events need not be sorted by time.
//
// Samples of virtual threads are not considered: their weight is about the allocations of the carrier thread, and no
// event says which thread that is.
type FirstSamples struct {
	begun map[int64]bool
	first map[int64]firstSample
}

type firstSample struct {
	monoNanos int64
	number    int
}

// maxThreads limits the number of threads whose start is remembered.
const maxThreads = 1 << 20

// See must be called after each x.Scan. It takes note of the event if it is a thread's start or an allocation sample.
// number is the caller's number for the event; [FirstSamples.Numbers] returns it if the event is such a first sample.
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

// Numbers returns the numbers of the first samples of all threads, except threads whose start is in the recording. They
// are in no particular order.
func (s *FirstSamples) Numbers() (numbers []int) {
	for id, f := range s.first {
		if !s.begun[id] {
			numbers = append(numbers, f.number)
		}
	}
	return numbers
}

// id returns a number that is unique among the threads of the JVM. That is the Java id. The ids of the kernel are not
// unique, because it reuses them, but internal threads have no Java id.
func (t *Thread) id() int64 {
	if t.JavaID > 0 {
		return t.JavaID
	}
	return -t.OSID
}

// ofVirtual reports whether t is a virtual thread.
func (t *Thread) ofVirtual() bool { return t.Virtual || t.OSID == 0 }

func set[V any](m *map[int64]V, key int64, value V) {
	if *m == nil {
		*m = map[int64]V{}
	}
	(*m)[key] = value
}
