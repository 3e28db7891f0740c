package stack

import (
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A jvm is a process whose samples are walked. It may turn out to be no JVM.
type jvm struct {
	pid     int
	tryAt   int64         // when to look again whether it is a JVM; CLOCK_MONOTONIC
	pause   time.Duration // between these looks
	vm      *vmstructs.VM // nil until the JVM's code cache has been found
	cache   *codecache.Cache
	copier  *nmethod.Copier
	layout  *layout
	polled  int64 // time of the last poll
	ended   bool
	codes   map[*codecache.Blob]*code
	special *codecache.Blob // Continuation.enterSpecial; nil if it was not seen
	barrier *codecache.Blob // the stub cont_returnBarrier; nil before JDK 19
	sampled int64           // time of the latest sample
	spent   time.Duration   // what all its walks took
	walks   int             // their number
	// readings is the number of its libraries that are being read.
	readings *atomic.Int32
	waited   time.Duration // how long its walks have waited for them
}

const (
	// longestWalk is the time after which a walk is given up, without the time for reading libraries. Most walks take 30
	// microseconds; those that find new methods take some milliseconds. On a machine without a free CPU it is given up
	// only when this process has used longestCPU since, or after longestWait more.
	longestWalk, longestCPU, longestWait = 250 * time.Millisecond, 100 * time.Millisecond, time.Second
	// A process is not walked any more if its walks took longer than mostTime in all, and usualWalk on average. It makes
	// gasm read very much memory then.
	mostTime, usualWalk = 5 * time.Second, 5 * time.Millisecond
)

// took notes how long a walk took. What it took longer than a walk may take, it has waited for a CPU or for a library.
func (j *jvm) took(d time.Duration) {
	j.walks++
	j.spent += min(d, longestWalk+longestWait)
}

// refused reports whether the process is not walked any more.
func (j *jvm) refused() bool {
	return j.spent > mostTime && j.spent > time.Duration(j.walks)*usualWalk
}

const (
	// A process is forgotten when it had no sample for keepProcess. sweepPause is the time between two looks for such
	// processes.
	keepProcess, sweepPause = 30 * time.Second, 5 * time.Second
	// afterEnd is the time after which a process that had ended is taken for another one with the same id, or for
	// another program of the same process.
	afterEnd = 100 * time.Millisecond
)

// process returns what is known about a process that has a sample at the given time.
func (w *Walker) process(pid int, now int64) *jvm {
	if now > w.swept+int64(sweepPause) {
		w.swept = now
		maps.DeleteFunc(w.jvms, func(_ int, j *jvm) bool { return now > j.sampled+int64(keepProcess) })
	}
	j := w.jvms[pid]
	switch {
	case j == nil:
		j = &jvm{pid: pid, readings: new(atomic.Int32)}
		w.jvms[pid] = j
	case j.ended && now > j.polled+int64(afterEnd):
		j = &jvm{pid: pid, spent: j.spent, walks: j.walks, readings: j.readings, waited: j.waited, polled: now, pause: j.pause, tryAt: j.tryAt}
		w.jvms[pid] = j
	}
	j.sampled = now
	return j
}

// The first and the longest pause between two looks whether a process is a JVM.
const firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond

// mostCodes is the number of pieces of code from which on those that are gone are forgotten. Until then they are kept,
// because their memory can't be read again.
const mostCodes = 1 << 15

// open looks whether the process is a JVM that has a code cache by now.
func (j *jvm) open(now int64) {
	if j.vm != nil || j.ended || now < j.tryAt {
		return
	}
	j.pause = min(max(2*j.pause, firstPause), longestPause)
	j.tryAt = now + int64(j.pause)
	vm, err := vmstructs.Open(j.pid)
	if err != nil {
		var open *vmstructs.OpenError
		if j.ended = errors.As(err, &open) && open.Reason == vmstructs.Gone; j.ended {
			j.polled = now
		}
		return
	}
	copier, err := nmethod.NewCopier(vm)
	if err != nil {
		return
	}
	cache, err := codecache.New(vm, copier.MethodName)
	if err != nil {
		return
	}
	l, err := newLayout(vm)
	if err != nil {
		return
	}
	j.vm, j.copier, j.cache, j.layout = vm, copier, cache, l
	j.codes = map[*codecache.Blob]*code{}
}

// poll reads what is new in the code cache, unless it was read after the given time already.
func (j *jvm) poll(sampled int64) {
	if j.vm == nil || j.ended || sampled < j.polled {
		return
	}
	j.polled = monotonic.Nanos()
	changes, err := j.cache.Poll(j.polled)
	j.ended = err != nil
	for _, b := range changes.Added {
		switch {
		case b.Method != nil && b.Name == "jdk.internal.vm.Continuation::enterSpecial":
			j.special = b
		case b.Method == nil && isReturnBarrier.MatchString(b.Name):
			j.barrier = b
		}
	}
	if len(j.codes) > mostCodes {
		maps.DeleteFunc(j.codes, func(b *codecache.Blob, _ *code) bool { return b.Gone() })
	}
	j.copier.ForgetStale()
}
