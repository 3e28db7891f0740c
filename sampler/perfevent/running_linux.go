package perfevent

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// OpenRunning opens events on all threads of running processes, and enables them at once. Threads and processes that
// descend from these threads inherit the events. If the kernel refuses an event, the error is an [*OpenError].
// Processes that have ended are skipped; it is an error only if all of them have ended.
//
// OpenRunning needs a file descriptor for each thread, CPU and event. If that exceeds the limit of open files, it opens
// each event only once on each CPU, for all processes of the machine, provided that this user may do so. The records of
// the other processes are then dropped.
func OpenRunning(pids []int, o Options) (*Set, error) {
	s, err := openThreads(pids, o)
	if !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE) {
		return s, err
	}
	if s, wide := openMachine(pids, o); wide == nil {
		return s, nil
	}
	return nil, err
}

// openThreads opens the events on each thread.
func openThreads(pids []int, o Options) (*Set, error) {
	s, err := newSet(o, unix.PerfBitInherit)
	if err != nil {
		return nil, err
	}
	s.tids = map[int32]int64{}
	for _, pid := range pids {
		if err = s.addAll(pid); err != nil {
			break
		}
	}
	if err == nil && len(s.tids) == 0 {
		err = &OpenError{o.Events[0].Name, "perf_event_open", unix.ESRCH}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// OpenThreads opens events on some running threads, and enables them at once. Threads that these create do not inherit
// the events. Threads that have ended are skipped; it is an error only if all of them have ended.
//
// The kernel may refuse the events on some threads after it has allowed them on others, for example because there are
// too many open files. OpenThreads then returns the set without the refused threads, and an error that says how many
// were refused.
func OpenThreads(tids []int, o Options) (*Set, error) {
	s, err := newSet(o, 0)
	if err != nil {
		return nil, err
	}
	s.tids = map[int32]int64{}
	refused, first := 0, error(nil)
	for _, tid := range tids {
		known := len(s.fds)
		switch err := s.addRunning(tid); {
		case err == nil:
			s.tids[int32(tid)] = monotonic.Nanos()
		case errors.Is(err, unix.ESRCH): // the thread has ended
		case len(s.tids) == 0:
			s.Close()
			return nil, err
		default:
			s.closeFrom(known)
			refused++
			first = cmp.Or(first, err)
		}
	}
	switch {
	case len(s.tids) == 0:
		s.Close()
		return nil, &OpenError{o.Events[0].Name, "perf_event_open", unix.ESRCH}
	case first != nil:
		return s, fmt.Errorf("%d of %d threads: %w", refused, len(tids), first)
	}
	return s, nil
}

// closeFrom closes the descriptors s.fds[n:].
func (s *Set) closeFrom(n int) {
	for _, d := range s.fds[n:] {
		if s.owners[d.cpu] == d.fd {
			s.owners[d.cpu] = -1
		}
		maps.DeleteFunc(s.byID, func(_ uint64, other descriptor) bool { return other == d })
		unix.Close(d.fd)
	}
	s.fds = s.fds[:n]
}

// mostRounds is the maximum number of times that addAll looks for new threads.
const mostRounds = 20

// addAll opens the events on all threads of a process. It then looks for new threads, and repeats both until there are
// no new threads.
//
// A thread that is created while events are being opened may have inherited some of them. addAll opens the events on
// this thread as well, and followed.keep then ignores the inherited ones. A thread whose creator already had events on
// all CPUs has inherited all events, and addAll skips it; the kernel reports who created it (Fork). Therefore addAll
// ends even if a process creates threads all the time.
func (s *Set) addAll(pid int) error {
	inherited := map[int32]bool{}
	for range mostRounds {
		s.scanForks(inherited)
		found := false
		for _, tid := range Threads(pid) {
			if _, opened := s.tids[int32(tid)]; opened || inherited[int32(tid)] {
				continue
			}
			found = true
			switch err := s.addRunning(tid); {
			case errors.Is(err, unix.ESRCH): // the thread has ended
			case err != nil:
				return err
			default:
				s.tids[int32(tid)] = monotonic.Nanos()
			}
		}
		if !found {
			return nil
		}
	}
	return nil
}

// addRunning opens the events on a thread and enables them.
func (s *Set) addRunning(tid int) error {
	known := len(s.fds)
	if err := s.add(tid); err != nil {
		return err
	}
	if s.rings[s.fds[0].cpu] == nil {
		if err := s.mapRings(); err != nil {
			return err
		}
	}
	return s.control(s.fds[known:], unix.PERF_EVENT_IOC_ENABLE)
}

// scanForks takes the records out of the ring buffers and keeps them for Drain. If a record shows that a new thread has
// inherited all events, scanForks adds the thread to the map.
func (s *Set) scanForks(inherited map[int32]bool) {
	from := len(s.batch)
	s.fill(math.MaxInt64)
	s.free()
	for _, r := range s.batch[from:] {
		if r.Kind != Fork {
			continue
		}
		if since, ok := s.tids[r.PTID]; ok && r.MonoNanos > since || inherited[r.PTID] {
			inherited[r.TID] = true
		}
	}
}

// openMachine opens the events for the whole machine. Drain will drop records that are not from the given processes or
// their descendants.
func openMachine(pids []int, o Options) (*Set, error) {
	s, err := newSet(o, 0)
	if err != nil {
		return nil, err
	}
	s.pids = map[int32]bool{}
	for _, pid := range pids {
		s.pids[int32(pid)] = true
	}
	if err = s.add(-1); err == nil {
		err = s.mapRings()
	}
	if err == nil {
		err = s.control(s.fds, unix.PERF_EVENT_IOC_ENABLE)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Threads returns the sorted ids of the threads that a process has now. It returns none if the process has ended.
func Threads(pid int) (tids []int) {
	entries, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	slices.Sort(tids)
	return tids
}
