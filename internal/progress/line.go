package progress

import (
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Line says what is going on while nobody knows for how long. On a terminal it is
// rewritten in place; elsewhere it is written once.
type Line struct {
	stderr *os.File
	shown  bool
	width  int // of the terminal; 0 where it is none
}

// NewLine makes a line that shows nothing yet.
func NewLine(stderr *os.File) *Line {
	l := &Line{stderr: stderr}
	if layout.IsTerminal(stderr) {
		l.width = max(layout.LookOf(stderr).Width, 20)
	}
	return l
}

// Show shows a text, which it escapes, in place of the one before.
func (l *Line) Show(text string) {
	text = layout.Message("gasm: %s", text)
	switch {
	case l.width > 0:
		if layout.Width(text) >= l.width { // a line that wraps can't be taken back
			text = layout.ShortMiddle(text, l.width-1, "...")
		}
		fmt.Fprintf(l.stderr, "\r%s\x1b[K", text)
	case !l.shown:
		fmt.Fprintln(l.stderr, text)
	}
	l.shown = true
}

// Done takes the line off a terminal. It may be shown again.
func (l *Line) Done() {
	if l.width > 0 && l.shown {
		fmt.Fprint(l.stderr, "\r\x1b[K")
		l.shown = false
	}
}
