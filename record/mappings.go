package record

import (
	"runtime"
	"time"

	"github.com/gasm-profiler/gasm/internal/inotify"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/record/folder"
)

// A mappingWatch notes which files the JVMs have mapped while they run, for the names of native functions. It finds
// JVMs by the logs that they write.
type mappingWatch struct {
	logs     *folder.Logs
	resolver *native.Resolver
	read     bool             // mappings are read; otherwise the sampler reports them
	found    func(folder.Log) // called once for each JVM
	next     map[int]mappingRead
	stopped  chan struct{}
	done     chan struct{}
}

// A mappingRead says when a process's mappings are read again. A JVM loads libraries at its start, and now and then
// later. For a process that has ended, pause is 0, and nothing is read again.
type mappingRead struct {
	at    time.Time
	pause time.Duration // the pause that ends then; the next one is twice as long
}

// shortestPause and longestPause bound the pauses between two readings of a JVM's mappings. Reading /proc/PID/maps
// holds a lock of the JVM's for 0.1 ms, and takes 1 ms of a processor from the command. So each pause is twice as long
// as the one before.
const shortestPause, longestPause = 25 * time.Millisecond, 5 * time.Second

// watchMappings begins to watch the JVMs that write logs into a folder. It calls found for each of them, from a
// goroutine of its own. If read is false, it does only that.
func watchMappings(logs *folder.Logs, read bool, found func(folder.Log)) *mappingWatch {
	w := &mappingWatch{logs: logs, read: read, resolver: native.NewResolver(), found: found, next: map[int]mappingRead{},
		stopped: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// run sleeps until there is something to do. Waking up takes more of the command's processors than the work itself, so
// run wakes up as seldom as possible.
func (w *mappingWatch) run() {
	defer close(w.done)
	if runtime.GOOS != "linux" { // native.ReadMaps reads none elsewhere, and nothing is copied
		<-w.stopped
		return
	}
	files := inotify.NewFiles(w.logs.Path)
	defer files.Close()
	var strays <-chan struct{}
	if w.logs.Closed != "" { // other users' JVMs log in folder.HotSpotTemp
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

// due returns the time of the next reading. ok is false when none is due.
func (w *mappingWatch) due() (at time.Time, ok bool) {
	for _, r := range w.next {
		if r.pause > 0 && (!ok || r.at.Before(at)) {
			at, ok = r.at, true
		}
	}
	return at, ok
}

// look reads the mappings of the JVMs that are new, or whose pause is over.
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
			w.next[pid] = mappingRead{} // it has ended, or this is macOS
			continue
		}
		w.resolver.Add(mappings...)
		pause := min(longestPause, max(shortestPause, 2*r.pause))
		w.next[pid] = mappingRead{now.Add(pause), pause}
	}
}

// lastLookTime is how long a look may take that has begun when the watch ends. The kernel answers for a JVM within
// milliseconds, unless that JVM keeps it from doing so.
const lastLookTime = time.Second

// stop ends the watch, and returns a resolver that knows all mappings. If a look does not end, the resolver knows none.
func (w *mappingWatch) stop() *native.Resolver {
	close(w.stopped)
	select {
	case <-w.done:
		return w.resolver
	case <-time.After(lastLookTime):
		return native.NewResolver() // the look still uses the other resolver
	}
}
