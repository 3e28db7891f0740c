package stack

import (
	"errors"
	"maps"
	"strings"
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
	forget  int64           // when the names that the copier has read must be read again
	slow    int             // how many walks took longer than slowWalk
}

const (
	// slowWalk is a time that no walk takes, unless the process makes gasm read very much memory, or this process does
	// not get a CPU. Most walks take 30 microseconds; those that find new methods take some milliseconds.
	slowWalk = 500 * time.Millisecond
	// mostSlow is the number of slow walks after which the process's stacks are not walked any more. It limits what a
	// hostile process can do to some 20 seconds.
	mostSlow = 40
)

// took notes how long a walk took.
func (j *jvm) took(d time.Duration) {
	if d > slowWalk {
		j.slow++
	}
}

const (
	firstPause, longestPause = 20 * time.Millisecond, 5 * time.Second
	// keepNames is how long names of classes and methods are assumed to be valid.
	keepNames = 250 * time.Millisecond
)

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
		j.ended = errors.As(err, &open) && open.Reason == vmstructs.Gone
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
		case b.Name == "jdk.internal.vm.Continuation::enterSpecial":
			j.special = b
		case strings.Contains(b.Name, returnBarrierName) && !strings.Contains(b.Name, "Exc"):
			j.barrier = b
		}
	}
	if len(j.codes) > mostCodes {
		maps.DeleteFunc(j.codes, func(b *codecache.Blob, _ *code) bool { return b.Gone() })
	}
	if j.polled > j.forget {
		j.copier.Forget()
		j.forget = j.polled + int64(keepNames)
	}
}
