package foreign

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// usualTime is how long looking at a process may take before the next one is started in parallel.
const usualTime = 100 * time.Millisecond

// Each calls the function look once for every process of the machine except this one, several at a time. found has the
// results of the calls that returned true. A call may block for ever, because a process may be hostile: after the time
// limit Each returns, and does not wait for the calls that are still running. silent has the ids of their processes, and
// of those whose turn did not come.
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
