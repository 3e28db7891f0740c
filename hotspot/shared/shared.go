package shared

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// JVMs is a set of open JVMs. Any goroutine may use it.
type JVMs struct {
	mu      sync.Mutex
	open    map[int]*jvm // by process id
	refused int          // reads refused by the budgets of JVMs that are not open any more
}

// NewJVMs returns an empty set of JVMs.
func NewJVMs() *JVMs { return &JVMs{open: map[int]*jvm{}} }

// Refused returns how many reads of the JVMs' memory were refused, because too much of it had been read before.
func (s *JVMs) Refused() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = s.refused
	for _, j := range s.open {
		if b := j.budget.Load(); b != nil {
			n += b.Refused()
		}
	}
	return n
}

// A jvm is an open JVM.
type jvm struct {
	pid    int
	budget atomic.Pointer[vmstructs.Budget] // nil until the JVM was opened

	reading       sync.Mutex       // held while the JVM's memory is read; guards the fields down to failure
	unlimited, vm *vmstructs.VM    // reads of vm take from the budget
	cache         *codecache.Cache // nil until the JVM's code cache has been found
	copier        *nmethod.Copier
	polled        int64 // time of the last poll (CLOCK_MONOTONIC)
	failure       error // error of the last poll

	mu    sync.Mutex // guards views and their changes; held for short times only
	views []*View
}

// A View is one reader's view of a JVM. Several goroutines may call its methods at once. Only one of them should call
// Poll, because a Poll returns only the changes since the Poll before it.
type View struct {
	VM    *vmstructs.VM    // its reads, and those of the Copier, take from the JVM's budget
	Cache *codecache.Cache // only for those of its methods that any goroutine may call

	set     *JVMs
	jvm     *jvm
	changes codecache.Changes // the changes that Poll has not returned yet
	quiet   bool              // see Quiet
}

// Open returns a view of the process's JVM. The first call for a JVM finds HotSpot's code cache. The error says why the
// code cache can't be read (see vmstructs.Open for its types). If the JVM is just starting, a later call may work. Open
// reads the JVM's memory. If that memory is mapped from a file on a slow file system, Open waits for the file system.
func (s *JVMs) Open(pid int) (*View, error) {
	s.mu.Lock()
	j := s.open[pid]
	if j == nil {
		j = &jvm{pid: pid}
		s.open[pid] = j
	}
	s.mu.Unlock()
	j.reading.Lock()
	defer j.reading.Unlock()
	if err := j.find(); err != nil {
		s.remove(j)
		return nil, err
	}
	v := &View{VM: j.vm, Cache: j.cache, set: s, jvm: j}
	v.changes.Added = slices.Clone(j.cache.Blobs())
	j.mu.Lock()
	j.views = append(j.views, v)
	j.mu.Unlock()
	s.keep(j)
	return v, nil
}

// keep puts an opened JVM into the set again if it is missing there: another call of Open may have failed for this JVM
// and removed it.
func (s *JVMs) keep(j *jvm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[j.pid] == nil {
		s.open[j.pid] = j
	}
}

// remove removes a JVM, so that the next Open opens it again.
func (s *JVMs) remove(j *jvm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[j.pid] == j {
		delete(s.open, j.pid)
		if b := j.budget.Load(); b != nil {
			s.refused += b.Refused()
		}
	}
}

// mostBytes limits how many bytes a burst of reads may take from a JVM's memory, and bytesPerSecond limits the average
// in the long run. For comparison: to walk the stacks of javac, gasm copies 100 MB of methods in the first ten seconds.
// Polls of the code cache are not limited, because they read only headers.
const mostBytes, bytesPerSecond = 256 << 20, 32 << 20

// find finds HotSpot's code cache.
func (j *jvm) find() (err error) {
	if j.cache != nil {
		return nil
	}
	if j.vm == nil {
		vm, err := vmstructs.Open(j.pid)
		if err != nil {
			return err
		}
		budget := vmstructs.NewBudget(mostBytes, bytesPerSecond)
		j.budget.Store(budget)
		j.unlimited, j.vm = vm, vm.Within(budget)
	}
	if j.copier, err = nmethod.NewCopier(j.vm); err != nil {
		return err
	}
	cache, err := codecache.New(j.unlimited, j.copier.MethodName)
	if err != nil {
		return err
	}
	// HotSpot fills its table of bytecodes before it creates the code cache (bytecodes_init and codeCache_init in
	// init.cpp). So as long as the table is empty, there is no compiled code to miss, and the caller may try again
	// later.
	if err := j.copier.Frames(); errors.Is(err, nmethod.ErrStarting) {
		return err
	}
	j.cache = cache
	return nil
}

// Quiet announces that Poll will not be called any more, so that the view need not collect the changes for it.
func (v *View) Quiet() {
	v.jvm.mu.Lock()
	defer v.jvm.mu.Unlock()
	v.quiet, v.changes = true, codecache.Changes{}
}

// Close ends the view. When the last view of a JVM is closed, the JVM is removed from the set. Close does not wait for
// the JVM.
func (v *View) Close() {
	j := v.jvm
	j.mu.Lock()
	defer j.mu.Unlock()
	j.views = slices.DeleteFunc(j.views, func(other *View) bool { return other == v })
	if len(j.views) == 0 {
		v.set.remove(j)
	}
}

// Poll returns what has changed in the code cache since this view's last Poll; the first Poll finds all blobs. It reads
// the JVM's memory only if nobody has polled it since the given time (CLOCK_MONOTONIC, in ns). took is how long Poll
// took to read the memory, or 0 if it did not read. The error is that of codecache.Cache.Poll.
func (v *View) Poll(since int64) (changes codecache.Changes, took time.Duration, err error) {
	j := v.jvm
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.failure == nil && j.polled <= since {
		began := time.Now()
		j.poll()
		took = time.Since(began)
		if j.failure != nil {
			v.set.remove(j) // the process may run another program now, or the id may belong to another process
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	changes, v.changes = v.changes, codecache.Changes{}
	return changes, took, j.failure
}

func (j *jvm) poll() {
	j.polled = monotonic.Nanos()
	var changes codecache.Changes
	changes, j.failure = j.cache.Poll(j.polled)
	if !changes.Any() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range j.views {
		if v.quiet {
			continue
		}
		v.changes.Added = append(v.changes.Added, changes.Added...)
		v.changes.Gone = append(v.changes.Gone, changes.Gone...)
	}
}

// Copy calls f with the JVM's Copier, which nobody else uses meanwhile. Before that, the Copier forgets all names that
// may be out of date. What the Copier returns is valid only until f returns.
func (v *View) Copy(f func(*nmethod.Copier)) {
	v.jvm.reading.Lock()
	defer v.jvm.reading.Unlock()
	v.jvm.copier.ForgetStale()
	f(v.jvm.copier)
}

// Gone reports whether an error says that the process has ended.
func Gone(err error) bool {
	var open *vmstructs.OpenError
	return errors.Is(err, syscall.ESRCH) || errors.As(err, &open) && open.Reason == vmstructs.Gone
}
