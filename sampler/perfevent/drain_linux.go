package perfevent

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// settled is the time after which a record is certainly in its ring buffer, counted from the record's own time. The
// kernel takes the time first and writes the record afterwards. In between, a hypervisor may stop the virtual CPU for a
// while; otherwise the writing takes only microseconds.
const settled = 20 * time.Millisecond

// Drain calls give(record) for each record that has come since the last Drain, in the order of the records' times. It
// keeps the records of the last 20 ms for the next Drain, because an earlier record may still be missing in another
// ring buffer. If the parameter all is true, it keeps no records. The result found is the number of records that Drain
// has taken out of the ring buffers, plus one for each ring buffer in which it has left records.
//
// A record and its ThreadState are valid only until the function give returns.
func (s *Set) Drain(all bool, give func(*Record)) (found int) {
	until := monotonic.Nanos() - int64(settled)
	if all {
		until = math.MaxInt64
	}
	found = s.fill(until)
	slices.SortStableFunc(s.batch, func(a, b Record) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	n := 0
	for ; n < len(s.batch) && s.batch[n].MonoNanos <= until; n++ {
		if s.keep(&s.batch[n]) {
			give(&s.batch[n])
		}
		s.pool.put(s.batch[n].ThreadState)
	}
	kept := copy(s.batch, s.batch[n:])
	clear(s.batch[kept:]) // so that their texts can be freed
	s.batch = s.batch[:kept]
	s.free()
	return found
}

// fill takes records out of the ring buffers and adds them to the batch. Its result found is that of Drain. After the
// caller has used the records, it must call free.
//
// Without stacks, fill takes all records. With stacks, it leaves the newest records in the ring buffers, because Drain
// would have to copy their stacks. These are the records that are more than 2 ms (disorder) newer than the parameter
// until. But if a ring buffer is half full, it takes all of that buffer's records, so that the kernel has room for new
// ones.
func (s *Set) fill(until int64) (found int) {
	for c, r := range s.rings { // read all heads first, so that all ring buffers are read up to about the same time
		if r != nil {
			s.heads[c] = r.Head()
		}
	}
	known := len(s.batch)
	for c, r := range s.rings {
		switch {
		case r == nil:
		case s.stack == 0:
			r.Read(s.heads[c], s.take)
		default:
			s.tails[c] = s.fillStacks(r, s.heads[c], until)
			if s.tails[c] < s.heads[c] {
				found++
			}
		}
	}
	return found + len(s.batch) - known
}

// disorder is an upper bound for the difference between the times of two records that are in the wrong order in a ring
// buffer. The order is wrong if an interrupt comes after the kernel has taken the time of a record, but before it has
// reserved room for that record: the interrupt's own record then comes first.
const disorder = 2 * time.Millisecond

// fillStacks does the work of fill for one ring buffer with stacks. It returns the position up to which it has taken
// the records.
func (s *Set) fillStacks(r *Ring, head uint64, until int64) (tail uint64) {
	tail = r.page.Data_tail
	leaves := until < math.MaxInt64 && head-tail < uint64(len(r.data)/2)
	for {
		record, next := r.record(tail, head)
		if record == nil {
			return next
		}
		known := len(s.batch)
		s.take(record)
		if leaves && len(s.batch) > known && s.batch[known].MonoNanos-int64(disorder) > until {
			s.pool.put(s.batch[known].ThreadState)
			s.batch = s.batch[:known]
			return tail
		}
		tail = next
	}
}

// free frees the space of all records that fill has taken. Before that, it copies the stacks that the batch still
// needs.
func (s *Set) free() {
	if s.stack == 0 {
		return // Read has done it
	}
	for i := range s.batch {
		if state := s.batch[i].ThreadState; state != nil {
			state.keep()
		}
	}
	for c, r := range s.rings {
		if r != nil {
			r.free(s.tails[c])
		}
	}
}

// take decodes a record of a ring buffer and adds it to the batch, unless its kind is not used. The stack of the record
// is not copied yet.
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
	// tids are the threads on which events were opened while the threads were running, each with the time of the
	// opening (CLOCK_MONOTONIC, in ns). tids is nil if events were opened on only one thread, from which all other
	// sampled threads descend.
	tids map[int32]int64
	// pids are the processes whose records are kept. It is used only if the events are opened for the whole machine,
	// and nil otherwise.
	pids map[int32]bool
}

// keep reports whether a record must be kept. It also updates tids and pids if the record is a Fork. So it must be
// called with the records in the order of their times.
func (f *followed) keep(r *Record) bool {
	if f.pids != nil {
		if r.Kind == Fork && r.PID != r.PPID { // the new process may have the id of an earlier one
			f.pids[r.PID] = f.pids[r.PPID]
		}
		return f.pids[r.PID] || r.Kind == Lost || r.Kind == Throttle
	}
	// A thread that was created while events were being opened may have inherited some events before it got its own
	// events (see addAll). Only the records of its own events are kept, so that no sample counts twice.
	if _, opened := f.tids[r.by]; opened && r.owner != r.by && r.Kind != Lost && r.Kind != Throttle {
		return false
	}
	if since, opened := f.tids[r.TID]; opened && r.Kind == Fork && r.MonoNanos > since {
		delete(f.tids, r.TID) // the new thread has the id of a thread that has ended
	}
	return true
}
