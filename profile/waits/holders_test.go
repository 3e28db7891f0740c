package waits

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/wall"
)

// TestHolders has threads wait for a lock whose owner waits for another lock, whose owner runs.
func TestHolders(t *testing.T) {
	r := record()
	first, second := r.thread("http-27", 0), r.thread("writer", 0)
	wait := r.stack("acme.Server::handle", "acme.Pool::take")
	got := r.stack("acme.Report::handle")
	pool := r.Lock(wall.Lock{Kind: wall.MonitorLock, Address: 0x7f0010, Class: "acme.Pool", Owner: first, Taken: got})
	moved := r.Lock(wall.Lock{Kind: wall.MonitorLock, Address: 0x7f0020, Class: "acme.Pool", Owner: first, Taken: got})
	db := r.Lock(wall.Lock{Kind: wall.Synchronizer, Address: 0x7f0030,
		Class: "java.util.concurrent.locks.ReentrantLock$NonfairSync", Owner: second})
	free := r.Lock(wall.Lock{Kind: wall.Synchronizer, Address: 1, Class: "Free"})
	inDB := r.stack("acme.Report::handle", "acme.Db::lock", "java.util.concurrent.locks.LockSupport::park")
	r.spell(first, 0, 30, wall.Socket, r.stack("acme.Report::handle", "acme.Db::read"), 0,
		"read from socket 1.1.1.1:5 to 1.1.1.1:6")
	r.spell(first, 30, 100, wall.Park, inDB, db, "")
	r.spell(second, 0, 100, wall.OnProcessor, 0, 0, "")
	for i := range 4 {
		n := r.thread(fmt.Sprintf("http-%d", i), 0)
		r.spell(n, 0, 10, wall.Park, wait, free, "")
		r.spell(n, 10, int64(60+10*i), wall.Monitor, wait, pool, "")
		r.spell(n, int64(60+10*i), 100, wall.Monitor, wait, moved, "")
	}
	table := r.table(t)
	require.Len(t, table.Holders, 2)
	h := table.Holders[0]
	assert.Equal(t, []any{"http-27", "acme.Pool", 4, 4, int64(4 * 90), int64(90), 2, uint64(0), "acme.Report::handle", 1},
		[]any{h.Owner, h.Class, h.Threads, h.Most, h.Nanos, h.HeldNanos, h.Objects, h.Address, h.Taken.Method, h.Next})
	assert.Equal(t, "2 × acme.Pool", h.Text())
	require.Len(t, h.Meanwhile, 2)
	assert.Equal(t, []any{wall.Park, int64(70), "acme.Db::lock"},
		[]any{h.Meanwhile[0].State, h.Meanwhile[0].Nanos, h.Meanwhile[0].Frame.Method})
	assert.Equal(t, []any{wall.Socket, int64(20), "read from socket to 1.1.1.1:6"},
		[]any{h.Meanwhile[1].State, h.Meanwhile[1].Nanos, h.Meanwhile[1].For})
	last := table.Holders[1]
	assert.Equal(t, []any{"writer", 1, int64(70), -1, "java.util.concurrent.locks.ReentrantLock$NonfairSync@7f0030"},
		[]any{last.Owner, last.Threads, last.Nanos, last.Next, last.Text()})
	assert.Equal(t, []Meanwhile{{State: wall.OnProcessor, Nanos: 70}}, last.Meanwhile)
	assert.Equal(t, []int{0, 1}, table.Chain(0))
	assert.Empty(t, table.Deadlocks)
}

// TestOverlaps compares the largest number of threads at once with a slow count.
func TestOverlaps(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var spans []capture.Span
		var at [60]int
		for range random.IntN(20) {
			from := random.Int64N(50)
			s := capture.Span{FromMonoNanos: from, ToMonoNanos: from + 1 + random.Int64N(9)}
			spans = append(spans, s)
			for ns := s.FromMonoNanos; ns < s.ToMonoNanos; ns++ {
				at[ns]++
			}
		}
		joined, most := overlaps(spans)
		want, covered := 0, int64(0)
		for _, n := range at {
			want = max(want, n)
			covered += int64(min(n, 1))
		}
		for _, s := range joined {
			covered -= length64(s)
		}
		assert.Equal(t, want, most)
		assert.Zero(t, covered)
	}
}

