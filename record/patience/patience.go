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

// A Patience says how long gasm waits for JVMs that do not answer. Each step has its own limit. After a signal to stop,
// gasm waits for little more than a second.
type Patience struct {
	say                      func(text string) // called with what gasm waits for; may be nil
	once                     sync.Once
	begin, name, tell, reach stage
}

// How long JVMs are waited for after a signal to stop. Together with the report, gasm is to end within two seconds.
const (
	nameGrace  = 600 * time.Millisecond
	tellGrace  = 1200 * time.Millisecond
	reachGrace = 1600 * time.Millisecond
)

// New returns a Patience. It calls say with what gasm waits for longer than a moment; say may be nil.
func New(say func(text string)) *Patience { return &Patience{say: say} }

// Begin returns a context for what is begun. It is done at once after a signal to stop.
func (p *Patience) Begin(ctx context.Context) context.Context { return p.begin.within(ctx) }

// Name returns a context for naming native functions, which means reading files that the JVMs have mapped. It is done
// earlier than that of Tell, so that a JVM with files that are slow to read does not take the time of the others.
func (p *Patience) Name(ctx context.Context) context.Context { return p.name.within(ctx) }

// Tell returns a context for what a JVM is told at the end. It is done some time after a signal to stop.
func (p *Patience) Tell(ctx context.Context) context.Context { return p.tell.within(ctx) }

// Reach returns a context for a JVM's files and memory. It is done later than that of Tell, so that what was counted
// can be saved.
func (p *Patience) Reach(ctx context.Context) context.Context { return p.reach.within(ctx) }

// Hurry is called at a signal to stop.
func (p *Patience) Hurry() {
	p.once.Do(func() {
		p.begin.end()
		time.AfterFunc(nameGrace, p.name.end)
		time.AfterFunc(tellGrace, p.tell.end)
		time.AfterFunc(reachGrace, p.reach.end)
	})
}

// A stage ends once, and all its contexts with it.
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
