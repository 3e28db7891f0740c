package jfr

// FirstSamples finds allocation samples whose weight includes allocations from before the recording. The weight of a
// jdk.ObjectAllocationSample is what its thread has allocated since its previous sample. So the first sample of a
// thread includes everything since the thread's start, which may be hours before the recording. If the thread started
// during the recording (jdk.ThreadStart), the weight is right. If a recording has several files, use the same
// FirstSamples for all of them. The events need not be sorted by time. If a recording goes on, and is read in parts,
// call [FirstSamples.NextPart] after each part.
//
// FirstSamples ignores samples of virtual threads. Their weight is what the carrier thread has allocated, but no event
// says which thread that is.
type FirstSamples struct {
	begun map[int64]bool
	first map[int64]firstSample
	// known and older contain the threads that occurred in earlier parts, so their next samples are not first ones.
	// When known is full, it replaces older, and a new known is begun.
	known, older map[int64]bool
}

type firstSample struct {
	monoNanos int64
	number    int
}

// maxThreads is the maximum number of threads whose starts are remembered. maxKnown is the size at which
// FirstSamples.known is full, so at most 2*maxKnown threads of earlier parts are remembered.
const (
	maxThreads = 1 << 20
	maxKnown   = 1 << 16
)

// See must be called after each x.Scan. It remembers starts of threads, and allocation samples. The caller passes any
// number that identifies the event. If the event turns out to be a sample with too large a weight,
// [FirstSamples.Numbers] returns that number.
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

// Numbers returns the numbers of the samples whose weight includes allocations from before the recording. Each thread
// has at most one such sample: its first sample, unless the recording has the thread's start. The numbers are in no
// particular order.
func (s *FirstSamples) Numbers() (numbers []int) {
	for id, f := range s.first {
		if !s.begun[id] && !s.known[id] && !s.older[id] {
			numbers = append(numbers, f.number)
		}
	}
	return numbers
}

// NextPart must be called after all events of a part of the recording were passed to See, and after Numbers. In the
// next parts, samples of threads that were in this part are not first ones.
func (s *FirstSamples) NextPart() {
	for id := range s.begun {
		s.know(id)
	}
	for id := range s.first {
		s.know(id)
	}
	clear(s.begun)
	clear(s.first)
}

func (s *FirstSamples) know(id int64) {
	if len(s.known) >= maxKnown {
		s.known, s.older = nil, s.known
	}
	set(&s.known, id, true)
}

// id returns a number that identifies the thread in the JVM. This number is the Java id, because the kernel reuses its
// thread ids. Internal threads have no Java id; for these, id returns the kernel's id, but negative.
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
