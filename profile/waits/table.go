package waits

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/wall"
)

// Times holds ns by state.
type Times [wall.Unseen + 1]int64

// Sum returns the sum of all states.
func (t *Times) Sum() (sum int64) {
	for _, n := range t {
		sum += n
	}
	return sum
}

// Add adds the times in other.
func (t *Times) Add(other *Times) {
	for s, n := range other {
		t[s] += n
	}
}

// A Table says what the threads of a trial did. Times are in ns.
type Table struct {
	// JVMs are those JVMs of the trial whose threads were recorded.
	JVMs    []JVM
	Account Account
	Times   Times // times of all threads; their sum is Account.Profiled
	// Threads are the threads with time in the trial, by JVM, pool and name.
	Threads []Thread
	// Pools have the times of threads whose names differ only in the number at the end. The pools that waited longest,
	// outside of their queues, come first.
	Pools []Pool
	// Idle sums up the idle threads. Pools and Places include their time.
	Idle Idle
	// Places are where threads waited, the longest time first.
	Places []Place
	// Holders are the owners of locks that other threads waited for. Those with the longest waits come first.
	Holders []Holder
	// Deadlocks are cycles of threads that waited for one another when the recording ended.
	Deadlocks []Deadlock
	// Virtual are the places of those virtual threads that were not mounted on a carrier thread. The places with the
	// most virtual threads come first.
	Virtual []VirtualPlace
	// VirtualSum says how these threads were counted.
	VirtualSum VirtualSum

	// Sums are the times of threads by state and stack.
	Sums []Sum
	// Stacks has all stacks of all trials. Spans refer to Locks and Details.
	Stacks  *calltree.Stacks
	Locks   []Lock
	Details []string
	owners  []thread // by Lock.Owner
}

// A JVM says how a JVM was recorded.
type JVM struct {
	PID   int
	Hertz int // how often per second the recorder looked at each thread
	// FromMonoNanos and ToMonoNanos are the recorded time.
	FromMonoNanos, ToMonoNanos int64
	// End has the counts of looks; nil if the recording was cut off.
	End *wall.End
}

// An Account says where the recorded time of all threads of a trial's JVMs went, in ns. Total is the sum of the others.
type Account struct {
	Total         int64
	OutsideWindow int64
	OtherThread   int64 // time of threads that are not chosen
	OutsideMethod int64
	NotUnder      int64
	Profiled      int64
}

// A Thread is a thread that has recorded time in a trial.
type Thread struct {
	PID, TID int
	Name     string // its last name
	Pool     string // see PoolOf
	Kind     string // kind of the thread, as in package threads
	JavaID   int64  // the thread's id in Java; 0 for the JVM's own threads
	Times    Times  // add up to the thread's wall-clock time in the windows
	Queued   int64  // the part of Times for which the thread was blocked in its pool's queue
	Idle     bool   // see the package comment
	Spans    []Span // sorted by time; they must not be changed
}

// Blocked returns how long the thread was blocked.
func (t *Times) Blocked() int64 {
	return t.Sum() - t[wall.OnProcessor] - t[wall.Runnable] - t[wall.Unseen]
}

// A Pool sums up threads.
type Pool struct {
	Name, Kind    string
	Threads, Idle int // number of threads, and how many of them are idle
	Times         Times
	Queued        int64
	IdleNanos     int64 // all time of the pool's idle threads
}

// Waited returns how long the pool's threads waited outside of the pool's queue.
func (p *Pool) Waited() int64 { return p.Times.Blocked() - p.Queued }

// An Idle sums up idle threads.
type Idle struct {
	Threads int
	Nanos   int64
	Queued  int64 // the time for which other threads were blocked in the queues of their pools
}

// A Sum is the time that the threads of a pool spent in a state at a stack.
type Sum struct {
	PID   int
	Pool  string
	State wall.State
	Stack callstack.ID // the stack at which the time was spent; 0 if it is not known
	Idle  bool         // true if the time is that of idle threads
	Nanos int64
}

// PoolOf returns the name of a thread's pool: the thread's name with * in place of a number at its end, such as
// "http-nio-8080-exec-*".
func PoolOf(name string) string {
	if base := strings.TrimRight(name, "0123456789"); base != name {
		return base + "*"
	}
	return name
}

// Table returns the table of the trial with the given number. pids are the JVMs of the trial, and rule chooses the
// frames that name places. Table returns nil if nothing was recorded about these JVMs.
func (x *Counter) Table(number int, pids []int, rule event.SiteRule) *Table {
	x.finish()
	from := x.trials[number]
	t := &Table{Account: from.account, Stacks: x.stacks, Locks: x.locks, Details: x.details.texts, owners: x.threads}
	for _, pid := range pids {
		if j := x.jvms[pid]; j != nil {
			t.JVMs = append(t.JVMs, JVM{pid, j.hertz, j.from, j.to, j.end})
			t.Account.Total += j.total
		}
	}
	if len(t.JVMs) == 0 {
		return nil
	}
	a := &t.Account
	a.OutsideWindow = a.Total - a.OtherThread - a.OutsideMethod - a.NotUnder - a.Profiled
	b := builder{Counter: x, Table: t, of: map[int32]int32{}, places: newPlaceFinder(t.Stacks, rule)}
	cells := b.sorted(from.cells)
	b.addThreads(cells, from.spans)
	b.addPools()
	b.addSums(cells)
	b.addPlaces(cells)
	b.addHolders(cells)
	b.addDeadlocks()
	b.addVirtual(number, pids)
	return t
}

