package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/layout"
	"github.com/gasm-profiler/gasm/native"
	"github.com/gasm-profiler/gasm/sampler"
)

// A mappingWatch notes which files the JVMs have mapped while they live, for
// the names of native functions. JVMs are found by their logs.
type mappingWatch struct {
	dir      string
	resolver *native.Resolver
	found    func(pid int) // is called once for each JVM
	next     map[int]mappingRead
	stopped  chan struct{}
	done     chan struct{}
}

// A mappingRead is when a process's mappings are read again. A JVM loads
// libraries at its start, and now and then later.
type mappingRead struct {
	at    time.Time
	pause time.Duration // before the one after that
}

// A reading takes a JVM's locks for 0.1 ms, and the command's processors for 1 ms.
const shortestPause, longestPause = 25 * time.Millisecond, 5 * time.Second

// watchMappings begins to watch the JVMs that write logs into a folder. It calls
// found for each of them, from a goroutine of its own.
func watchMappings(dir string, found func(pid int)) *mappingWatch {
	w := &mappingWatch{dir: dir, resolver: native.NewResolver(), found: found, next: map[int]mappingRead{},
		stopped: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// run sleeps but when there is something to do: what wakes it costs the command
// more than what it does.
func (w *mappingWatch) run() {
	defer close(w.done)
	files := watchFiles(w.dir)
	defer files.close()
	timer := time.NewTimer(0)
	for {
		select {
		case <-w.stopped:
			return
		case <-files.created:
		case <-timer.C:
		}
		now := time.Now()
		w.look(now)
		if due, any := w.due(); any {
			timer.Reset(due.Sub(now))
		} else {
			timer.Stop()
		}
	}
}

// due gives the time of the next reading.
func (w *mappingWatch) due() (at time.Time, any bool) {
	for _, r := range w.next {
		if r.pause > 0 && (!any || r.at.Before(at)) {
			at, any = r.at, true
		}
	}
	return at, any
}

func (w *mappingWatch) look(now time.Time) {
	for _, pid := range jvm.LogPIDs(w.dir) {
		r, known := w.next[pid]
		if known && (r.pause == 0 || now.Before(r.at)) {
			continue
		}
		if !known {
			w.found(pid)
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

// stop ends the watch. The resolver knows all from then on.
func (w *mappingWatch) stop() *native.Resolver {
	close(w.stopped)
	<-w.done
	return w.resolver
}

// A symbolizer names an address of a process. The claim is the sampler's own
// name for it.
type symbolizer func(pid int, pc uint64, claim string) (native.Range, bool)

// name gives a sample the names that the mappings and the files give it.
func (f symbolizer) name(s *sampler.Sample) {
	if f == nil || s.Kernel() {
		return
	}
	if r, ok := f(s.PID, s.PC, s.Symbol); ok {
		s.Module, s.Symbol = r.Module, r.Symbol
	}
}

// saveSymbols keeps what was found with the capture, for reports elsewhere.
func saveSymbols(dir string, t *native.Table) error {
	if t.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, jvm.SymbolsFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = t.Write(f)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fmt.Errorf("writing the native symbols: %w", err)
	}
	return nil
}

// loadSymbols reads what saveSymbols kept; nil when the capture has none. The
// note says what is wrong with it.
func loadSymbols(dir string) (names symbolizer, note string, err error) {
	path := filepath.Join(dir, jvm.SymbolsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the native symbols: %w", err)
	}
	defer f.Close()
	t, err := native.ReadTable(f, path)
	if err != nil {
		return nil, "", fmt.Errorf("reading the native symbols: %w", err)
	}
	if n, first := t.BadLines(); n > 0 {
		note = fmt.Sprintf("%s of the native symbols could not be read, the first: %v", layout.Plural(n, "line"), first)
	}
	return func(pid int, pc uint64, _ string) (native.Range, bool) { return t.Resolve(pid, pc) }, note, nil
}
