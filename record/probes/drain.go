package probes

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/folder"
)

// drainEvery is the time between two looks at the rings. A ring has room for 32 768 windows of a thread.
const drainEvery = 50 * time.Millisecond

// A Drain saves the windows that probes open in JVMs, while the JVMs run: the rings in which agents write them are
// small.
type Drain struct {
	dir     string // of the capture
	rings   func() map[int]RingOpener
	problem func(error)
	open    map[int]*drained // by process id
	stop    chan struct{}    // closed when it is to end
	done    chan struct{}    // closed when it has ended
}

// A RingOpener opens the file that a JVM counts in. done is called when the file is not read any more.
type RingOpener func() (ring io.ReaderAt, done func(), err error)

type drained struct {
	*rings.Drain
	done   func()
	out    *os.File
	failed bool // which was reported
}

// DrainWindows begins to save windows into the folder of a capture. It returns nil if no probe opens a window. openers
// is called now and then; it returns the rings by the process id that their JVM has in the capture.
func DrainWindows(specs []probe.Spec, dir string, openers func() map[int]RingOpener, problem func(error)) *Drain {
	if !slices.ContainsFunc(specs, func(p probe.Spec) bool { return p.Window }) {
		return nil
	}
	d := &Drain{dir: dir, rings: openers, problem: problem, open: map[int]*drained{}, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		for {
			select {
			case <-d.stop:
				d.take((*rings.Drain).End)
				return
			case <-time.After(drainEvery):
				d.take((*rings.Drain).Take)
			}
		}
	}()
	return d
}

// End saves what is left. The rings must still be there. When ctx is done, it does not wait any more for a JVM's file
// that does not answer, which is a problem. A nil Drain has nothing to save.
func (d *Drain) End(ctx context.Context) {
	if d == nil {
		return
	}
	close(d.stop)
	select {
	case <-d.done:
	case <-ctx.Done():
		// The goroutine may still use all of this. It ends when the JVM's World does.
		d.problem(fmt.Errorf("saving the calls of the window's method: %w", context.Cause(ctx)))
		return
	}
	for _, f := range d.open {
		f.done()
		if f.out != nil {
			f.out.Close()
		}
	}
}

// take takes windows from each ring, some of them or the rest.
func (d *Drain) take(some func(*rings.Drain, io.Writer) error) {
	for pid, open := range d.rings() {
		f := d.open[pid]
		if f == nil {
			in, done, err := open()
			if err != nil {
				continue // the JVM has not made it yet
			}
			f = &drained{Drain: rings.NewDrain(in), done: done}
			d.open[pid] = f
			if f.out, err = os.OpenFile(filepath.Join(d.dir, capture.ProbeWindows(pid)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				f.failed = true
				d.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
			}
		}
		if f.failed {
			continue
		}
		if err := some(f.Drain, f.out); err != nil {
			f.failed = true
			d.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
		}
	}
}

// Rings returns the rings that agents have begun by now, of the JVMs of a command.
func Rings(logs *folder.Logs) map[int]RingOpener {
	found := map[int]RingOpener{}
	for _, f := range logs.Rings() {
		found[f.PID] = func() (io.ReaderAt, func(), error) {
			in, _, err := regular.OpenNoLink(f.Path)
			return in, func() { in.Close() }, err
		}
	}
	return found
}
