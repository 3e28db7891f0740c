package view

import (
	"strings"

	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/top"
)

// A View is one of the views.
type View int

// The views, in the order of their keys, which are 1 to 7.
const (
	Programs View = iota
	Methods
	Frames
	Threads
	Callers
	Code
	Events
	views
)

var viewNames = [views]string{"programs", "methods", "frames", "threads", "callers", "code", "events"}

// ViewNames returns the names of the views.
func ViewNames() []string { return viewNames[:] }

// A State is the state of the user interface. The zero State shows the methods of the last 10 seconds.
type State struct {
	// Source returns a line of source, as for the report; nil if there are no sources.
	Source func(method string, line int) listing.SourceLine
	// Several is true if several JVMs may be shown, so that the views must show the JVM of each row.
	Several bool
	Message string // a sentence for the user, shown until the next key

	places  []place
	modes   int // index in Modes
	sort    int
	filter  string
	prompt  prompt
	help    bool
	paused  *top.Picture
	held    held
	scroll  int
	targets []target // the targets of the rows that were drawn last
	body    int      // number of rows of the table on the screen that was drawn last
}

// A place is the content of the screen, and the position of the cursor in it.
type place struct {
	view   View
	scope  top.Scope
	method string // the method whose callers or code are shown
	code   *top.Code
	pc     uint64 // address of the instruction on which the cursor is at first; 0 for the hottest one
	cursor int
	moved  bool   // the user has moved the cursor
	top    int    // the first row of code on the screen
	row    string // the id of the target that the cursor is on
}

// A target is the method, thread or JVM to which a row leads.
type target struct {
	id     string // identifies the target, also in later pictures
	method string
	code   *top.Code
	pc     uint64
	scope  top.Scope
}

// A prompt says what the next keys are for.
type prompt int

const (
	noPrompt prompt = iota
	filtering
	writing
)

// Modes are the modes of pictures, in the order in which a key switches between them.
var Modes = []top.Mode{top.Last(10), top.SinceStart, top.Decaying}

// Mode returns which samples the user wants to see.
func (s *State) Mode() top.Mode { return Modes[s.modes] }

// Show shows a view, and forgets all places that were shown before.
func (s *State) Show(v View) { s.places = []place{{view: v}} }

// Paused reports whether the user has paused the picture.
func (s *State) Paused() bool { return s.paused != nil }

// at returns the present place.
func (s *State) at() *place {
	if len(s.places) == 0 {
		s.places = []place{{view: Methods}}
	}
	return &s.places[len(s.places)-1]
}

// target returns the target of the cursor's row. ok is false if there are no rows.
func (s *State) target() (t target, ok bool) {
	if at := s.at().cursor; at >= 0 && at < len(s.targets) {
		return s.targets[at], true
	}
	return t, false
}

// maxPlaces limits how many places Esc can go back.
const maxPlaces = 64

// enter shows another place. Esc returns from it to the present one.
func (s *State) enter(p place) {
	if len(s.places) >= maxPlaces {
		s.places = append(s.places[:0], s.places[1:]...)
	}
	s.places = append(s.places, p)
}

// filters reports whether a filter applies to the present view.
func (s *State) filters() bool { return s.filter != "" && s.at().view != Code }

// matches reports whether a row with these texts passes the filter.
func (s *State) matches(texts ...string) bool {
	if s.filter == "" {
		return true
	}
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), strings.ToLower(s.filter)) {
			return true
		}
	}
	return false
}

// find puts the cursor on the target to which the user has moved it, because that target may be in another row now. If
// the user has not moved the cursor, it stays in the first row.
func (s *State) find() {
	p := s.at()
	if p.moved && p.view != Code {
		for i := range s.targets {
			if s.targets[i].id == p.row {
				p.cursor = i
				break
			}
		}
	}
	p.cursor = max(0, min(p.cursor, len(s.targets)-1))
	if t, ok := s.target(); ok && (!p.moved || p.row == "") {
		p.row = t.id
	}
	if len(s.targets) <= s.body {
		s.scroll = 0
	}
	s.scroll = max(0, min(s.scroll, p.cursor))
	if s.body > 0 && p.cursor >= s.scroll+s.body {
		s.scroll = p.cursor - s.body + 1
	}
}

// The type held has the last pictures, one for each Mode, of a JVM that the user has picked and that has ended while
// other JVMs still run. They stay on the screen.
type held struct {
	pid      int
	pictures map[top.Mode]*top.Picture
}

// Shown returns the picture that is on the screen. This is p, or the picture at which the user has paused, or the last
// one of the picked JVM if that has ended.
func (s *State) Shown(p *top.Picture) *top.Picture {
	if s.paused != nil {
		return s.paused
	}
	pid := s.at().scope.PID
	if p == nil || pid == 0 {
		return p
	}
	if j, ok := p.JVM(pid); ok && !j.Ended {
		s.held = held{}
		return p
	}
	if s.held.pid != pid {
		s.held = held{pid, map[top.Mode]*top.Picture{}}
	}
	if s.held.pictures[p.Mode] == nil {
		s.held.pictures[p.Mode] = p
	}
	return s.held.pictures[p.Mode]
}
