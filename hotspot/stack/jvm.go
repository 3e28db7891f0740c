package stack

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A jvm is a process whose samples are walked. It may turn out not to be a JVM.
type jvm struct {
	pid      int
	w        *Walker
	tryAt    int64         // when to check again whether it is a JVM; CLOCK_MONOTONIC
	pause    time.Duration // between two such checks
	opening  chan *openJVM // receives the result of a check for which open stopped waiting; otherwise nil
	*openJVM               // nil until the JVM's code cache has been found
	asked    atomic.Bool   // a goroutine started by within is reading the JVM's memory
	polled   int64         // time of the last poll
	ended    bool
	sites    sites
	sampled  int64         // time of the latest sample
	spent    time.Duration // the time of all its walks
	walks    int           // the number of its walks
	readings *atomic.Int32 // the number of its libraries that are being read
	waited   time.Duration // how long its walks have waited for libraries
}

// An openJVM is the part of a jvm that exists only once the process is known to be a JVM.
type openJVM struct {
	view   *shared.View
	layout *layout
	codes  map[*codecache.Blob]*code
	// special is Continuation.enterSpecial; nil if it was not seen. barrier is the stub cont_returnBarrier; nil before
	// JDK 19.
	special, barrier atomic.Pointer[codecache.Blob]
}

const (
	// longestWalk is the time after which a walk may be given up, not counting the time for reading libraries. Most
	// walks take 7 microseconds, and a few milliseconds if they find new methods. But gasm may have got no CPU for a
	// while. So after longestWalk, the walk is given up only when gasm has used another longestCPU of CPU time, or when
	// longestWait has passed.
	longestWalk, longestCPU, longestWait = 250 * time.Millisecond, 100 * time.Millisecond, time.Second
	// A process is not walked any more if its walks took longer than mostTime together, and longer than usualWalk on
	// average. Such a process makes gasm read a lot of memory, or wait for it. A single walk counts for no more than
	// mostOfOne, because a walk that finds a lot of new code takes long on a busy machine.
	mostTime, usualWalk, mostOfOne = 15 * time.Second, 20 * time.Millisecond, time.Second
)

// took adds the time that a walk took. Time beyond mostOfOne is not counted, because a walk takes that long only if it
// has to wait for a CPU or for a library.
func (j *jvm) took(d time.Duration) {
	j.walks++
	j.spent += min(d, mostOfOne)
}

// refused reports whether the process is not walked any more.
func (j *jvm) refused() bool {
	return j.spent > mostTime && j.spent > time.Duration(j.walks)*usualWalk
}

const (
	// A process is forgotten when it had no sample for keepProcess. sweepPause is the time between two looks for such
	// processes.
	keepProcess, sweepPause = 30 * time.Second, 5 * time.Second
	// If a sample has the id of a process that ended more than afterEnd ago, it is from another process with the same
	// id, or the process has executed another program.
	afterEnd = 100 * time.Millisecond
)

// process returns what is known about a process that has a sample at the given time.
func (w *Walker) process(pid int, now int64) *jvm {
	if now > w.swept+int64(sweepPause) {
		w.swept = now
		maps.DeleteFunc(w.jvms, func(_ int, j *jvm) bool {
			unused := now > j.sampled+int64(keepProcess)
			if unused {
				j.close()
			}
			return unused
		})
	}
	j := w.jvms[pid]
	switch {
	case j == nil:
		j = &jvm{pid: pid, w: w, readings: new(atomic.Int32)}
		w.jvms[pid] = j
	case j.ended && now > j.polled+int64(afterEnd):
		j.close()
		j = &jvm{pid: pid, w: w, spent: j.spent, walks: j.walks, readings: j.readings, waited: j.waited,
			polled: now, pause: j.pause, tryAt: j.tryAt}
		w.jvms[pid] = j
	}
	j.sampled = now
	return j
}

// The first and the longest pause between two checks of whether a process is a JVM.
const firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond

// mostCodes limits how many pieces of code are kept. Those that are gone from the code cache are kept, too, because
// their memory can't be read again. They are forgotten when there are more than mostCodes pieces.
const mostCodes = 1 << 15

// open checks whether the process is a JVM that has a code cache by now.
func (j *jvm) open(now int64) {
	if j.openJVM != nil || j.ended {
		return
	}
	if j.opening != nil {
		select {
		case j.openJVM = <-j.opening: // the check that took too long has ended
			j.opening = nil
		default:
			return
		}
	}
	if j.openJVM != nil || now < j.tryAt {
		return
	}
	j.pause = min(max(2*j.pause, firstPause), longestPause)
	j.tryAt = now + int64(j.pause)
	opening := make(chan *openJVM, 1)
	gone, ok := within(j, func() bool {
		found, err := openIn(j.w.set, j.pid)
		opening <- found
		return shared.Gone(err)
	})
	if !ok {
		j.opening = opening
		return
	}
	if j.openJVM = <-opening; gone {
		j.ended, j.polled = true, now
	}
}

// openIn opens a process that is a JVM.
func openIn(set *shared.JVMs, pid int) (*openJVM, error) {
	view, err := set.Open(pid)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(view.VM)
	if err != nil {
		view.Close()
		return nil, err
	}
	return &openJVM{view: view, layout: l, codes: map[*codecache.Blob]*code{}}, nil
}

// close closes what the method open has opened. If a check that was started there is still running, close starts a
// goroutine that waits for the result and closes it.
func (j *jvm) close() {
	switch {
	case j.openJVM != nil:
		j.view.Close()
	case j.opening != nil:
		go func() {
			if late := <-j.opening; late != nil {
				late.view.Close()
			}
		}()
	}
}

// poll polls the code cache, unless it was already polled after the time of the sample (sampled). It returns false if
// the JVM's memory could not be read in time.
func (j *jvm) poll(sampled int64) (ok bool) {
	if j.openJVM == nil || j.ended || sampled < j.polled {
		return true
	}
	now := monotonic.Nanos()
	open := j.openJVM
	var read bool
	err, ok := within(j, func() (err error) {
		read, err = open.poll(sampled)
		return err
	})
	if !ok {
		return false
	}
	j.polled, j.ended = now, err != nil
	if !read {
		j.polled = sampled + 1 // the other reader has polled after the sample, but perhaps not after the next one
	}
	if len(j.codes) > mostCodes {
		maps.DeleteFunc(j.codes, func(b *codecache.Blob, _ *code) bool { return j.gone(b) })
	}
	return true
}

// poll takes what has changed in the code cache. read reports whether the JVM's memory was read for that, and not by
// another reader after the given time.
func (j *openJVM) poll(since int64) (read bool, err error) {
	changes, took, err := j.view.Poll(since)
	for _, b := range changes.Added {
		switch {
		case b.Method != nil && b.Name == "jdk.internal.vm.Continuation::enterSpecial":
			j.special.Store(b)
		case b.Method == nil && isReturnBarrier.MatchString(b.Name):
			j.barrier.Store(b)
		}
	}
	return took != 0, err
}

// gone reports whether a blob is not in the code cache any more.
func (j *openJVM) gone(b *codecache.Blob) bool { return j.view.Cache.Find(b.Lo) != b }
