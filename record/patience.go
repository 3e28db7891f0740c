package record

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errStopped is the cause of what gasm did not wait for, because of a signal to stop.
var errStopped = errors.New("gasm was stopped")

// A patience says how long gasm waits for JVMs. A JVM that does not answer, whatever the reason, is waited for as long as
// each step may take, but for little more than a second once the user wants gasm to end.
type patience struct {
	begin context.Context // for what is begun: done at once
	tell  context.Context // for what a JVM is told at the end: done after tellGrace
	reach context.Context // for a JVM's files and memory: done after reachGrace, so that what was counted can be saved
	once  sync.Once
	stop  func()
}

// How long JVMs are waited for after a signal to stop. Together with the report, gasm is to end within two seconds.
const (
	tellGrace  = 1200 * time.Millisecond
	reachGrace = 1600 * time.Millisecond
)

func newPatience() *patience {
	p := &patience{}
	var begin, tell, reach context.CancelCauseFunc
	p.begin, begin = context.WithCancelCause(context.Background())
	p.tell, tell = context.WithCancelCause(context.Background())
	p.reach, reach = context.WithCancelCause(context.Background())
	p.stop = func() {
		begin(errStopped)
		time.AfterFunc(tellGrace, func() { tell(errStopped) })
		time.AfterFunc(reachGrace, func() { reach(errStopped) })
	}
	return p
}

// hurry is called at a signal to stop.
func (p *patience) hurry() { p.once.Do(p.stop) }