// finish makes what all tables share. All calls after the first do nothing.
func (x *Counter) finish() {
	if x.stacks == nil {
		x.stacks = calltree.NewStacks(&x.trees)
	}
}

// A builder makes a table.
type builder struct {
	*Counter
	*Table
	of     map[int32]int32 // index of a thread in Table.Threads, by its index in Counter.threads
	places *placeFinder
}

// The type counted is a cell together with the sum of its times.
type counted struct {
	cell
	nanos int64
}

// sorted returns cells in a fixed order.
func (b *builder) sorted(cells map[cell]int64) []counted {
	list := make([]counted, 0, len(cells))
	for at, n := range cells {
		list = append(list, counted{at, n})
	}
	slices.SortFunc(list, func(x, y counted) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.state, y.state), cmp.Compare(x.stack, y.stack),
			cmp.Compare(x.lock, y.lock), cmp.Compare(x.detail, y.detail))
	})
	return list
}

// addThreads adds the threads, and determines which are idle.
func (b *builder) addThreads(cells []counted, spans map[int32][]Span) {
	type found struct {
		Thread
		index int32
	}
	var list []found
	for _, c := range cells {
		if n := len(list); n == 0 || list[n-1].index != c.thread {
			t := &b.Counter.threads[c.thread]
			list = append(list, found{Thread{PID: t.pid, TID: t.tid, Name: t.name, Pool: PoolOf(t.name), Kind: t.kind,
				JavaID: t.javaID, Spans: spans[c.thread]}, c.thread})
		}
		t := &list[len(list)-1].Thread
		t.Times[c.state] += c.nanos
		if b.queued(&c) {
			t.Queued += c.nanos
		}
	}
	slices.SortStableFunc(list, func(x, y found) int {
		return cmp.Or(cmp.Compare(x.PID, y.PID), cmp.Compare(x.Pool, y.Pool), cmp.Compare(len(x.Name), len(y.Name)),
			cmp.Compare(x.Name, y.Name), cmp.Compare(x.TID, y.TID))
	})
	for i := range list {
		t := &list[i].Thread
		t.Idle = isIdle(t)
		b.of[list[i].index] = int32(i)
		b.Threads = append(b.Threads, *t)
		b.Times.Add(&t.Times)
		if t.Idle {
			b.Idle.Threads++
			b.Idle.Nanos += t.Times.Sum()
		} else {
			b.Idle.Queued += t.Queued
		}
	}
}

// thread returns the Thread of a cell.
func (b *builder) thread(c *counted) *Thread { return &b.Threads[b.of[c.thread]] }

// addPools sums up threads by pool.
func (b *builder) addPools() {
	index := map[[2]string]int{}
	for i := range b.Threads {
		t := &b.Threads[i]
		at, ok := index[[2]string{t.Kind, t.Pool}]
		if !ok {
			at = len(b.Pools)
			index[[2]string{t.Kind, t.Pool}] = at
			b.Pools = append(b.Pools, Pool{Name: t.Pool, Kind: t.Kind})
		}
		p := &b.Pools[at]
		p.Threads++
		p.Times.Add(&t.Times)
		p.Queued += t.Queued
		if t.Idle {
			p.Idle++
			p.IdleNanos += t.Times.Sum()
		}
	}
	slices.SortFunc(b.Pools, func(x, y Pool) int {
		return cmp.Or(cmp.Compare(y.Waited(), x.Waited()), cmp.Compare(y.Times.Sum(), x.Times.Sum()),
			cmp.Compare(x.Name, y.Name), cmp.Compare(x.Kind, y.Kind))
	})
}

// addSums sums up cells by pool, state and stack.
func (b *builder) addSums(cells []counted) {
	sums := map[Sum]int64{}
	for i := range cells {
		c := &cells[i]
		t := b.thread(c)
		sums[Sum{PID: t.PID, Pool: t.Pool, State: c.state, Stack: c.stack, Idle: t.Idle}] += c.nanos
	}
	for s, n := range sums {
		s.Nanos = n
		b.Sums = append(b.Sums, s)
	}
	slices.SortFunc(b.Sums, func(x, y Sum) int {
		return cmp.Or(cmp.Compare(y.Nanos, x.Nanos), cmp.Compare(x.PID, y.PID), cmp.Compare(x.Pool, y.Pool),
			cmp.Compare(x.State, y.State), cmp.Compare(x.Stack, y.Stack), compareBool(x.Idle, y.Idle))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
