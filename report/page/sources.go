package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	// sourceMargin is the number of lines of a file that are shown before and after each line that code was made from.
	sourceMargin = 6
	// maxSourceBytes and maxSourceFiles limit how much source code is in the page. Files of the hottest code come
	// first.
	maxSourceBytes = 400_000
	maxSourceFiles = 150
)

// A sourceFile is the part of a file that the page has.
type sourceFile struct {
	ID      int
	Name    string
	Lines   []sourceLine
	methods []string
}

// A sourceLine is a line of a file. Gap is true if lines before it are left out.
type sourceLine struct {
	Number int
	Text   string
	Gap    bool
}

// sourceFiles collects the lines that listings were made from.
type sourceFiles struct {
	place   func(method string, line int) (string, int)
	lines   func(file string) []string
	native  func(file string) []string
	byName  map[string]*collected // nil for files that do not exist
	places  map[classLine]sourcePlace
	order   []*collected
	methods map[string]bool
	// elsewhere has the source lines that are moved (see sourcePlace), by the line number in the code of a method. The
	// file is nil if it is ambiguous.
	elsewhere map[profile.MethodLine]sourcePlace
}

// A collected is a source file with the numbers of the lines that code was made from (wanted).
type collected struct {
	id      int // the number in the page; -1 if the file is not in the page
	name    string
	lines   []string
	wanted  map[int]bool
	methods []string // methods whose class was made from the file
}

// A classLine is a line number in the code of a class.
type classLine struct {
	class string
	line  int
}

// A sourcePlace is a line of a file. A line number in the code of a class usually refers to the line with this number
// in the class's own file. If it refers to another line, moved is true. For example, Kotlin's compiler gives lines of
// inline functions numbers beyond the end of the file.
type sourcePlace struct {
	file  *collected // nil if there is no such file
	line  int
	moved bool
}

// newSourceFiles returns an empty collection. The parameters are the functions Place, FileLines and NativeLines of
// Input.
func newSourceFiles(place func(string, int) (string, int), lines, native func(string) []string) *sourceFiles {
	return &sourceFiles{place: place, lines: lines, native: native, byName: map[string]*collected{},
		places: map[classLine]sourcePlace{}, methods: map[string]bool{}, elsewhere: map[profile.MethodLine]sourcePlace{}}
}

// find returns the place that a line number in a method's code refers to. For line 0, it returns the file of the
// method's class.
func (s *sourceFiles) find(method string, line int) sourcePlace {
	if s.place == nil {
		return sourcePlace{}
	}
	class, _, _ := strings.Cut(method, "::")
	key := classLine{class, max(line, 0)}
	if at, known := s.places[key]; known {
		return at
	}
	name, number := s.place(method, key.line)
	at := sourcePlace{file: s.file(name, s.lines), line: number}
	if key.line > 0 {
		at.moved = number != key.line || at.file != s.find(method, 0).file
	}
	s.places[key] = at
	return at
}

// file returns the file with a name, or nil if there is no such file. It reads each file only once, with read.
func (s *sourceFiles) file(name string, read func(file string) []string) *collected {
	f, known := s.byName[name]
	if known {
		return f
	}
	if lines := read(name); len(lines) > 0 {
		f = &collected{id: -1, name: name, lines: lines, wanted: map[int]bool{}}
		s.order = append(s.order, f)
	}
	s.byName[name] = f
	return f
}

// line returns the text of a line, at most 100 characters of it. It returns "" if the line is unknown.
func (s *sourceFiles) line(method string, line int) string {
	at := s.find(method, line)
	if at.file == nil || at.line < 1 || at.line > len(at.file.lines) {
		return ""
	}
	return layout.CutEnd(strings.TrimSpace(at.file.lines[at.line-1]), 100, "…")
}

// add collects the lines of all frames of a listing.
func (s *sourceFiles) add(l *profile.Listing) {
	if s.place == nil {
		return
	}
	for i := range l.Lines {
		for _, frame := range l.Lines[i].Frames {
			if frame.File != "" && s.native != nil {
				s.addNative(&frame)
				continue
			}
			if own := s.find(frame.Method, 0).file; own != nil && !s.methods[frame.Method] {
				own.methods = append(own.methods, shown(frame.Method))
			}
			s.methods[frame.Method] = true
			if at := s.find(frame.Method, frame.Line); at.file != nil && at.line > 0 && at.line <= len(at.file.lines) {
				at.file.wanted[at.line] = true
				if at.moved {
					s.elsewhere[profile.MethodLine{Method: frame.Method, Line: frame.Line}] = at
				}
			}
		}
	}
}

// addNative collects the line of a frame of native code. The file of its function is not known otherwise, so each of
// its lines counts as moved. If several files have functions of the same name, a line number that occurs in more than
// one of them is left out.
func (s *sourceFiles) addNative(f *printassembly.Frame) {
	at := sourcePlace{s.file(f.File, s.native), f.Line, true}
	if at.file != nil && at.line > 0 && at.line <= len(at.file.lines) {
		at.file.wanted[at.line] = true
		key := profile.MethodLine{Method: f.Method, Line: f.Line}
		if other, known := s.elsewhere[key]; known && other.file != at.file {
			at.file = nil
		}
		s.elsewhere[key] = at
	}
}

// files returns the files with the collected lines and the lines around them. It stops at maxSourceBytes and
// maxSourceFiles. It also sets the id of each file.
func (s *sourceFiles) files() []sourceFile {
	var out []sourceFile
	room := maxSourceBytes
	for _, f := range s.order {
		if len(f.wanted) == 0 || len(out) == maxSourceFiles {
			continue
		}
		f.id = len(out)
		file := sourceFile{ID: f.id, Name: shown(f.name), methods: f.methods}
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
	slices.SortStableFunc(out, func(a, b sourceFile) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// moved returns the content of s.elsewhere for the script. It maps a method and a line number to the id of a file and a
// line in that file. Call s.files() first, because that sets the ids.
func (s *sourceFiles) moved() map[string]map[int][2]int {
	out := map[string]map[int][2]int{}
	for line, at := range s.elsewhere {
		if at.file == nil || at.file.id < 0 {
			continue
		}
		name := shown(line.Method)
		if out[name] == nil {
			out[name] = map[int][2]int{}
		}
		out[name][line.Line] = [2]int{at.file.id, at.line}
	}
	return out
}
