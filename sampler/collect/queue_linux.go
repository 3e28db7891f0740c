package collect

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A queue holds records that were taken out of the kernel's buffers, but are not written yet. It is used only with call
// stacks. To walk a stack, gasm may have to wait for a file or for the memory of another process, and the kernel's
// buffers would overflow in the meantime. Therefore one goroutine fills the queue, and another one walks the stacks and
// writes.
type queue struct {
	drain   *drain
	batches chan *batch
	filling *batch
	bytes   atomic.Int64 // an estimate of the memory that the batches take
	written atomic.Int64 // how many records were written
	done    chan struct{}
}

// A batch has some records. Their slices point into states, stacks and chains of the batch, not into the kernel's
// buffers.
type batch struct {
	records []perfevent.Record
	states  []perfevent.ThreadState
	stacks  []byte
	chains  []uint64
	last    bool // this batch has the last records of one reading of the kernel's buffers
}

// The variable unused has batches whose memory can be used again, also by the next recording.
var unused = sync.Pool{New: func() any { return &batch{} }}

const (
	// When a queue has more than mostQueued bytes, further records are left in the kernel's buffers. If the buffers are
	// full, the kernel drops new records and counts them. One reading may exceed mostQueued by the size of the buffers.
	mostQueued = 64 << 20
	// mostBatches is the number of batches for which a queue has room.
	mostBatches = 1 << 10
	// batchSize is the size, in bytes, at which a batch is passed on. A batch that is more than twice as large is not
	// reused, to free its memory.
	batchSize = 1 << 20
)

// newQueue returns a queue whose records are written by d.
func newQueue(d *drain) *queue {
	q := &queue{drain: d, batches: make(chan *batch, mostBatches), filling: unused.Get().(*batch),
		done: make(chan struct{})}
	go q.write()
	return q
}

// full reports whether the queue has no room.
func (q *queue) full() bool { return q.bytes.Load() > mostQueued || len(q.batches) > mostBatches/2 }

// put copies a record into the queue.
func (q *queue) put(r *perfevent.Record) {
	b := q.filling
	b.records = append(b.records, *r)
	if state := r.ThreadState; state != nil {
		b.states = append(b.states, perfevent.ThreadState{ABI: state.ABI, Regs: state.Regs})
		to := &b.states[len(b.states)-1]
		to.Stack, to.Chain = appended(&b.stacks, state.Stack), appended(&b.chains, state.Chain)
		b.records[len(b.records)-1].ThreadState = to
	}
	if b.size() >= batchSize && len(q.batches) < mostBatches-1 {
		q.pass(false)
	}
}

// appended appends data to the slice *all, and returns the part of that slice that has the data.
func appended[T any](all *[]T, data []T) []T {
	n := len(*all)
	*all = append(*all, data...)
	return (*all)[n:len(*all):len(*all)]
}

// size returns an estimate of the memory that the records of a batch take, in bytes.
func (b *batch) size() int { return 512*len(b.records) + len(b.stacks) + 8*len(b.chains) }

// looked is called after each reading of the kernel's buffers. It passes the records to the goroutine that writes them.
func (q *queue) looked() {
	if len(q.filling.records) > 0 {
		q.pass(true)
	}
}

func (q *queue) pass(last bool) {
	b := q.filling
	b.last = last
	q.bytes.Add(int64(b.size()))
	q.batches <- b
	q.filling = unused.Get().(*batch)
}

// write writes the records in the queue. It returns when the method end was called and the queue is empty.
func (q *queue) write() {
	defer close(q.done)
	for b := range q.batches {
		for i := range b.records {
			q.drain.take(&b.records[i])
			q.written.Add(1)
		}
		if b.last {
			q.drain.looked()
		}
		size := b.size()
		q.bytes.Add(-int64(size))
		if size > 2*batchSize {
			continue
		}
		clear(b.records) // so that their texts can be freed
		clear(b.states)  // so that stacks that have been copied to a larger slice can be freed
		b.records, b.states, b.stacks, b.chains = b.records[:0], b.states[:0], b.stacks[:0], b.chains[:0]
		unused.Put(b)
	}
}

// When the recording ends, the last records may still wait for files or for the memory of processes. If no record is
// written within stuckTicks ticks, the writing is considered stuck. All records must be written within allTicks ticks;
// usually that takes a few milliseconds. Ticks are counted instead of time, because a process that gets no CPU on a
// busy machine counts fewer ticks, and so waits longer.
const (
	tick       = 10 * time.Millisecond
	stuckTicks = 500
	allTicks   = 2000
)

// end is called after the last record. It returns when all records are written. If that takes too long, it calls
// hurry().
func (q *queue) end(hurry func()) {
	q.looked()
	close(q.batches)
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	before, stuck := q.written.Load(), 0
	for n := 0; n < allTicks && stuck < stuckTicks; n++ {
		select {
		case <-q.done:
			return
		case <-ticks.C:
		}
		stuck++
		if now := q.written.Load(); now != before {
			before, stuck = now, 0
		}
	}
	hurry()
	<-q.done
}
