// Package patience says how long gasm waits for JVMs, and tells the user that it waits.
package patience

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped is the cause of a context that ended because of a signal to stop.
var ErrStopped = errors.New("gasm was stopped")

// A Patience says how long gasm waits for JVMs that do not answer. Each step of gasm's work has its own limit. After a
// signal to stop, gasm waits for little more than a second.
type Patience struct {
	say                      func(text string) // called with what gasm waits for; may be nil
	once                     sync.Once
	begin, name, tell, reach stage
}

// How long gasm waits for JVMs after a signal to stop, in the stages Name, Tell and Reach. gasm should end within
// two seconds, including the report.
const (
	nameGrace  = 600 * time.Millisecond
	tellGrace  = 1200 * time.Millisecond
	reachGrace = 1600 * time.Millisecond
)

// New returns a Patience. If gasm waits for a JVM for longer than two seconds, the Patience calls say(message). say may
// be nil.
func New(say func(text string)) *Patience { return &Patience{say: say} }

// Begin returns a context for starting something in a JVM, such as a recording. After a signal to
// stop, the context is done at once.
func (p *Patience) Begin(ctx context.Context) context.Context { return p.begin.within(ctx) }

// Name returns a context for finding the names of native functions, which requires reading files that the JVMs have
// mapped. After a signal to stop, the context is done earlier than that of Tell, so that a JVM whose files are slow
// to read does not take the time that is needed for other JVMs.
func (p *Patience) Name(ctx context.Context) context.Context { return p.name.within(ctx) }

// Tell returns a context for the commands that gasm sends to a JVM at the end, such as the command to
// stop a recording. The context is done 1.2 s after a signal to stop.
func (p *Patience) Tell(ctx context.Context) context.Context { return p.tell.within(ctx) }

// Reach returns a context for access to a JVM's files and memory. After a signal to stop, the context is done later
// than that of Tell, so that there is time to save what was counted.
func (p *Patience) Reach(ctx context.Context) context.Context { return p.reach.within(ctx) }

// Hurry must be called when a signal to stop arrives. From then on, the contexts have time limits.
func (p *Patience) Hurry() {
	p.once.Do(func() {
		p.begin.end()
		time.AfterFunc(nameGrace, p.name.end)
		time.AfterFunc(tellGrace, p.tell.end)
		time.AfterFunc(reachGrace, p.reach.end)
	})
}

// A stage is a step of the work that has contexts of its own. When the stage ends, all of its
// contexts are done.
type stage struct {
	mu      sync.Mutex
	ended   bool
	cancels []context.CancelCauseFunc
}

// within returns a context that is done when ctx is, or when the stage ends.
func (s *stage) within(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		cancel(ErrStopped)
	} else {
		s.cancels = append(s.cancels, cancel)
	}
	return ctx
}

func (s *stage) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, cancel := range s.cancels {
		cancel(ErrStopped)
	}
	s.cancels = nil
}
