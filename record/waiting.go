package record

import (
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A moment that a JVM may take to answer before gasm says that it waits.
const answerPause = 2 * time.Second

// sayWaiting says which JVM is waited for, and what it is to do, unless done is called within a moment.
func (s *session) sayWaiting(pid int, what string) (done func()) {
	if s.waits == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-over:
		case <-time.After(answerPause):
			s.waits(waitingText(pid, what))
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

func waitingText(pid int, what string) string {
	text := fmt.Sprintf("waiting for JVM %d to %s", pid, what)
	if foreign.StatOf(pid).Stopped() {
		text += fmt.Sprintf("; it is stopped: `kill -CONT %d` has it go on", pid)
	}
	return text
}
