package virtualthreads

import (
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// pauses has the addresses at which HotSpot counts its collections. The collectors Serial, Parallel and G1 move objects
// only while the program is stopped. If there was no such pause between two readings, no object has moved in the
// meantime.
type pauses struct {
	heap          uint64 // address of the CollectedHeap
	count, active vmstructs.Field
}

// newPauses finds out where a JVM counts its collections.
func newPauses(q *vmstructs.Query) (p pauses, err error) {
	at := q.Static("Universe::_collectedHeap").At
	var ok1, ok2 bool
	if p.count, ok1 = q.VM.Field("CollectedHeap::_total_collections"); p.count.Size == 0 {
		p.count.Size = 4
	}
	if p.active, ok2 = q.VM.Field("CollectedHeap::_is_stw_gc_active"); !ok2 {
		p.active, ok2 = q.VM.Field("CollectedHeap::_is_gc_active")
	}
	p.active.Size = 1
	q.Must(ok1, "CollectedHeap::_total_collections")
	q.Must(ok2, "CollectedHeap::_is_stw_gc_active")
	if q.Missing != nil {
		return p, q.Missing
	}
	p.heap, err = q.VM.Uint64(at)
	return p, err
}

// A collection is a reading of the JVM's counts: how many collections have begun, and whether one of them is going on.
type collection struct {
	known  bool
	count  uint64
	active bool
}

func (p *pauses) read(vm *vmstructs.VM) collection {
	size := max(p.count.At, p.active.At) + 8
	if size > maxInstance {
		return collection{}
	}
	data, err := vm.Read(nil, p.heap, size)
	if err != nil {
		return collection{}
	}
	return collection{true, p.count.In(data), p.active.In(data) != 0}
}

// none reports whether no object has moved between two readings.
func (p *pauses) none(before, after collection) bool {
	return before.known && after.known && !before.active && !after.active && before.count == after.count
}
