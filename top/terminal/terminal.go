// Package terminal shows the screens of package top/view on a terminal, and reads its keys. It uses the library tcell,
// which knows the abilities of terminals, writes only the cells that have changed, and restores the terminal at the
// end.
//
// The terminal is also restored if this process is killed; see [Save].
package terminal

import (
	"os"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/top/view"
)

// A Screen is this process's terminal while it shows a full screen.
type Screen struct {
	tcell  tcell.Screen
	color  bool
	ascii  bool
	events chan Event
}

// An Event is a key, or says that the screen has to be drawn again because its size has changed.
type Event struct {
	Key     view.Key
	Resized bool
}

// Open begins to show a full screen. The caller must close it, also after a panic.
func Open(color, ascii bool) (*Screen, error) {
	if layout.UserLocale().Value == "" && !ascii {
		// Like the rest of gasm, assume UTF-8 if there is no locale.
		if err := os.Setenv("LC_CTYPE", "C.UTF-8"); err != nil {
			return nil, err
		}
	}
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	t, err := tcell.NewScreen()
	if err != nil {
		return nil, err
	}
	if err := t.Init(); err != nil {
		return nil, err
	}
	t.EnableMouse(tcell.MouseButtonEvents)
	t.HideCursor()
	s := &Screen{tcell: t, color: color, ascii: ascii, events: make(chan Event, 64)}
	go s.read()
	return s, nil
}

// Close restores the terminal.
func (s *Screen) Close() { s.tcell.Fini() }

// Events returns the channel of events. It is closed when the screen is closed.
func (s *Screen) Events() <-chan Event { return s.events }

// Look returns what the screen can show now.
func (s *Screen) Look() view.Look {
	width, height := s.tcell.Size()
	return view.Look{Width: width, Height: height, ASCII: s.ascii, Color: s.color}
}

// Show draws lines, from the top of the screen.
func (s *Screen) Show(lines []view.Line) {
	width, height := s.tcell.Size()
	s.tcell.Clear()
	for y := range min(height, len(lines)) {
		x := 0
		for _, span := range lines[y] {
			style := s.style(span.Style)
			for g := uniseg.NewGraphemes(span.Text); g.Next() && x < width; {
				runes := g.Runes()
				n := layout.Width(g.Str())
				s.tcell.SetContent(x, y, runes[0], runes[1:], style)
				x += n
			}
		}
	}
	s.tcell.Show()
}

// Redraw draws the whole screen again, even the parts that have not changed.
func (s *Screen) Redraw() { s.tcell.Sync() }

// style returns tcell's style for a Style. All styles can be read on a light and on a dark background, because they use
// the terminal's own colours.
func (s *Screen) style(of view.Style) tcell.Style {
	plain := tcell.StyleDefault
	colored := func(c tcell.Color) tcell.Style {
		if !s.color {
			return plain
		}
		return plain.Foreground(c)
	}
	switch of {
	case view.Bold:
		return plain.Bold(true)
	case view.Dim:
		return plain.Dim(true)
	case view.Warm:
		return colored(tcell.ColorPurple)
	case view.Hot:
		return colored(tcell.ColorMaroon)
	case view.Hottest:
		return colored(tcell.ColorMaroon).Bold(true)
	case view.Good:
		return colored(tcell.ColorGreen)
	case view.Title:
		return plain.Underline(true).Bold(true)
	case view.Selected:
		return plain.Reverse(true)
	}
	return plain
}

// keyNames are the names of keys that are not characters.
var keyNames = map[tcell.Key]string{
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right", tcell.KeyPgUp: "pgup",
	tcell.KeyPgDn: "pgdn",
	tcell.KeyHome: "home", tcell.KeyEnd: "end", tcell.KeyEnter: "enter", tcell.KeyEscape: "esc",
	tcell.KeyBackspace: "backspace", tcell.KeyBackspace2: "backspace",
}

// read turns tcell's events into Events.
func (s *Screen) read() {
	defer close(s.events)
	for {
		switch e := s.tcell.PollEvent().(type) {
		case nil:
			return
		case *tcell.EventResize:
			s.events <- Event{Resized: true}
		case *tcell.EventMouse:
			switch {
			case e.Buttons()&tcell.WheelUp != 0:
				s.events <- Event{Key: view.Key{Name: "wheelup"}}
			case e.Buttons()&tcell.WheelDown != 0:
				s.events <- Event{Key: view.Key{Name: "wheeldown"}}
			}
		case *tcell.EventKey:
			if k, ok := keyOf(e); ok {
				s.events <- Event{Key: k}
			}
		}
	}
}

func keyOf(e *tcell.EventKey) (k view.Key, ok bool) {
	switch e.Key() {
	case tcell.KeyRune:
		return view.Key{Rune: e.Rune()}, true
	case tcell.KeyCtrlU:
		return view.Key{Name: "clear"}, true
	case tcell.KeyCtrlC:
		return view.Key{Rune: 'q'}, true
	}
	k.Name = keyNames[e.Key()]
	return k, k.Name != ""
}

// Usable returns the reason why no full screen can be shown on out, or "" if one can be shown.
func Usable(in, out *os.File) (why string) {
	switch {
	case !layout.IsTerminal(out):
		return "stdout is not a terminal"
	case !layout.IsTerminal(in):
		return "stdin is not a terminal"
	case os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "":
		return "TERM is " + map[bool]string{true: "not set", false: "dumb"}[os.Getenv("TERM") == ""]
	}
	return ""
}

// reset ends what a full screen may have switched on: reports of the mouse and of pasted text, the alternate character
// set, styles, the keypad's mode, the other screen, and the hidden cursor. If none of these is on, it changes nothing
// that can be seen, apart from the style.
const reset = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x0f\x1b(B\x1b[m\x1b[?1l\x1b>\x1b[?7h\x1b[?1049l\x1b[?25h"

// Leave ends the full screen without changing the terminal's modes, because another program has set them already.
func Leave(out *os.File) { _, _ = out.WriteString(reset) } // if the terminal is gone, there is nothing to leave
