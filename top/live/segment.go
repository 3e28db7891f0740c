package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
)

// A segment is one recording of JVMs.
type segment struct {
	*top.Segment
	jvms       []attach.Process
	folder     *record.Folder
	attachment *record.Attachment
	began      chan struct{} // closed when the sampling has begun
	over       chan struct{} // closed when the recording has ended, or could not begin
	err        error         // why it could not begin; set before over is closed
	release    chan struct{} // closed when nobody will ask to keep the recording any more
	ended      chan struct{} // closed after its folder was removed
	startMono  int64
	hertz      int // the frequency of sampling; set before began is closed
	releasing  sync.Once
	before     *segment     // the segment that it replaces; nil for the first one
	keep       chan keeping // a request to keep the recording
}

// A keeping says that a recording is to be kept as a capture.
type keeping struct {
	dir string // a new folder
	// Samples between these times are kept.
	fromMono, toMono int64
	done             func(err error)
}

// Begin tells the session that the sampling has begun.
func (s *segment) Begin(hertz int, events []sampler.Event) {
	if s.before != nil {
		s.Follow(s.before.Segment, monotonic.Nanos())
		s.before = nil // so that it can be freed
	}
	s.hertz = hertz
	s.Segment.Begin(hertz, events)
	close(s.began)
}

// startSegment begins a recording of JVMs. It does not wait until the sampling has begun.
func (s *Session) startSegment(ctx context.Context, jvms []attach.Process) *segment {
	g := &segment{Segment: s.model.NewSegment(), jvms: jvms, began: make(chan struct{}), over: make(chan struct{}),
		release: make(chan struct{}), ended: make(chan struct{}), keep: make(chan keeping, 1), startMono: monotonic.Nanos(),
		before: s.present}
	go func() {
		defer g.giveUp()
		defer close(g.ended)
		if g.record(ctx, s) {
			g.finish(ctx)
		}
	}()
	return g
}

// record records until it is stopped or the JVMs have ended. It returns false if it could not begin.
func (g *segment) record(ctx context.Context, s *Session) bool {
	defer close(g.over)
	defer g.End()
	if g.folder, g.err = record.NewFolder(ctx, ""); g.err != nil {
		return false
	}
	o := record.AttachOptions{Gasm: s.o.Gasm, JVMs: g.jvms, Folder: g.folder, Counters: s.o.Counters,
		Frequency: s.o.Frequency, FixedFrequency: s.o.FixedFrequency,
		Stacks: s.o.Stacks, NoThreadNames: s.o.NoThreadNames, Pause: s.o.Pause,
		Live: g, Problem: s.problem, Message: func(string) {}}
	s.mu.Lock()
	if g.before != nil {
		o.Before = g.before.attachment
	}
	g.attachment = record.NewAttachment(o)
	stopped := s.closed
	s.mu.Unlock()
	if stopped {
		g.err = g.folder.Remove()
		return false
	}
	g.err = g.attachment.Run(ctx) // if Run returns an error, it has removed the folder
	return g.err == nil
}

// stop ends the recording.
func (s *Session) stop(g *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.attachment != nil {
		g.attachment.Signal(syscall.SIGTERM)
	}
	g.releasing.Do(func() { close(g.release) })
}

// finish waits until the session needs the recording no more, and then removes its folder. Until then, it keeps the
// recording as a capture whenever that is requested. If all JVMs have ended, the session needs the last recording until
// the session itself ends.
func (g *segment) finish(ctx context.Context) {
	defer g.folder.Remove() // a later gasm removes what can't be removed now
	finish := sync.OnceValue(func() error {
		c, err := g.attachment.Finish(ctx)
		if err == nil {
			c.Close()
		}
		return err
	})
	for released := false; !released; {
		select {
		case k := <-g.keep:
			k.done(g.save(ctx, k, finish))
		case <-g.release:
			released = true
		}
	}
	select {
	case k := <-g.keep: // a request that came before the release
		k.done(g.save(ctx, k, finish))
	default:
	}
}

// keepAs requests that the recording is kept when it has ended.
func (g *segment) keepAs(k keeping) {
	select {
	case g.keep <- k:
	default:
		k.done(errors.New("the recording is being written already"))
	}
}

// giveUp answers a request to keep the recording with an error, because there is no recording.
func (g *segment) giveUp() {
	select {
	case k := <-g.keep:
		k.done(errNoRecording)
	default:
	}
}

var errNoRecording = errors.New("there is no recording")

// save keeps the recording as a capture. finish completes the recording.
func (g *segment) save(ctx context.Context, k keeping, finish func() error) error {
	if err := finish(); err != nil {
		return err
	}
	to, err := record.NewFolder(ctx, k.dir)
	if err != nil {
		return err
	}
	if err := copyFiles(to.Path, g.folder.Path); err != nil {
		return err
	}
	d, err := capture.ReadDescription(to.Path)
	if err != nil {
		return err
	}
	narrow(d, k.fromMono, k.toMono)
	return d.Write(to.Path)
}

// narrow limits the windows of a capture to the time between two CLOCK_MONOTONIC times.
func narrow(d *capture.Description, fromMono, toMono int64) {
	for i := range d.Trials {
		for j := range d.Trials[i].Windows {
			w := &d.Trials[i].Windows[j]
			w.ToMonoNanos = max(min(w.ToMonoNanos, toMono), w.FromMonoNanos)
			w.FromMonoNanos = min(max(w.FromMonoNanos, fromMono), w.ToMonoNanos)
		}
	}
}

// copyFiles copies the files of a capture.
func copyFiles(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("keeping the capture: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) == ".part" || e.Name() == lockedfolder.LockFile {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("keeping the capture: %w", err)
		}
	}
	return nil
}
