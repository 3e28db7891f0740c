package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

const (
	// sourceMargin is how many lines of a file are shown around each that code was made from.
	sourceMargin = 6
	// maxSourceBytes and maxSourceFiles bound what the page has of sources. Files come with the
	// hottest code first.
	maxSourceBytes = 400_000
	maxSourceFiles = 150
)

// A sourceFile is what the page has of one file.
type sourceFile struct {
	ID      int
	Name    string
	Lines   []sourceLine
	methods []string
}

// A sourceLine is a line of a file. Gap tells that lines before it are left out.
type sourceLine struct {
	Number int
	Text   string
	Gap    bool
}

// sourceFiles collect the lines that listings were made from.
type sourceFiles struct {
	find    func(method string) (string, []string)
	byName  map[string]*collected
	ofClass map[string]*collected // nil for classes without a file
	order   []*collected
	methods map[string]bool
}

// A collected is a file with the lines that are wanted of it.
type collected struct {
	name    string
	lines   []string
	wanted  map[int]bool
	methods []string
}

func newSourceFiles(find func(string) (string, []string)) *sourceFiles {
	return &sourceFiles{find: find, byName: map[string]*collected{}, ofClass: map[string]*collected{}, methods: map[string]bool{}}
}

// file finds the file of a method.
func (s *sourceFiles) file(method string) *collected {
	if s.find == nil {
		return nil
	}
	class, _, _ := strings.Cut(method, "::")
	if f, known := s.ofClass[class]; known {
		return f
	}
	name, lines := s.find(method)
	if len(lines) == 0 {
		s.ofClass[class] = nil
		return nil
	}
	f := s.byName[name]
	if f == nil {
		f = &collected{name: name, lines: lines, wanted: map[int]bool{}}
		s.byName[name] = f
		s.order = append(s.order, f)
	}
	s.ofClass[class] = f
	return f
}

// line gives the text of a line; "" where there is none.
func (s *sourceFiles) line(method string, line int) string {
	f := s.file(method)
	if f == nil || line < 1 || line > len(f.lines) {
		return ""
	}
	return layout.CutEnd(strings.TrimSpace(f.lines[line-1]), 100, "…")
}

// add wants the lines of all frames of a listing.
func (s *sourceFiles) add(l *profile.Listing) {
	if s.find == nil {
		return
	}
	for i := range l.Lines {
		for _, frame := range l.Lines[i].Frames {
			f := s.file(frame.Method)
			if f == nil {
				continue
			}
			if !s.methods[frame.Method] {
				s.methods[frame.Method] = true
				f.methods = append(f.methods, shown(frame.Method))
			}
			if frame.Line > 0 && frame.Line <= len(f.lines) {
				f.wanted[frame.Line] = true
			}
		}
	}
}

// files gives the files with the lines that are wanted and those around them.
func (s *sourceFiles) files() []sourceFile {
	var out []sourceFile
	room := maxSourceBytes
	for _, f := range s.order {
		if len(f.wanted) == 0 || len(out) == maxSourceFiles {
			continue
		}
		file := sourceFile{ID: len(out), Name: shown(f.name), methods: f.methods}
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
