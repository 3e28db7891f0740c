package attach

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Lister lists the running JVMs again and again. Its lists are those of the function List, but cost much less. Most
// of List's time is spent on reading the mappings of processes that are not JVMs. A Lister skips processes that have
// only one thread. It reads every other process again when the process has become twice as old, but at least once a
// minute. So a process that loads a JVM long after its start may be found up to a minute late, and what the Lister
// knows about a JVM may be up to a minute old.
type Lister struct {
	mu    sync.Mutex
	round int64
	seen  map[int]*looked // by process id
}

// The type looked holds what was found out about a process.
type looked struct {
	ticks uint64   // start time of the process; distinguishes it from a later process with the same id
	jvm   *Process // nil if it is not a JVM
	again time.Time
	round int64 // number of the last list that contained the process
}

// lookAgain is the longest time between two readings of the same process.
const lookAgain = time.Minute

var errNoJVM = errors.New("it was not a JVM a moment ago")

// List returns the running JVMs, as the function List does. It must not be called by several goroutines at once.
func (l *Lister) List(ctx context.Context) ([]Process, error) {
	l.mu.Lock()
	if l.seen == nil {
		l.seen = map[int]*looked{}
	}
	l.round++
	round := l.round
	l.mu.Unlock()
	jvms, err := list(ctx, func(ctx context.Context, pid int) (*Process, error) { return l.look(ctx, pid, round) })
	l.mu.Lock()
	defer l.mu.Unlock()
	for pid, known := range l.seen {
		if known.round != round {
			delete(l.seen, pid)
		}
	}
	return jvms, err
}

func (l *Lister) look(ctx context.Context, pid int, round int64) (*Process, error) {
	stat := foreign.StatOf(pid)
	if stat.StartTicks == 0 || stat.Ended() {
		return nil, foreign.ErrEnded
	}
	l.mu.Lock()
	known := l.seen[pid]
	if known != nil && known.ticks == stat.StartTicks && time.Now().Before(known.again) {
		known.round = round
		l.mu.Unlock()
		if known.jvm == nil {
			return nil, errNoJVM
		}
		return known.jvm, nil
	}
	l.mu.Unlock()
	known = &looked{ticks: stat.StartTicks, round: round}
	j, err := (*Process)(nil), errNoJVM
	if stat.Threads != 1 { // a JVM has many threads; a process with one may be a JVM that is about to start them
		j, err = look(ctx, pid)
		age := time.Duration(monotonic.Nanos() - startMonoNanos(stat))
		known.again = time.Now().Add(min(age, lookAgain))
	}
	if err == nil {
		known.jvm = j
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[pid] = known
	return j, err
}
