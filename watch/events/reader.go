package events

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/jfr"
)

// A Reader reads the dumps of one recording. The zero Reader has read none.
type Reader struct {
	begun      bool
	lastStart  int64 // when the last chunk that was counted began and ended, in ns of the JVM's clock
	lastEnd    int64
	firsts     jfr.FirstSamples
	sampled    bool // allocations are sampled
	lock, heap *Sum // since the last Take
}

// mostGap limits the time between two chunks. If the time is longer, a chunk between them is missing, because HotSpot
// begins a chunk at the end of the previous one.
const mostGap = 100 * time.Millisecond

// Add adds the events of those chunks of a dump that were not in an earlier dump. It returns an error if events are
// missing. Even then, it has added those that could be read.
func (r *Reader) Add(f io.ReaderAt, size int64) error {
	headers, err := jfr.Headers(f, size)
	errs := []error{err}
	for len(headers) > 0 && r.begun && headers[0].Start() <= r.lastStart {
		headers = headers[1:]
	}
	if len(headers) == 0 {
		return err
	}
	first, last := &headers[0], &headers[len(headers)-1]
	if gap := time.Duration(first.Start() - r.lastEnd); r.begun && gap > mostGap {
		errs = append(errs, fmt.Errorf("the events of %.1f s are missing, because Flight Recorder has removed them", gap.Seconds()))
	}
	whole := !r.begun
	r.begun, r.lastStart, r.lastEnd = true, last.Start(), last.End()
	size = last.Offset + last.Size - first.Offset
	return errors.Join(append(errs, r.read(io.NewSectionReader(f, first.Offset, size), size, whole))...)
}

// read adds the events of chunks. beginning is true for the first chunks of the recording.
func (r *Reader) read(f io.ReaderAt, size int64, beginning bool) error {
	in := jfr.NewReader(f, size, "the recording")
	x := jfr.NewEvents(in, 0, func(*jfr.Chunk) jfr.Anchor { return jfr.Anchor{} }) // only the order of times matters
	p := part{lock: orNew(&r.lock), heap: orNew(&r.heap), known: map[*event.Frame]stackOf{}}
	for x.Scan() {
		r.firsts.See(x, len(p.allocations))
		p.add(x.Event(), in.Event(), beginning)
	}
	r.sampled = r.sampled || p.sampled
	for _, number := range r.firsts.Numbers() {
		if number < len(p.allocations) {
			p.allocations[number].bytes = 0
		}
	}
	r.firsts.NextPart()
	for i := range p.allocations {
		if a := &p.allocations[i]; a.counts && a.sample == r.sampled {
			r.heap.add(a.stack, 1, a.bytes)
		}
	}
	var errs []error
	if p.left > 0 {
		errs = append(errs, fmt.Errorf("%d allocations are left out, because there are more than %d in an interval", p.left,
			maxAllocations))
	}
	if damage := in.Damage(); damage.Any() {
		errs = append(errs, errors.New("a part of the recording can't be read: "+damage.First[0]))
	}
	if lost := in.Lost(); lost > 0 {
		errs = append(errs, fmt.Errorf("%d bytes of events are missing, because Flight Recorder had no room for them", lost))
	}
	return errors.Join(append(errs, in.Err())...)
}

func orNew(s **Sum) *Sum {
	if *s == nil {
		*s = newSum()
	}
	return *s
}

// A part sums up the events of a part of a recording.
type part struct {
	lock, heap  *Sum
	known       map[*event.Frame]stackOf // by the address of the innermost frame; equal stacks share their frames
	allocations []allocation
	sampled     bool
	left        int // number of allocations that were left out
}

// maxAllocations limits the number of allocations in a part. Flight Recorder samples at most 180,000 in 10 minutes.
const maxAllocations = 1 << 20

// A stackOf has the numbers of a stack in both sums, or 0 for none.
type stackOf struct{ lock, heap int }

// An allocation is an event that stands for allocated bytes. Which allocations count is known only after the whole part
// was read.
type allocation struct {
	stack          int // its number in the Sum
	bytes          int64
	sample, counts bool
}

// add adds an event if its kind is counted. raw is the same event as Flight Recorder has it.
func (p *part) add(e *event.Event, raw *jfr.Event, beginning bool) {
	switch e.Kind {
	case event.Lock:
		if !e.OfRecorder() {
			p.lock.add(p.stack(e, p.lock, func(s *stackOf) *int { return &s.lock }), 1, e.Nanos)
		}
	case event.Alloc:
		if len(p.allocations) == maxAllocations {
			p.left++
			return
		}
		a := allocation{bytes: e.Bytes, sample: raw.Type().Name == "jdk.ObjectAllocationSample", counts: !e.OfRecorder()}
		p.sampled = p.sampled || a.sample
		if t := raw.Thread(); beginning && a.sample && t != nil && (t.Virtual || t.OSID == 0) {
			a.bytes = 0 // they may be from before the recording; FirstSamples ignores virtual threads
		}
		if a.counts {
			a.stack = p.stack(e, p.heap, func(s *stackOf) *int { return &s.heap })
		}
		p.allocations = append(p.allocations, a)
	}
}

// stack returns the number of an event's stack in a Sum. The function of returns a pointer to the field of a stackOf
// that holds this number.
func (p *part) stack(e *event.Event, sum *Sum, of func(*stackOf) *int) int {
	if len(e.Frames) == 0 {
		return sum.stack(e)
	}
	known := p.known[&e.Frames[0]]
	n := of(&known)
	if *n == 0 {
		*n = sum.stack(e)
		p.known[&e.Frames[0]] = known
	}
	return *n
}

// Take returns the sum of the events of a kind, event.Lock or event.Alloc, since the last call for this kind. It
// returns nil if there were none.
func (r *Reader) Take(kind event.Kind) *Sum {
	of := &r.lock
	if kind == event.Alloc {
		of = &r.heap
	}
	sum := *of
	*of = nil
	if sum == nil || sum.Count == 0 {
		return nil
	}
	return sum
}
