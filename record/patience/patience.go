// Package patience limits how long gasm waits for JVMs, and tells the user that it waits.
package patience

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped is the cause of contexts that end because of a signal to stop, such as SIGINT.
var ErrStopped = errors.New("gasm was stopped")

// A Patience limits how long gasm waits for JVMs that do not answer. It has a context for each stage of gasm's work.
// After a signal to stop, such as SIGINT, these contexts end within 1.6 s.
type Patience struct {
	say                      func(text string) // called with what gasm waits for; may be nil
	once                     sync.Once
	begin, name, tell, reach stage
}

// How long gasm continues to wait for JVMs after a signal to stop, in the stages of the methods Name, Tell and Reach.
// gasm should end within two seconds, including the time for the report.
const (
	nameGrace  = 600 * time.Millisecond
	tellGrace  = 1200 * time.Millisecond
	reachGrace = 1600 * time.Millisecond
)

// New returns a Patience. If gasm waits longer than two seconds for a JVM, the Patience calls say(message). The
// parameter say may be nil.
func New(say func(text string)) *Patience { return &Patience{say: say} }

// Begin returns a context for starting something in a JVM, such as a recording. A signal to stop ends the context at
// once.
func (p *Patience) Begin(ctx context.Context) context.Context { return p.begin.within(ctx) }

// Name returns a context for finding the names of native functions, for which gasm reads files that the JVMs have
// mapped. After a signal to stop, this context ends earlier than that of Tell. So if the files of one JVM are slow to
// read, there is still time for the other JVMs.
func (p *Patience) Name(ctx context.Context) context.Context { return p.name.within(ctx) }

// Tell returns a context for the commands that gasm sends to a JVM at the end, such as the command to stop a recording.
// The context ends 1.2 s after a signal to stop.
func (p *Patience) Tell(ctx context.Context) context.Context { return p.tell.within(ctx) }

// Reach returns a context for access to a JVM's files and memory. After a signal to stop, this context ends later than
// that of Tell, so that there is time to save what was recorded.
func (p *Patience) Reach(ctx context.Context) context.Context { return p.reach.within(ctx) }

// Hurry must be called when a signal to stop arrives. It makes all contexts end within 1.6 s.
func (p *Patience) Hurry() {
	p.once.Do(func() {
		p.begin.end()
		time.AfterFunc(nameGrace, p.name.end)
		time.AfterFunc(tellGrace, p.tell.end)
		time.AfterFunc(reachGrace, p.reach.end)
	})
}

// A stage is a step of gasm's work that has contexts of its own. All of them end when the stage ends.
type stage struct {
	mu      sync.Mutex
	ended   bool
	cancels []context.CancelCauseFunc
}

// within returns a context that ends when ctx ends or when the stage ends.
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
