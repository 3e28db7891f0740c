package perfevent

import (
	"cmp"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// settled is a time after which a record is certainly in its ring, counted from the record's own time. The kernel takes
// the time first and writes the record afterwards. That takes microseconds, unless the hypervisor stops the virtual CPU
// in between.
const settled = 20 * time.Millisecond

// Drain calls give(record) for each record that has come since the last Drain, in the order of the records' times. It
// returns how many records were in the rings. It keeps the latest records for the next Drain, because an earlier record
// may still be missing in another ring. If all is true, it keeps none.
//
// A record is valid only during the call of give. That includes its ThreadState, whose memory is used for other records
// afterwards.
func (s *Set) Drain(all bool, give func(*Record)) (found int) {
	until := monotonic.Nanos() - int64(settled)
	found = s.fill()
	slices.SortStableFunc(s.batch, func(a, b Record) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	n := 0
	for ; n < len(s.batch) && (all || s.batch[n].MonoNanos <= until); n++ {
		if s.keep(&s.batch[n]) {
			give(&s.batch[n])
		}
		s.pool.put(s.batch[n].ThreadState)
	}
	kept := copy(s.batch, s.batch[n:])
	clear(s.batch[kept:]) // so that their texts can be freed
	s.batch = s.batch[:kept]
	return found
}

// fill takes all records out of the rings and adds them to the batch. It returns how many records it has taken.
func (s *Set) fill() int {
	for c, r := range s.rings { // all heads first, so that all rings are read up to about the same time
		if r != nil {
			s.heads[c] = r.Head()
		}
	}
	known := len(s.batch)
	for c, r := range s.rings {
		if r != nil {
			r.Read(s.heads[c], s.take)
		}
	}
	return len(s.batch) - known
}

// take decodes a record of a ring and adds it to the batch. Records of kinds that nobody needs are skipped.
func (s *Set) take(data []byte) {
	var r Record
	if !decode(data, &r) {
		return
	}
	d := s.byID[identifier(data)]
	r.Event, r.owner = d.event, d.tid
	if s.stack > 0 && r.Kind == Sample {
		r.ThreadState = s.pool.get()
		decodeState(data, r.ThreadState)
	}
	s.batch = append(s.batch, r)
}

// followed says which threads a set samples.
type followed struct {
	// tids are the threads on which events were opened while the threads were running. Each has the time of the opening
	// (CLOCK_MONOTONIC, in ns). tids is nil if events were opened on only one thread, from which all other threads
	// descend.
	tids map[int32]int64
	// pids are the processes whose records are kept if the events are opened for the whole machine. Otherwise, pids is
	// nil.
	pids map[int32]bool
}

// keep reports whether a record is to be kept. It also updates tids and pids if the record is a Fork, so it must be
// called with the records in the order of their times.
func (f *followed) keep(r *Record) bool {
	if f.pids != nil {
		if r.Kind == Fork && r.PID != r.PPID { // the new process may have the id of an earlier one
			f.pids[r.PID] = f.pids[r.PPID]
		}
		return f.pids[r.PID] || r.Kind == Lost || r.Kind == Throttle
	}
	// A thread that was created while events were being opened may have inherited some events, and has got its own
	// events afterwards (see addAll). Only the records of its own events count.
	if _, opened := f.tids[r.by]; opened && r.owner != r.by && r.Kind != Lost && r.Kind != Throttle {
		return false
	}
	if since, opened := f.tids[r.TID]; opened && r.Kind == Fork && r.MonoNanos > since {
		delete(f.tids, r.TID) // the new thread has the id of a thread that has ended
	}
	return true
}
