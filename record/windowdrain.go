package record

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// drainEvery is how often windows are saved. A ring has room for 32 768 of a thread.
const drainEvery = 50 * time.Millisecond

// A windowDrain saves the windows that JVMs tell of, while they run.
type windowDrain struct {
	s     *session
	rings func() map[int]ringOpener // by the process id that their JVM has in the capture
	open  map[int]*drained
	stop  chan struct{}
	done  chan struct{}
}

// A ringOpener opens the file that a JVM counts in. done is called when it is not read any more.
type ringOpener func() (ring io.ReaderAt, done func(), err error)

type drained struct {
	*rings.Drain
	done   func()
	out    *os.File
	failed bool
}

// drainWindows begins to save windows, if any probe is one; nil when none is. openers is called now and then.
func (s *session) drainWindows(specs []probe.Spec, openers func() map[int]ringOpener) *windowDrain {
	if !slices.ContainsFunc(specs, func(p probe.Spec) bool { return p.Window }) {
		return nil
	}
	d := &windowDrain{s: s, rings: openers, open: map[int]*drained{}, stop: make(chan struct{}), done: make(chan struct{})}
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

// end saves what is left. The files must still be there.
func (d *windowDrain) end() {
	if d == nil {
		return
	}
	close(d.stop)
	<-d.done
	for _, f := range d.open {
		f.done()
		if f.out != nil {
			f.out.Close()
		}
	}
}

func (d *windowDrain) take(some func(*rings.Drain, io.Writer) error) {
	for pid, open := range d.rings() {
		f := d.open[pid]
		if f == nil {
			in, done, err := open()
			if err != nil {
				continue // the JVM has not made it yet
			}
			f = &drained{Drain: rings.NewDrain(in), done: done}
			d.open[pid] = f
			if f.out, err = os.OpenFile(d.s.path(capture.ProbeWindows(pid)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				f.failed = true
				d.s.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
			}
		}
		if f.failed {
			continue
		}
		if err := some(f.Drain, f.out); err != nil {
			f.failed = true
			d.s.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
		}
	}
}

// ringFiles finds the files that the command's JVMs count in.
func (r *Recording) ringFiles() map[int]ringOpener {
	found := map[int]ringOpener{}
	for _, f := range r.folder.Logs().Rings() {
		found[f.PID] = func() (io.ReaderAt, func(), error) {
			in, _, err := regular.OpenNoLink(f.Path)
			return in, func() { in.Close() }, err
		}
	}
	return found
}
