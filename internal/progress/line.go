package progress

import (
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Line says what is going on while the end is not in sight. On a terminal it is rewritten in place; otherwise it is
// written once.
type Line struct {
	stderr *os.File
	shown  bool
	width  int // of the terminal; 0 if stderr is not a terminal
}

// NewLine returns a Line that does not show anything yet.
func NewLine(stderr *os.File) *Line {
	l := &Line{stderr: stderr}
	if layout.IsTerminal(stderr) {
		l.width = max(layout.LookOf(stderr).Width, 20)
	}
	return l
}

// Show escapes a text and shows it in place of the previous one. It reports whether another text would be shown as
// well.
func (l *Line) Show(text string) (again bool) {
	text = layout.Message("gasm: %s", text)
	switch {
	case l.width > 0:
		if layout.Width(text) >= l.width { // a wrapped line can't be erased
			text = layout.ShortMiddle(text, l.width-1, "...")
		}
		fmt.Fprintf(l.stderr, "\r%s\x1b[K", text)
	case !l.shown:
		fmt.Fprintln(l.stderr, text)
	}
	l.shown = true
	return l.width > 0
}

// Done erases the line from a terminal. Show may be called again afterwards.
func (l *Line) Done() {
	if l.width > 0 && l.shown {
		fmt.Fprint(l.stderr, "\r\x1b[K")
		l.shown = false
	}
}
