package perfevent

import (
	"cmp"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// settled is how long after a record's time the record is certainly in its ring. The kernel takes the
// time first and writes the record afterwards. That takes microseconds, unless the virtual CPU is taken
// away meanwhile.
const settled = 20 * time.Millisecond

// Drain calls the function give for each record that has come since the last Drain, in the order of
// their times. It returns how many records were in the rings. It keeps the latest records for the next
// Drain, because a record that belongs before them may still be on its way into another ring. If all is
// true, it keeps none.
//
// A record is valid until give returns.
func (s *Set) Drain(all bool, give func(*Record)) (found int) {
	until := monotonic.Nanos() - int64(settled)
	found = s.fill()
	slices.SortStableFunc(s.batch, func(a, b Record) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	n := 0
	for ; n < len(s.batch) && (all || s.batch[n].MonoNanos <= until); n++ {
		if s.keep(&s.batch[n]) {
			give(&s.batch[n])
		}
	}
	kept := copy(s.batch, s.batch[n:])
	clear(s.batch[kept:]) // so that their texts can be freed
	s.batch = s.batch[:kept]
	return found
}

// fill takes all records out of the rings, and returns how many there were.
func (s *Set) fill() int {
	for c, r := range s.rings { // all heads first: then all rings are read up to about the same time
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

// take decodes a record of a ring and adds it to the batch, if it is of interest.
func (s *Set) take(data []byte) {
	var r Record
	if !decode(data, &r) {
		return
	}
	d := s.byID[identifier(data)]
	r.Event, r.owner = d.event, d.tid
	s.batch = append(s.batch, r)
}

// followed says which threads a set samples.
type followed struct {
	// tids are the threads on which events were opened while they ran, and when that was
	// (CLOCK_MONOTONIC, in ns). It is nil if events were opened on one thread only, from which all
	// others descend.
	tids map[int32]int64
	// pids are the processes whose records are kept, if the events are for the whole machine; nil
	// otherwise.
	pids map[int32]bool
}

// keep reports whether a record counts, and brings tids and pids up to date with it. Records come in
// the order of their times.
func (f *followed) keep(r *Record) bool {
	if f.pids != nil {
		if r.Kind == Fork && r.PID != r.PPID { // the new process may have the id of one that has ended
			f.pids[r.PID] = f.pids[r.PPID]
		}
		return f.pids[r.PID] || r.Kind == Lost || r.Kind == Throttle
	}
	// A thread that was made while events were being opened may have inherited some of them, and has
	// got events of its own afterwards (see addAll). Only the records of its own events count.
	if _, opened := f.tids[r.by]; opened && r.owner != r.by && r.Kind != Lost && r.Kind != Throttle {
		return false
	}
	if since, opened := f.tids[r.TID]; opened && r.Kind == Fork && r.MonoNanos > since {
		delete(f.tids, r.TID) // a new thread has the id of one that has ended
	}
	return true
}
