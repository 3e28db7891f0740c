package waits

import (
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/wall"
)

// A Deadlock is a cycle of threads, each of which waits for a lock that the next one has; the last one waits for a lock
// of the first one. Deadlocks are found in the whole recording, whatever the windows are.
type Deadlock struct {
	PID                        int
	FromMonoNanos, ToMonoNanos int64 // the time for which all threads of the cycle waited
	Threads                    []Deadlocked
}

// A Deadlocked is a thread in a deadlock.
type Deadlocked struct {
	Name  string
	TID   int
	State wall.State
	Lock  Lock
	Frame event.Frame // where it waits; without Method if that is not known
}

// A wait says what a thread last waited for.
type wait struct {
	lock     int32 // 1 + the index in Counter.locks; 0 if the thread did not wait for a lock
	from, to int64
	state    wall.State
	stack    callstack.ID // in Counter.trees
}

// follow adds the next spell of the thread. lock and stack are the lock and the stack of the spell, numbered as in the
// Counter. A spell about which nothing is known, such as the one after the last look, changes nothing.
func (w *wait) follow(lock int32, stack callstack.ID, s *wall.Spell) {
	if s.State == wall.Unseen {
		return
	}
	if lock == 0 || !Waits(s.State) {
		*w = wait{}
		return
	}
	if w.lock != lock || w.to != s.FromMonoNanos {
		*w = wait{lock: lock, from: s.FromMonoNanos}
	}
	w.to, w.state, w.stack = s.ToMonoNanos, s.State, stack
}

// addDeadlocks finds the threads that waited for one another at the end. Each thread waits for one lock at most, and a
// lock has one owner at most, so the threads that can be reached from a thread are a chain, and a thread is in one
// cycle at most.
func (b *builder) addDeadlocks() {
	all := b.Counter.threads
	next := func(i int) int {
		if w := &all[i].last; w.lock > 0 {
			return b.Locks[w.lock-1].Owner
		}
		return -1
	}
	visited := make([]int, len(all)) // for each thread: 1 + the index of the start from which it was reached first
	for start := range all {
		at := start
		for at >= 0 && visited[at] == 0 {
			visited[at] = start + 1
			at = next(at)
		}
		if at < 0 || visited[at] != start+1 || !slices.ContainsFunc(b.JVMs,
			func(j JVM) bool { return j.PID == all[at].pid }) {
			continue
		}
		d := Deadlock{PID: all[at].pid}
		for i := at; len(d.Threads) == 0 || i != at; i = next(i) {
			w := &all[i].last
			if len(d.Threads) == 0 {
				d.FromMonoNanos, d.ToMonoNanos = w.from, w.to
			}
			d.FromMonoNanos, d.ToMonoNanos = max(d.FromMonoNanos, w.from), min(d.ToMonoNanos, w.to)
			d.Threads = append(d.Threads, Deadlocked{all[i].name, all[i].tid, w.state, b.Locks[w.lock-1],
				b.places.frame(w.stack, w.state)})
		}
		if d.FromMonoNanos < d.ToMonoNanos && len(d.Threads) > 1 {
			b.Deadlocks = append(b.Deadlocks, d)
		}
	}
}
