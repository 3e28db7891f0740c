package sampler

import (
	"fmt"
	"strings"
	"time"
)

// controlTimeout is how long perf may take to obey a command. Usually it takes some ms, but perf may wait seconds for a
// processor if many threads are running. If perf ends meanwhile, tell returns at once.
const controlTimeout = 30 * time.Second

// errorShown is how long after perf's answer its message may come: the two have pipes of
// their own.
const errorShown = 20 * time.Millisecond

// Pause has perf take no samples until Resume. Threads and mappings that come meanwhile are
// known afterwards, where perf lets its events be disabled by name (since 5.13). A perf
// before 5.9 can't pause, and goes on.
func (p *Perf) Pause() error { return p.turn("disable") }

// Resume has perf take samples again after Pause.
func (p *Perf) Resume() error { return p.turn("enable") }

func (p *Perf) turn(word string) error {
	if p.control == nil || p.process.ended() {
		return nil
	}
	if p.unnamed {
		return p.tell(word)
	}
	// perf's own event, by which it knows of threads and mappings, is none of these.
	for _, spec := range Specs(p.events) {
		if err := p.tell(word + " " + spec); err != nil {
			return err
		}
	}
	if p.named {
		return nil
	}
	time.Sleep(errorShown)
	stderr := p.process.stderr.String()
	if p.named = !strings.Contains(stderr, "can't find") && !strings.Contains(stderr, "nsupported"); p.named {
		return nil
	}
	p.unnamed = true // it has the event under another name, or takes no names
	return p.tell(word)
}

// tell sends perf a command, and waits until perf has obeyed.
func (p *Perf) tell(command string) error {
	if err := p.acks.SetReadDeadline(time.Now().Add(controlTimeout)); err != nil {
		return err
	}
	if _, err := p.control.WriteString(command + "\n"); err != nil {
		return fmt.Errorf("perf: %s: %w", command, err)
	}
	ack, err := p.answers.ReadString('\n')
	if err != nil && !p.process.ended() {
		return fmt.Errorf("perf: %s: no answer within %s: %w", command, controlTimeout, err)
	}
	if err == nil && !strings.Contains(ack, "ack") {
		return fmt.Errorf("perf: %s: it answers %q", command, strings.TrimSpace(ack))
	}
	return nil
}
