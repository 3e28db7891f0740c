package progress

import (
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A Line shows what gasm is doing. It is for work of unknown length. On a terminal, each text replaces the one before.
// If stderr is not a terminal, only the first text is written.
type Line struct {
	stderr *os.File
	shown  bool
	width  int // width of the terminal; 0 if stderr is not a terminal
}

// NewLine returns a Line that does not show anything yet.
func NewLine(stderr *os.File) *Line {
	l := &Line{stderr: stderr}
	if layout.IsTerminal(stderr) {
		l.width = max(layout.LookOf(stderr).Width, 20)
	}
	return l
}

// Show shows a text in place of the previous one. It escapes control characters. It returns true on a terminal. If it
// returns false, further calls of Show show nothing.
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

// Done erases the line if it is on a terminal. Show may be called again afterwards.
func (l *Line) Done() {
	if l.width > 0 && l.shown {
		fmt.Fprint(l.stderr, "\r\x1b[K")
		l.shown = false
	}
}
