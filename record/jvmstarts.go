package record

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/inotify"
)

// jvmStarts makes the sampler look at the kernel's reports more often while a JVM of the command starts. Otherwise a
// JVM that runs for only 50 ms, like java -version, would often end before gasm has seen it, and gasm would not get its
// code.
//
// After the first JVM, gasm watches the file libjvm.so, so that it knows of each further JVM at once.
type jvmStarts struct {
	sampler oftenLooker
	watched map[string]*inotify.Opens // by the path of libjvm.so; nil for a file that can't be watched
	closed  chan struct{}
}

// An oftenLooker is a sampler that can look at the kernel's reports at short intervals for some time.
type oftenLooker interface{ LookOften(time.Duration) }

const (
	// commandStart is the time after the start of a command within which its first JVM is expected.
	commandStart = time.Second
	// jvmStart is how long the sampler goes on looking often after a JVM has opened libjvm.so. The JVM then takes 20 ms
	// to set up its code cache, or several times as long on a busy machine.
	jvmStart = 200 * time.Millisecond
	// maxWatched limits how many different libjvm.so files are watched.
	maxWatched = 8
)

// newJVMStarts returns a jvmStarts for a sampler. It does nothing if the sampler is not an oftenLooker.
func newJVMStarts(sampler any) *jvmStarts {
	s := &jvmStarts{watched: map[string]*inotify.Opens{}, closed: make(chan struct{})}
	if often, ok := sampler.(oftenLooker); ok {
		s.sampler = often
		often.LookOften(commandStart)
	}
	return s
}

// seen is called when a JVM has mapped a libjvm.so. Only one goroutine may call it at a time. For nil it does nothing.
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

// close ends the watches. For nil it does nothing.
func (s *jvmStarts) close() {
	if s == nil {
		return
	}
	close(s.closed)
	for _, w := range s.watched {
		w.Close()
	}
}
