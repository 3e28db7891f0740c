package foreign

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// usualTime is the time after which Each assumes that a call of its function look is blocked. Each makes as many calls
// at the same time as there are CPUs, not counting the blocked ones.
const usualTime = 100 * time.Millisecond

// Each calls look(pid) once for every process of the machine except this one, in several goroutines. The map found has
// the results of those calls that returned true, by process id. Because a process may be hostile, a call may block for
// ever. So when the time limit is over, Each returns without waiting for the calls that are still running. silent lists
// the processes whose calls had not returned by then, or had not even begun.
func Each[T any](limit time.Duration, look func(pid int) (T, bool)) (found map[int]T, silent []int, err error) {
	pids, err := processes()
	if err != nil {
		return nil, nil, err
	}
	type result struct {
		pid   int
		value T
		ok    bool
	}
	turn, results := make(chan struct{}, runtime.NumCPU()), make(chan result, len(pids))
	over := make(chan struct{})
	defer time.AfterFunc(limit, func() { close(over) }).Stop()
	waited := map[int]bool{}
begin:
	for i, pid := range pids {
		select {
		case turn <- struct{}{}:
		case <-over:
			silent = pids[i:]
			break begin
		}
		waited[pid] = true
		go func() {
			next := sync.OnceFunc(func() { <-turn })
			defer time.AfterFunc(usualTime, next).Stop()
			defer next()
			value, ok := look(pid)
			results <- result{pid, value, ok}
		}()
	}
	found = map[int]T{}
	for len(waited) > 0 {
		select {
		case r := <-results:
			delete(waited, r.pid)
			if r.ok {
				found[r.pid] = r.value
			}
			continue
		case <-over:
		}
		break
	}
	for pid := range waited {
		silent = append(silent, pid)
	}
	return found, silent, nil
}

// processes returns the ids of all processes of the machine except this one.
func processes() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
