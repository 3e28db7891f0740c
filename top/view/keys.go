package view

import (
	"unicode"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/top"
)

// A Key is a key that the user has pressed. Name is "up", "down", "left", "right", "pgup", "pgdn", "home", "end",
// "enter", "esc", "backspace", "clear", "wheelup" or "wheeldown", or "" for a character.
type Key struct {
	Name string
	Rune rune
}

// An Action says what the caller of Key has to do.
type Action int

// The actions. The method Key returns Nothing for a key that only changes the State.
const (
	Nothing Action = iota
	Quit
	WriteCapture
	WriteReport
	WritePage
)

// Key handles a key. p is the picture that was drawn last.
func (s *State) Key(k Key, p *top.Picture) Action {
	s.Message = ""
	p = s.Shown(p)
	if s.help {
		s.help = false
		return Nothing
	}
	switch s.prompt {
	case filtering:
		s.filterKey(k)
		return Nothing
	case writing:
		s.prompt = noPrompt
		return map[rune]Action{'c': WriteCapture, 'r': WriteReport, 'p': WritePage}[k.Rune]
	}
	if k.Name == "" {
		return s.runeKey(k.Rune, p)
	}
	s.namedKey(k.Name, p)
	return Nothing
}

func (s *State) filterKey(k Key) {
	switch {
	case k.Name == "enter":
		s.prompt = noPrompt
	case k.Name == "esc":
		s.prompt, s.filter = noPrompt, ""
	case k.Name == "clear":
		s.filter = ""
	case k.Name == "backspace" && s.filter != "":
		s.filter = s.filter[:lastRune(s.filter)]
	case k.Name == "" && unicode.IsPrint(k.Rune) && len(s.filter) < 200:
		s.filter += string(k.Rune)
	}
}

// wheelRows is the number of rows by which one step of the mouse's wheel moves the cursor.
const wheelRows = 3

func (s *State) namedKey(name string, p *top.Picture) {
	switch name {
	case "up":
		s.move(-1)
	case "down":
		s.move(1)
	case "wheelup":
		s.move(-wheelRows)
	case "wheeldown":
		s.move(wheelRows)
	case "pgup":
		s.move(-max(1, s.body-1))
	case "pgdn":
		s.move(max(1, s.body-1))
	case "home":
		s.move(-len(s.targets))
	case "end":
		s.move(len(s.targets))
	case "enter", "right":
		s.open(p)
	case "esc", "left":
		s.back()
	}
}

func (s *State) runeKey(r rune, p *top.Picture) Action {
	switch r {
	case 'q':
		return Quit
	case 'j':
		s.move(1)
	case 'k':
		s.move(-1)
	case '1', '2', '3', '4', '5', '6', '7':
		s.jump(View(r-'1'), p)
	case 't':
		s.jump(Threads, p)
	case 'c':
		s.jump(Callers, p)
	case 'a':
		s.jump(Code, p)
	case 'e':
		s.jump(Events, p)
	case 'h':
		s.at().moved, s.at().cursor = false, 0
	case 'm':
		s.modes = (s.modes + 1) % len(Modes)
		if s.paused != nil {
			s.Message = "the new time shows when the picture goes on (p)"
		}
	case 's':
		s.sort++
	case 'p':
		if s.paused == nil {
			s.paused = p
		} else {
			s.paused = nil
		}
	case '/':
		if s.at().view == Code {
			s.Message = "a filter is for the rows of tables; this is code"
		} else {
			s.prompt = filtering
		}
	case 'w':
		s.prompt = writing
	case '?':
		s.help = true
	}
	return Nothing
}

// move moves the cursor by some rows.
func (s *State) move(rows int) {
	p := s.at()
	p.cursor = max(0, min(p.cursor+rows, len(s.targets)-1))
	p.moved = true
	if t, ok := s.target(); ok {
		p.row = t.id
	}
	if p.cursor == 0 && p.view != Code {
		p.moved = false // stay in the first row, which always is the hottest
	}
}

// back returns to the previous place, or removes the filter.
func (s *State) back() {
	if s.filters() {
		s.filter = ""
		return
	}
	if len(s.places) > 1 {
		s.places = s.places[:len(s.places)-1]
		s.sort = 0
	}
}

// jump shows another view of the method, thread or JVM in the cursor's row.
func (s *State) jump(v View, p *top.Picture) {
	from := *s.at()
	if from.view == v {
		return
	}
	to := place{view: v, scope: from.scope}
	t, ok := s.target()
	switch {
	case v == Programs || v == Events:
		to.scope = top.Scope{}
	case v != Callers && v != Code:
	case from.view == Callers && v == Code, from.view == Methods, from.view == Frames:
		if ok {
			to.method, to.code, to.pc = t.method, t.code, t.pc
		}
	case from.view == Code:
		to.method = from.method
	}
	if (v == Callers || v == Code) && to.method == "" && p != nil {
		if hottest := p.Frames(to.scope); v == Callers && len(hottest) > 0 {
			to.method = hottest[0].Name
		}
		if hottest := p.Methods(to.scope); v == Code {
			for i := range hottest {
				if c := hottest[i].Code; c != nil && (to.code == nil || p.Known(c)) {
					to.method, to.code = hottest[i].Name, c
					if p.Known(c) {
						break
					}
				}
			}
		}
	}
	s.sort, s.scroll = 0, 0
	s.enter(to)
}

// open shows the method, thread or JVM in the cursor's row.
func (s *State) open(p *top.Picture) {
	from := *s.at()
	t, ok := s.target()
	if !ok || p == nil {
		return
	}
	to := place{scope: from.scope}
	switch from.view {
	case Programs, Threads:
		to.view, to.scope = Methods, t.scope
	case Methods, Frames, Callers:
		to.view, to.method, to.code, to.pc = Code, t.method, t.code, t.pc
		if to.code == nil {
			to.code = p.CodeOf(from.scope, t.method)
		}
		if to.code == nil {
			s.Message = "no code of " + layout.Escape(t.method) + " is known"
			return
		}
	case Code:
		if t.method == "" {
			return
		}
		to.view, to.method = Callers, t.method
	default:
		return
	}
	s.sort, s.scroll = 0, 0
	s.enter(to)
}
