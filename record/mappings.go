package record

import (
	"runtime"
	"time"

	"github.com/gasm-profiler/gasm/internal/inotify"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/record/folder"
)

// A mappingWatch records which files running JVMs have mapped. gasm needs that later, to find the names of native
// functions. A mappingWatch finds JVMs by the logs that they write.
type mappingWatch struct {
	logs     *folder.Logs
	resolver *native.Resolver
	read     bool             // false if mappings need not be read, because the sampler reports them
	found    func(folder.Log) // called once for each JVM
	next     map[int]mappingRead
	stopped  chan struct{}
	done     chan struct{}
}

// A mappingRead says when gasm reads a process's mappings again. gasm reads them more than once, because a JVM loads
// most libraries at its start, but some later. If pause is 0, gasm does not read them again, for example because the
// process has ended.
type mappingRead struct {
	at    time.Time
	pause time.Duration // the pause before that time; the pause after it is twice as long
}

// shortestPause and longestPause bound the pauses between two readings of a JVM's mappings. A reading of /proc/PID/maps
// holds the lock of the JVM's memory map for 0.1 ms, and takes 1 ms of CPU time from the profiled program. So each
// pause is twice as long as the one before, up to longestPause.
const shortestPause, longestPause = 25 * time.Millisecond, 5 * time.Second

// watchMappings begins to watch for JVMs that write logs into a folder. It calls found(log) once for each JVM, from a
// goroutine of its own. If read is false, it does not read the JVMs' mappings.
func watchMappings(logs *folder.Logs, read bool, found func(folder.Log)) *mappingWatch {
	w := &mappingWatch{logs: logs, read: read, resolver: native.NewResolver(), found: found, next: map[int]mappingRead{},
		stopped: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// run sleeps until there is something to do. A wakeup of this goroutine takes more CPU time from the command than the
// work itself, so run wakes up as seldom as possible.
func (w *mappingWatch) run() {
	defer close(w.done)
	if runtime.GOOS != "linux" { // on other systems, native.ReadMaps reads nothing
		<-w.stopped
		return
	}
	files := inotify.NewFiles(w.logs.Path)
	defer files.Close()
	var strays <-chan struct{}
	if w.logs.Closed != "" { // JVMs of other users log in folder.HotSpotTemp instead
		folder := inotify.NewFiles(folder.HotSpotTemp)
		defer folder.Close()
		strays = folder.C
	}
	timer := time.NewTimer(0)
	for {
		select {
		case <-w.stopped:
			return
		case <-files.C:
		case <-strays:
		case <-timer.C:
		}
		now := time.Now()
		w.look(now)
		if due, ok := w.due(); ok {
			timer.Reset(due.Sub(now))
		} else {
			timer.Stop()
		}
	}
}

// due returns the time of the next reading of mappings. ok is false if no mappings will be read again.
func (w *mappingWatch) due() (at time.Time, ok bool) {
	for _, r := range w.next {
		if r.pause > 0 && (!ok || r.at.Before(at)) {
			at, ok = r.at, true
		}
	}
	return at, ok
}

// look reads the mappings of new JVMs, and of JVMs whose mappings are due to be read again (mappingRead.at).
func (w *mappingWatch) look(now time.Time) {
	logs := w.logs.Written()
	if w.logs.Closed != "" {
		logs = append(logs, w.logs.Strays()...)
	}
	for _, log := range logs {
		pid := log.PID
		r, known := w.next[pid]
		if known && (r.pause == 0 || now.Before(r.at)) {
			continue
		}
		if !known {
			w.found(log)
		}
		if !w.read {
			w.next[pid] = mappingRead{}
			continue
		}
		mappings, err := native.ReadMaps(pid)
		if len(mappings) == 0 && err != nil {
			w.next[pid] = mappingRead{} // the process has ended
			continue
		}
		w.resolver.Add(mappings...)
		pause := min(longestPause, max(shortestPause, 2*r.pause))
		w.next[pid] = mappingRead{now.Add(pause), pause}
	}
}

// lastLookTime is how long stop waits for a call of look that is still running. The kernel usually returns a JVM's
// mappings within milliseconds, but a hostile JVM can delay that.
const lastLookTime = time.Second

// stop ends the watch, and returns a resolver that has all mappings. If a running call of look does not return in time,
// the resolver has no mappings.
func (w *mappingWatch) stop() *native.Resolver {
	close(w.stopped)
	select {
	case <-w.done:
		return w.resolver
	case <-time.After(lastLookTime):
		return native.NewResolver() // w.resolver is still in use by look
	}
}
