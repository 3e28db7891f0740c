package capture

import "github.com/gasm-profiler/gasm/event"

// maxEventBytes is how much memory the events of a capture may take. That is room for 1.3 million pauses, or a million waits
// for locks: three hundred a second for an hour.
const maxEventBytes = 176 << 20

// An eventBudget is what is left of it.
type eventBudget struct {
	left  int
	names map[string]string // each text once
}

func newEventBudget() *eventBudget { return &eventBudget{maxEventBytes, map[string]string{}} }

// What values take beside their text, in bytes.
const (
	eventBytes = 136
	argBytes   = 32
	nameBytes  = 64 // in a map
)

// take takes an event. It is false when there is no room for it. Events with the same texts share them.
func (b *eventBudget) take(e *event.Event) bool {
	b.left -= eventBytes + len(e.Args)*argBytes
	e.Name = b.text(e.Name)
	for i := range e.Args {
		e.Args[i].Name = b.text(e.Args[i].Name)
		e.Args[i].Value = b.text(e.Args[i].Value)
	}
	return b.left >= 0
}

// text gives a text that is kept once.
func (b *eventBudget) text(s string) string {
	if s == "" {
		return ""
	}
	kept, ok := b.names[s]
	if !ok {
		b.left -= len(s) + nameBytes
		b.names[s] = s
		kept = s
	}
	return kept
}
