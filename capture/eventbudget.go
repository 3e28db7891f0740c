package capture

import "github.com/gasm-profiler/gasm/event"

// maxEventBytes bounds the memory that the events of a capture take. It has room for 1.3 million pauses, or for a
// million waits for locks, which is three hundred a second for an hour. Further events are left out, and a note says
// so.
const maxEventBytes = 176 << 20

// An eventBudget is the memory that is left of maxEventBytes.
type eventBudget struct {
	left  int
	names map[string]string // the texts of all events, without duplicates
}

func newEventBudget() *eventBudget { return &eventBudget{maxEventBytes, map[string]string{}} }

// The bytes that values take besides their text.
const (
	eventBytes = 136
	argBytes   = 32
	nameBytes  = 64 // in a map
)

// take reports whether there is room for an event, and takes the room. It makes events with the same texts share them.
func (b *eventBudget) take(e *event.Event) bool {
	b.left -= eventBytes + len(e.Args)*argBytes
	e.Name = b.text(e.Name)
	for i := range e.Args {
		e.Args[i].Name = b.text(e.Args[i].Name)
		e.Args[i].Value = b.text(e.Args[i].Value)
	}
	return b.left >= 0
}

// text returns the copy of a text that all events share.
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
