package top

import (
	"math"
	"sync"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Segment takes the data that one recording delivers (record.Live). A view that stays open for long consists of
// several recordings, one after the other. Any goroutine may call its methods.
type Segment struct {
	mu       sync.Mutex
	samples  []sampler.Sample
	code     map[int][]byte // text of logs that is not parsed yet, by process id
	stacks   callstack.Growing
	ids      []callstack.ID // for each stack of the recording, its number in Model.tree
	epoch    int            // the value of Model.epoch for which ids is valid
	hertz    int
	counter  string
	lost     int64 // samples that the recording has lost
	dropped  int64 // samples that were dropped because they came too fast
	told     int64 // how many of the lost and dropped samples were reported to the Model
	over     bool
	from, to int64 // only samples in the half-open interval [from, to) count
}

// NewSegment returns the Segment for a recording that is about to begin.
func (m *Model) NewSegment() *Segment {
	s := &Segment{code: map[int][]byte{}, to: math.MaxInt64}
	m.segmentsMu.Lock()
	defer m.segmentsMu.Unlock()
	m.segments = append(m.segments, s)
	return s
}

// Begin is called when the sampling begins. Only the samples of the first event are counted. hertz is the number of
// samples per second of CPU time.
func (s *Segment) Begin(hertz int, events []sampler.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hertz = hertz
	if len(events) > 0 {
		s.counter = events[0].Name
	}
}

// Code takes text of the log of a JVM's code: whole lines, and whole methods.
func (s *Segment) Code(pid int, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code[pid] = append(s.code[pid], text...)
}

// Write takes text of the file with the call stacks.
func (s *Segment) Write(stacks []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.stacks.Write(stacks) // after an error, samples count without their stacks
	return len(stacks), nil
}

// Sample takes a sample.
func (s *Segment) Sample(x *sampler.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) >= maxPending {
		s.dropped++
		return
	}
	s.samples = append(s.samples, *x)
}

// Lost takes the number of samples that the recording has lost so far.
func (s *Segment) Lost(total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = total
}

// Follow says that this recording replaces another one at the given time (CLOCK_MONOTONIC, in ns). For a moment, both
// record. So only the samples before that time count in the other one, and only those from that time on in this one.
func (s *Segment) Follow(other *Segment, monoNanos int64) {
	other.mu.Lock()
	other.to = min(other.to, monoNanos)
	other.mu.Unlock()
	s.mu.Lock()
	s.from = monoNanos
	s.mu.Unlock()
}

// End is called when the recording has ended.
func (s *Segment) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// taken is the data that a Tick takes out of a Segment.
type taken struct {
	samples []sampler.Sample
	stacks  []callstack.ID // the samples' stacks, in Model.tree
	code    map[int][]byte
}

// take removes the samples that were taken until the given time from all segments, and returns them. It also takes all
// text of the logs.
func (m *Model) take(until int64) (all []taken) {
	m.segmentsMu.Lock()
	defer m.segmentsMu.Unlock()
	left := m.segments[:0]
	for _, s := range m.segments {
		t, over := m.takeFrom(s, until)
		all = append(all, t)
		if !over {
			left = append(left, s)
		}
	}
	clear(m.segments[len(left):])
	m.segments = left
	return all
}

func (m *Model) takeFrom(s *Segment, until int64) (t taken, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hertz > 0 {
		m.hertz, m.counter = s.hertz, s.counter
	}
	m.lost += s.lost + s.dropped - s.told
	s.told = s.lost + s.dropped
	t.code, s.code = s.code, map[int][]byte{}
	n := len(s.samples)
	for !s.over && n > 0 && s.samples[n-1].MonoNanos > until {
		n--
	}
	for i := range n {
		if at := s.samples[i].MonoNanos; s.from <= at && at < s.to {
			t.samples = append(t.samples, s.samples[i])
		}
	}
	s.samples = append(s.samples[:0], s.samples[n:]...)
	if s.epoch != m.epoch {
		s.ids, s.epoch = nil, m.epoch
	}
	for i := range t.samples {
		t.stacks = append(t.stacks, m.stackOf(s, t.samples[i].Stack))
	}
	return t, s.over && len(s.samples) == 0
}

// stackOf returns the number in Model.tree of a stack of a segment.
func (m *Model) stackOf(s *Segment, id callstack.ID) callstack.ID {
	if id == 0 || int(id) > s.stacks.Tree.Len() {
		return 0
	}
	if n := s.stacks.Tree.Len() + 1; len(s.ids) < n {
		s.ids = append(s.ids, make([]callstack.ID, n-len(s.ids))...)
	}
	return copyStack(&s.stacks.Tree, m.tree, id,
		func(id callstack.ID) (callstack.ID, bool) { return s.ids[id], s.ids[id] != 0 },
		func(id, to callstack.ID) { s.ids[id] = to })
}
