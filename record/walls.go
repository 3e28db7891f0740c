package record

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/wallclock"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// DefaultWallHertz is how often per second gasm looks at each thread if the user gives --wall without a frequency.
const DefaultWallHertz = wallclock.DefaultHertz

// checkWall returns an error if gasm can't look at threads hertz times a second.
func checkWall(hertz int) error {
	if hertz < 0 || hertz > wallclock.MaxHertz {
		return fmt.Errorf("--wall is %d; it is in Hz, from 1 to %d", hertz, wallclock.MaxHertz)
	}
	return nil
}

// walls records how the threads of JVMs spend their time, running or waiting (package wallclock).
type walls struct {
	hertz int // 0 if this is not recorded

	mu    sync.Mutex
	jvms  map[int]*wallOf // by process id; it does not change once ended is true
	ended bool            // no further recording begins
}

// A wallOf is the recording of one JVM.
type wallOf struct {
	stop    chan struct{} // closed to end the recording
	done    chan struct{} // closed when the recording has ended
	begun   bool          // the file has content; valid after done is closed
	problem error         // valid after done is closed
	virtual error         // why its virtual threads were not counted, or nil; valid after done is closed
}

// wallStart limits how long gasm tries to read the threads of a JVM that has just started. wallPause is the time
// between two attempts.
const (
	wallStart = 20 * time.Second
	wallPause = 50 * time.Millisecond
)

// beginWall begins to record how the threads of a JVM spend their time, if the user asked for that (--wall). It does
// not wait for the JVM, which may still be starting.
func (s *session) beginWall(pid int) {
	if s.walls.hertz == 0 {
		return
	}
	w := &wallOf{stop: make(chan struct{}), done: make(chan struct{})}
	s.walls.mu.Lock()
	defer s.walls.mu.Unlock()
	if s.walls.jvms == nil {
		s.walls.jvms = map[int]*wallOf{}
	}
	if s.walls.ended || s.walls.jvms[pid] != nil {
		return
	}
	s.walls.jvms[pid] = w
	go func() {
		defer close(w.done)
		w.problem = s.recordWall(pid, w)
	}()
}

// recordWall records a JVM until w.stop is closed or the JVM has ended.
func (s *session) recordWall(pid int, w *wallOf) error {
	path := s.path(capture.WallText(pid))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	r, err := s.startWall(pid, wallclock.Options{JVMs: s.open, Out: file, Hertz: s.walls.hertz}, w.stop)
	if r == nil { // it failed, or was stopped before it began
		file.Close()
		os.Remove(path)
		return err
	}
	w.begun = true
	select {
	case <-w.stop:
	case <-r.Done():
	}
	result := r.Stop()
	w.virtual = result.Virtual
	if err := file.Close(); result.Write == nil {
		result.Write = err
	}
	if result.Write != nil {
		return result.Write
	}
	return result.Read
}

// startWall starts a recorder. It tries repeatedly while the JVM starts. It returns nil if stop is closed or the JVM
// ends first.
func (s *session) startWall(pid int, o wallclock.Options, stop <-chan struct{}) (*wallclock.Recorder, error) {
	for until := time.Now().Add(wallStart); ; {
		r, err := wallclock.Start(pid, o)
		if err == nil {
			return r, nil
		}
		if foreign.StatOf(pid).Ended() {
			return nil, nil
		}
		if time.Now().After(until) {
			return nil, err
		}
		select {
		case <-stop:
			return nil, nil
		case <-time.After(wallPause):
		}
	}
}

// endWalls ends the recording of all JVMs, and reports errors.
func (s *session) endWalls(ctx context.Context) {
	s.walls.mu.Lock()
	s.walls.ended = true
	for _, w := range s.walls.jvms {
		close(w.stop)
	}
	s.walls.mu.Unlock()
	for pid, w := range s.walls.jvms {
		_, err := foreign.Within(s.patience.Reach(context.WithoutCancel(ctx)), stopTime, func() (struct{}, error) {
			<-w.done
			return struct{}{}, nil
		})
		if err == nil {
			err = w.problem
		}
		if err != nil {
			s.problem(fmt.Errorf("what the threads of JVM %d did by the wall clock was not recorded to the end: %w", pid, err))
		}
	}
}

// file returns the name of a JVM's file, or "" if there is none.
func (w *walls) file(pid int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.jvms[pid]
	if of == nil {
		return ""
	}
	select {
	case <-of.done:
		if of.begun {
			return capture.WallText(pid)
		}
	default: // the recorder did not end in time
	}
	return ""
}

// notes returns a note for each JVM whose virtual threads were not counted.
func (w *walls) notes() (notes []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pid := range slices.Sorted(maps.Keys(w.jvms)) {
		of := w.jvms[pid]
		select {
		case <-of.done:
			if of.virtual != nil {
				notes = append(notes, fmt.Sprintf("virtual threads of JVM %d that were not mounted were not counted, or not to the end: %v",
					pid, of.virtual))
			}
		default: // the recorder did not end in time
		}
	}
	return notes
}
