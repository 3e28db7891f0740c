package wallclock

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/virtualthreads"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/wall"
)

// A virtualCounter counts the virtual threads that are not mounted, for a Recorder. Its time is part of the budget.
type virtualCounter struct {
	counter *virtualthreads.Counter // nil if they can't be counted
	share   float64                 // how much of a processor the counts may take
	due     int64                   // when to count next
	each    time.Duration           // average processor time for each virtual thread that was read
	begun   bool                    // there was at least one count
	any     bool                    // a count has found virtual threads
	spent   time.Duration           // what the method elsewhere returns after the counter was closed
	failed  error                   // why they are not counted, or not any more; nil if the JVM has none
}

const (
	// virtualPart is the part of the budget that counts of virtual threads may take.
	virtualPart = 0.5
	// virtualEvery is the shortest time between two counts.
	virtualEvery = int64(time.Second)
	// leastLooked and mostLooked limit how many virtual threads are read for a count.
	leastLooked, mostLooked = 64, 10_000
	// firstEach is the assumed processor time for one thread, until it has been measured. On a slow machine, a thread
	// takes about twice as much.
	firstEach = 20 * time.Microsecond
)

// newVirtualCounter returns a counter for the JVM with the process id pid.
func newVirtualCounter(pid int, o Options) (v virtualCounter) {
	v.share, v.each = cmp.Or(o.Share, defaultShare)*virtualPart, firstEach
	if v.counter, v.failed = virtualthreads.NewCounter(o.JVMs, pid); errors.Is(v.failed, virtualthreads.ErrNone) {
		v.failed = nil
	}
	return v
}

func (v *virtualCounter) close() {
	if v.counter != nil {
		v.spent = v.counter.Elsewhere()
		v.counter.Close()
		v.counter = nil
	}
}

// elsewhere returns the processor time that the counter has used in goroutines other than the recorder's.
func (v *virtualCounter) elsewhere() time.Duration {
	if v.counter == nil {
		return v.spent
	}
	return v.counter.Elsewhere()
}

// countVirtual counts the virtual threads if that is due. If a count takes more than the counts' share of a processor
// allows, the next count is later, or reads fewer threads.
func (r *Recorder) countVirtual(now int64) {
	v := &r.virtual
	if v.counter == nil || now < v.due {
		return
	}
	began := r.budget.used()
	most := min(max(int(v.share*float64(virtualEvery)/float64(v.each)), leastLooked), mostLooked)
	n, err := v.counter.Count(most)
	took := r.budget.used() - began
	v.due = now + max(virtualEvery, int64(float64(took)/v.share))
	if err != nil {
		if !shared.Gone(err) {
			v.failed = err
		}
		if !errors.Is(err, vmstructs.ErrBudget) { // otherwise a later count may work
			v.close()
		}
		return
	}
	v.failed = nil
	switch {
	case !v.begun: // this count has also looked for Java's classes
		v.begun, v.due = true, now+virtualEvery
	case n.Looked >= leastLooked/2:
		v.each += (took/time.Duration(n.Looked) - v.each) / 4
	}
	if v.any = v.any || n.Threads+n.Untracked > 0; v.any {
		r.writeVirtual(n)
	}
}

// writeVirtual writes a count.
func (r *Recorder) writeVirtual(n *virtualthreads.Counts) {
	r.out.VirtualCount(&wall.VirtualCount{MonoNanos: n.MonoNanos, Threads: n.Threads, Looked: n.Looked,
		Mounted: n.Mounted, Unread: n.Unread, Untracked: n.Untracked})
	type place struct {
		state wall.State
		stack callstack.ID
		lock  int
	}
	counts := map[place]int{}
	var order []place
	slices.SortStableFunc(n.Places, func(a, b virtualthreads.Place) int { return cmp.Compare(b.Count, a.Count) })
	for i := range n.Places {
		p := &n.Places[i]
		at := place{state: virtualStates[p.State]}
		if i < mostPlaces {
			at.stack = r.push(p.Frames)
		}
		if i < mostPlaces && p.Blocker != "" {
			at.lock = r.out.Lock(wall.Lock{Kind: wall.Synchronizer, Class: p.Blocker})
		}
		if counts[at] == 0 {
			order = append(order, at)
		}
		counts[at] += p.Count
	}
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(counts[b], counts[a]) })
	for _, at := range order {
		r.out.Virtual(&wall.Virtuals{MonoNanos: n.MonoNanos, Count: counts[at], State: at.state, Stack: at.stack,
			Lock: at.lock})
	}
}

// mostPlaces is the maximum number of places whose stacks are written for a count. Threads at further places are summed
// up by state.
const mostPlaces = 1000

var virtualStates = map[virtualthreads.State]wall.State{virtualthreads.Runnable: wall.Runnable,
	virtualthreads.Parked: wall.Park, virtualthreads.Sleeping: wall.Sleep, virtualthreads.Socket: wall.Socket,
	virtualthreads.Blocked: wall.Monitor, virtualthreads.Waiting: wall.Wait}
