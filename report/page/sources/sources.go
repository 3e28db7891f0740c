// Package sources finds the parts of source files that a page shows: the lines that its code was made from, and lines
// around them.
package sources

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/page/show"
)

const (
	// sourceMargin is the number of lines of a file that are shown before and after each line that code was made from.
	sourceMargin = 6
	// maxSourceBytes and maxSourceFiles limit how much source code is in the page. Files of the hottest code come
	// first.
	maxSourceBytes = 400_000
	maxSourceFiles = 150
)

// A File is the part of a file that the page has.
type File struct {
	ID      int
	Name    string
	Lines   []sourceLine
	Methods []string
}

// A sourceLine is a line of a file. Gap is true if lines before it are left out.
type sourceLine struct {
	Number int
	Text   string
	Gap    bool
}

// Files collects the lines that listings were made from.
type Files struct {
	place   func(method string, line int) (string, int)
	lines   func(file string) []string
	native  func(file string) []string
	byName  map[string]*collected // nil for files that do not exist
	places  map[classLine]sourcePlace
	order   []*collected
	methods map[string]bool
	// elsewhere maps line numbers in the code of a method to the source lines that they refer to. It has only moved
	// ones (see sourcePlace). The File is nil if several files are possible.
	elsewhere map[profile.MethodLine]sourcePlace
}

// A collected is a source file, together with the numbers of the lines that code was made from (wanted).
type collected struct {
	id      int // the number in the page; -1 if the file is not in the page
	Name    string
	lines   []string
	wanted  map[int]bool
	methods []string // Methods whose class was made from the file
}

// A classLine is a line number in the code of a class.
type classLine struct {
	class string
	line  int
}

// A sourcePlace is a line of a file. A line number in the code of a class usually refers to the line with this number
// in the class's own file. If it refers to another line, Moved is true. For example, Kotlin's compiler numbers the
// lines of inline functions beyond the end of the file.
type sourcePlace struct {
	File  *collected // nil if there is no such file
	Line  int
	Moved bool
}

// New returns an empty collection. The parameters are the functions Place, FileLines and NativeLines of page.Input.
func New(place func(string, int) (string, int), lines, native func(string) []string) *Files {
	return &Files{place: place, lines: lines, native: native, byName: map[string]*collected{},
		places: map[classLine]sourcePlace{}, methods: map[string]bool{}, elsewhere: map[profile.MethodLine]sourcePlace{}}
}

// Find returns the place that a line number in a method's code refers to. For line 0, it returns the file of the
// method's class.
func (s *Files) Find(method string, line int) sourcePlace {
	if s.place == nil {
		return sourcePlace{}
	}
	class, _, _ := strings.Cut(method, "::")
	key := classLine{class, max(line, 0)}
	if at, known := s.places[key]; known {
		return at
	}
	name, number := s.place(method, key.line)
	at := sourcePlace{File: s.file(name, s.lines), Line: number}
	if key.line > 0 {
		at.Moved = number != key.line || at.File != s.Find(method, 0).File
	}
	s.places[key] = at
	return at
}

// file returns the file with a name, or nil if there is no such file. It calls the function read to read a file, but
// only once for each file.
func (s *Files) file(name string, read func(file string) []string) *collected {
	f, known := s.byName[name]
	if known {
		return f
	}
	if lines := read(name); len(lines) > 0 {
		f = &collected{id: -1, Name: name, lines: lines, wanted: map[int]bool{}}
		s.order = append(s.order, f)
	}
	s.byName[name] = f
	return f
}

// Line returns the text of a line, at most 100 characters of it. It returns "" if the line is unknown.
func (s *Files) Line(method string, line int) string {
	at := s.Find(method, line)
	if at.File == nil || at.Line < 1 || at.Line > len(at.File.lines) {
		return ""
	}
	return layout.CutEnd(strings.TrimSpace(at.File.lines[at.Line-1]), 100, "…")
}

// Add collects the lines of all frames of a listing.
func (s *Files) Add(l *profile.Listing) {
	if s.place == nil {
		return
	}
	for i := range l.Lines {
		for _, frame := range l.Lines[i].Frames {
			if frame.File != "" && s.native != nil {
				s.addNative(&frame)
				continue
			}
			if own := s.Find(frame.Method, 0).File; own != nil && !s.methods[frame.Method] {
				own.methods = append(own.methods, show.Text(frame.Method))
			}
			s.methods[frame.Method] = true
			if at := s.Find(frame.Method, frame.Line); at.File != nil && at.Line > 0 && at.Line <= len(at.File.lines) {
				at.File.wanted[at.Line] = true
				if at.Moved {
					s.elsewhere[profile.MethodLine{Method: frame.Method, Line: frame.Line}] = at
				}
			}
		}
	}
}

// addNative collects the line of a frame of native code. The file is known only from the frame itself, so each line
// counts as moved. If several files have functions of the same name, addNative leaves out a line number that occurs in
// more than one of them.
func (s *Files) addNative(f *printassembly.Frame) {
	at := sourcePlace{s.file(f.File, s.native), f.Line, true}
	if at.File != nil && at.Line > 0 && at.Line <= len(at.File.lines) {
		at.File.wanted[at.Line] = true
		key := profile.MethodLine{Method: f.Method, Line: f.Line}
		if other, known := s.elsewhere[key]; known && other.File != at.File {
			at.File = nil
		}
		s.elsewhere[key] = at
	}
}

// Files returns the files with the collected lines and the lines around them. It stops at maxSourceBytes and
// maxSourceFiles. It also sets the id of each file.
func (s *Files) Files() []File {
	var out []File
	room := maxSourceBytes
	for _, f := range s.order {
		if len(f.wanted) == 0 || len(out) == maxSourceFiles {
			continue
		}
		f.id = len(out)
		file := File{ID: f.id, Name: show.Text(f.Name), Methods: f.methods}
		wanted := make([]int, 0, len(f.wanted))
		for n := range f.wanted {
			wanted = append(wanted, n)
		}
		slices.Sort(wanted)
		last := 0
		for _, n := range wanted {
			for k := max(n-sourceMargin, last+1); k <= min(n+sourceMargin, len(f.lines)) && room > 0; k++ {
				text := layout.CutEnd(f.lines[k-1], 200, "…")
				room -= len(text) + 40
				file.Lines = append(file.Lines, sourceLine{k, text, k > last+1})
				last = k
			}
		}
		out = append(out, file)
	}
	slices.SortStableFunc(out, func(a, b File) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Moved returns the content of s.elsewhere for the script: it maps a method and a line number to the id of a file and a
// line in that file. The method Files must be called first, because it sets the ids.
func (s *Files) Moved() map[string]map[int][2]int {
	out := map[string]map[int][2]int{}
	for line, at := range s.elsewhere {
		if at.File == nil || at.File.id < 0 {
			continue
		}
		name := show.Text(line.Method)
		if out[name] == nil {
			out[name] = map[int][2]int{}
		}
		out[name][line.Line] = [2]int{at.File.id, at.Line}
	}
	return out
}
