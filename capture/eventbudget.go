package capture

import "github.com/gasm-profiler/gasm/event"

// maxEventBytes limits the memory that the events of a capture may take, in bytes. It is enough for 1.3 million pauses,
// or for a million waits for locks (300 per second for an hour). If there are more events, the rest is left out, and a
// note says so.
const maxEventBytes = 176 << 20

// An eventBudget counts down from maxEventBytes while the events of a capture are read.
type eventBudget struct {
	left  int
	names map[string]string // maps each text in an event to itself, so that equal texts are stored once
}

func newEventBudget() *eventBudget { return &eventBudget{maxEventBytes, map[string]string{}} }

// The sizes of an event, an argument and a name in memory, in bytes. Their text is not included.
const (
	eventBytes = 136
	argBytes   = 32
	nameBytes  = 64 // an entry of eventBudget.names
)

// take subtracts the memory of an event from the budget. It reports whether the budget was large enough. It also
// replaces each text in the event with a copy that all events share.
func (b *eventBudget) take(e *event.Event) bool {
	b.left -= eventBytes + len(e.Args)*argBytes
	e.Name = b.text(e.Name)
	for i := range e.Args {
		e.Args[i].Name = b.text(e.Args[i].Name)
		e.Args[i].Value = b.text(e.Args[i].Value)
	}
	return b.left >= 0
}

// text returns a copy of a string. Events with equal strings share one copy.
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
