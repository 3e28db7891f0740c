package collect

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/sampler"
)

// controlTimeout limits how long gasm waits until perf has executed a command. Usually that takes a few ms, but perf
// may wait seconds for a CPU if many threads are running. If perf ends in the meantime, gasm stops waiting at once.
const controlTimeout = 30 * time.Second

// errorShown is how long gasm waits after perf's answer for an error message. The message may come after the answer,
// because the answer comes through a pipe of its own and the message through stderr.
const errorShown = 20 * time.Millisecond

// Pause makes perf take no samples until Resume. If perf can disable events by name (since 5.13), the threads and
// mappings that appear during the pause are recorded nevertheless. A perf before 5.9 can't pause, and continues to
// sample.
func (p *Perf) Pause() error { return p.turn("disable") }

// Resume makes perf take samples again after Pause.
func (p *Perf) Resume() error { return p.turn("enable") }

func (p *Perf) turn(word string) error {
	if p.control == nil || p.process.Ended() {
		return nil
	}
	if p.unnamed {
		return p.tell(word)
	}
	// perf's own event, which reports threads and mappings, must stay enabled. It is not in p.events.
	for _, spec := range sampler.Specs(p.events) {
		if err := p.tell(word + " " + spec); err != nil {
			return err
		}
	}
	if p.named {
		return nil
	}
	time.Sleep(errorShown)
	stderr := p.process.Stderr.String()
	if p.named = !strings.Contains(stderr, "can't find") && !strings.Contains(stderr, "nsupported"); p.named {
		return nil
	}
	p.unnamed = true // perf has another name for the event, or can't disable events by name
	return p.tell(word)
}

// tell sends perf a command, and waits until perf has executed it.
func (p *Perf) tell(command string) error {
	if err := p.acks.SetReadDeadline(time.Now().Add(controlTimeout)); err != nil {
		return err
	}
	_, err := p.control.WriteString(command + "\n")
	if errors.Is(err, syscall.EPIPE) {
		return nil // perf is ending
	}
	if err != nil {
		return fmt.Errorf("perf: %s: %w", command, err)
	}
	ack, err := p.answers.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return nil // perf has closed its end because it is ending, as it does when the program ends; see Stop
	}
	if err != nil && !p.process.Ended() {
		return fmt.Errorf("perf: %s: no answer within %s: %w", command, controlTimeout, err)
	}
	if err == nil && !strings.Contains(ack, "ack") {
		return fmt.Errorf("perf: %s: it answers %q", command, strings.TrimSpace(ack))
	}
	return nil
}
