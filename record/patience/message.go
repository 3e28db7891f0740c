package patience

import (
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// moment is how long gasm waits for a JVM's answer before it tells the user about the wait.
const moment = 2 * time.Second

// Waiting tells the user after two seconds that gasm is waiting for a JVM. The parameter what is the task of the JVM:
// for "load the agent", the message is "waiting for JVM 4711 to load the agent". The caller must call done once, when
// gasm no longer waits. If that is within two seconds, there is no message.
func (p *Patience) Waiting(pid int, what string) (done func()) {
	if p.say == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-over:
		case <-time.After(moment):
			p.say(waitingText(pid, what))
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
