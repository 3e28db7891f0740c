package record

import (
	"sync"

	"github.com/gasm-profiler/gasm/capture"
)

// liveEvents records events of JVMs that run, from outside: each source of events that is
// switched on in a running JVM, and off again, has its part in begin, found, end and take.
// (HotSpot's log in a command's JVMs is an option that they start with: eventLogs.)
type liveEvents struct {
	s      *session
	choice EventChoice

	mu    sync.Mutex
	ended bool
	known map[int]bool // the process ids of JVMs that were found

	probes liveProbes
}

// begin is called when the sampler is at work, before there is any JVM of a command.
func (l *liveEvents) begin(s *session, choice EventChoice) {
	l.s, l.choice, l.known = s, choice, map[int]bool{}
	l.probes.begin(s, &choice)
}

// found is called when a JVM is found: it has mapped libjvm.so, and may not have begun to
// run, or it is one that gasm attaches to. It may be called more than once for each, from
// any goroutine, and returns at once.
func (l *liveEvents) found(pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.known == nil || l.known[pid] {
		return
	}
	l.known[pid] = true
	l.probes.found(pid)
}

// end is called when the sampling has ended, perhaps while the JVMs run on. All that was
// switched on in them is off again when it returns.
func (l *liveEvents) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.probes.end()
	}
	l.ended = true
}

// take completes the files of events in the capture, and notes in each JVM which are its.
// The notes are on what could not be had.
func (l *liveEvents) take(jvms []capture.JVM) (notes []string) {
	return l.probes.take(jvms)
}