// TestDeadlocks has a deadlock of three threads, a thread that waits for one of them, and two threads that waited for
// each other, but not at the same time.
func TestDeadlocks(t *testing.T) {
	r := record()
	var threads, locks []int
	for i := range 6 {
		threads = append(threads, r.thread(fmt.Sprintf("t%d", i), 0))
	}
	for _, owner := range []int{1, 2, 0, 0, 5, 4} { // owner of the lock that the thread waits for
		locks = append(locks, r.Lock(wall.Lock{Kind: wall.MonitorLock, Address: uint64(0x100 + len(locks)), Class: "A",
			Owner: threads[owner]}))
	}
	at := r.stack("Main::main", "Main::lock")
	for i, n := range threads {
		switch i {
		case 4:
			r.spell(n, 0, 50, wall.Monitor, at, locks[i], "")
			r.Ended(wall.Ended{Thread: n, MonoNanos: 50})
			continue
		case 5:
			r.spell(n, 0, 60, wall.OnProcessor, 0, 0, "")
			r.spell(n, 60, 100, wall.Monitor, at, locks[i], "")
			continue
		}
		r.spell(n, 0, int64(10*i+5), wall.Sleep, at, 0, "")
		r.spell(n, int64(10*i+5), 70, wall.Monitor, at, locks[i], "")
		r.spell(n, 70, 100, wall.Monitor, at, locks[i], "")
		if i == 1 {
			r.spell(n, 100, 120, wall.Unseen, 0, 0, "") // the time after the last look
		}
	}
	table := r.table(t)
	require.Len(t, table.Deadlocks, 1)
	d := table.Deadlocks[0]
	assert.Equal(t, []int64{25, 100}, []int64{d.FromMonoNanos, d.ToMonoNanos})
	var names []string
	for _, one := range d.Threads {
		names = append(names, one.Name)
		assert.Equal(t, "Main::lock", one.Frame.Method)
	}
	assert.Equal(t, []string{"t0", "t1", "t2"}, names)
}

// TestVirtual checks that numbers of virtual threads are means over all counts in the JVM.
func TestVirtual(t *testing.T) {
	r := record()
	n := r.thread("main", 0)
	r.spell(n, 0, 100, wall.Sleep, 0, 0, "")
	sleep, park := r.stack("A::a", "java.lang.Thread::sleep"), r.stack("B::b")
	for at, counts := range [][2]int{{100, 20}, {200, 0}, {300, 0}} {
		r.Virtual(&wall.Virtuals{MonoNanos: int64(at), Count: counts[0], State: wall.Sleep, Stack: sleep})
		if counts[1] > 0 {
			r.Virtual(&wall.Virtuals{MonoNanos: int64(at), Count: counts[1], State: wall.Park, Stack: park})
		}
	}
	table := r.table(t)
	require.Len(t, table.Virtual, 2)
	assert.Equal(t, []any{"A::a", 200.0, 300}, []any{table.Virtual[0].Frame.Method, table.Virtual[0].Mean,
		table.Virtual[0].Most})
	assert.InDelta(t, 20.0/3, table.Virtual[1].Mean, 1e-9)
	assert.Zero(t, table.VirtualSum)
}

// TestVirtualCounts checks that counts without threads lower the means, and that counts during a collection do not.
func TestVirtualCounts(t *testing.T) {
	r := record()
	n := r.thread("main", 0)
	r.spell(n, 0, 100, wall.Sleep, 0, 0, "")
	sleep := r.stack("A::a", "java.lang.Thread::sleep")
	r.VirtualCount(&wall.VirtualCount{MonoNanos: 1, Threads: 1000, Looked: 100, Mounted: 1, Unread: 2, Untracked: 6})
	r.Virtual(&wall.Virtuals{MonoNanos: 1, Count: 970, State: wall.Sleep, Stack: sleep})
	r.VirtualCount(&wall.VirtualCount{MonoNanos: 2, Threads: 900})
	r.VirtualCount(&wall.VirtualCount{MonoNanos: 3})
	table := r.table(t)
	require.Len(t, table.Virtual, 1)
	assert.Equal(t, []any{485.0, 970}, []any{table.Virtual[0].Mean, table.Virtual[0].Most})
	assert.Equal(t, VirtualSum{Counts: 3, Moved: 1, Threads: 500, Looked: 50, Mounted: 0.5, Unread: 1, Untracked: 3},
		table.VirtualSum)
}
