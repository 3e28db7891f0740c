package record

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/inotify"
)

// jvmStarts makes the sampler read the kernel's reports about new mappings more often while a JVM of the command
// starts. Otherwise a JVM that runs for only 50 ms, like java -version, would often end before gasm notices it, and
// gasm would not get its code.
//
// After gasm has found the first JVM, jvmStarts watches that JVM's file libjvm.so. So it notices at once when a
// further JVM starts.
type jvmStarts struct {
	sampler oftenLooker
	watched map[string]*inotify.Opens // by the path of libjvm.so; nil for a file that can't be watched
	closed  chan struct{}
}

// An oftenLooker is a sampler that can read the kernel's reports about new mappings more often for some time.
type oftenLooker interface{ LookOften(time.Duration) }

const (
	// The first JVM of a command is expected within commandStart after the command's start.
	commandStart = time.Second
	// jvmStart is how long the sampler reads the kernel's reports more often after a JVM has opened libjvm.so. In this
	// time the JVM sets up its code cache, which takes 20 ms, or several times as long on a busy machine.
	jvmStart = 200 * time.Millisecond
	// maxWatched is the maximum number of different libjvm.so files that are watched.
	maxWatched = 8
)

// newJVMStarts returns a jvmStarts for a sampler. If the sampler is not an oftenLooker, the jvmStarts does nothing.
func newJVMStarts(sampler any) *jvmStarts {
	s := &jvmStarts{watched: map[string]*inotify.Opens{}, closed: make(chan struct{})}
	if often, ok := sampler.(oftenLooker); ok {
		s.sampler = often
		often.LookOften(commandStart)
	}
	return s
}

// seen is called when a JVM has mapped a libjvm.so. Only one goroutine may call it at a time. If s is nil, it does
// nothing.
func (s *jvmStarts) seen(libjvm string) {
	if s == nil || s.sampler == nil {
		return
	}
	s.sampler.LookOften(jvmStart)
	if _, ok := s.watched[libjvm]; ok || len(s.watched) == maxWatched {
		return
	}
	w := inotify.WatchOpens(libjvm)
	s.watched[libjvm] = w
	if w == nil {
		return
	}
	go func() {
		for {
			select {
			case <-w.C:
				s.sampler.LookOften(jvmStart)
			case <-s.closed:
				return
			}
		}
	}()
}

// close ends the watches. If s is nil, it does nothing.
func (s *jvmStarts) close() {
	if s == nil {
		return
	}
	close(s.closed)
	for _, w := range s.watched {
		w.Close()
	}
}
