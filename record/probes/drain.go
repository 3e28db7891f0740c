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

// drainEvery is the time between two readings of the ring buffers into which an agent writes windows. Each thread has a
// ring buffer, with room for 32 768 windows.
const drainEvery = 50 * time.Millisecond

// A Drain saves windows; a window is a call of a probed method. gasm's agent writes the windows into small ring
// buffers, where new windows overwrite old ones. So the Drain must save the windows while the JVMs run.
type Drain struct {
	dir     string // the capture's folder
	rings   func() map[int]RingOpener
	problem func(error)
	open    map[int]*drained // by process id
	stop    chan struct{}    // closed to end the Drain
	done    chan struct{}    // closed when the Drain has ended
}

// A RingOpener opens the file into which the agent of a JVM writes windows and counts. When the caller no longer reads
// the file, it must call done().
type RingOpener func() (ring io.ReaderAt, done func(), err error)

type drained struct {
	*rings.Drain
	done   func()
	out    *os.File
	failed bool // an error was reported, and no more windows are saved
}

// DrainWindows begins to save windows into dir, the folder of a capture. It returns nil if no probe opens windows.
// From time to time, it calls openers(), which returns a RingOpener for each JVM whose agent has already made its
// file. The keys are the process ids that the JVMs have in the capture.
func DrainWindows(specs []probe.Spec, dir string, openers func() map[int]RingOpener, problem func(error)) *Drain {
	if !slices.ContainsFunc(specs, func(p probe.Spec) bool { return p.Window }) {
		return nil
	}
	d := &Drain{dir: dir, rings: openers, problem: problem, open: map[int]*drained{}, stop: make(chan struct{}),
		done: make(chan struct{})}
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

// End saves the remaining windows and ends the Drain. The files must still exist. If the reading of a JVM's file blocks
// until ctx is done, End reports a problem and returns. If d is nil, it does nothing.
func (d *Drain) End(ctx context.Context) {
	if d == nil {
		return
	}
	close(d.stop)
	select {
	case <-d.done:
	case <-ctx.Done():
		// The goroutine may still use the files, so they are not closed. Its reading ends when the JVM's World is
		// closed.
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

// take calls save for each JVM, to save its windows. While the JVMs run, save is the method Take of rings.Drain. At
// the end it is the method End, which saves all remaining windows.
func (d *Drain) take(save func(*rings.Drain, io.Writer) error) {
	for pid, open := range d.rings() {
		f := d.open[pid]
		if f == nil {
			in, done, err := open()
			if err != nil {
				continue // the JVM has not made the file yet
			}
			f = &drained{Drain: rings.NewDrain(in), done: done}
			d.open[pid] = f
			if f.out, err = os.OpenFile(filepath.Join(d.dir, capture.ProbeWindows(pid)), os.O_WRONLY|os.O_CREATE|os.O_EXCL,
				0o600); err != nil {
				f.failed = true
				d.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
			}
		}
		if f.failed {
			continue
		}
		if err := save(f.Drain, f.out); err != nil {
			f.failed = true
			d.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
		}
	}
}

// Rings returns a RingOpener for each of the command's JVMs whose agent has already made its file, by process id.
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
