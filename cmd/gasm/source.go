package main

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/javasource"
)

// sources are what --source names, opened.
type sources struct {
	paths        []string
	finder       *javasource.Finder // nil without --source
	asked, found bool               // a line of some method; at least one
}

// openSources opens what --source names, before anything runs.
func openSources(paths []string) (*sources, error) {
	if len(paths) == 0 {
		return &sources{}, nil
	}
	finder, err := javasource.New(paths)
	if err != nil {
		return nil, usage("--source: %v", err)
	}
	return &sources{paths: paths, finder: finder}, nil
}

// lineFinder finds lines for the report; nil without sources.
func (s *sources) lineFinder() func(method string, line int) string {
	if s.finder == nil {
		return nil
	}
	return func(method string, line int) string {
		text, ok := s.finder.Line(method, line)
		s.asked, s.found = true, s.found || ok
		return text
	}
}

// fileFinder finds files for the page; nil without sources.
func (s *sources) fileFinder() func(method string) (string, []string) {
	if s.finder == nil {
		return nil
	}
	return func(method string) (string, []string) {
		name, lines := s.finder.File(method)
		s.asked, s.found = true, s.found || len(lines) > 0
		return name, lines
	}
}

// inVain tells that the sources have none of the report's methods.
func (s *sources) inVain() bool { return s.asked && !s.found }

func (s *sources) close() {
	if s.finder != nil {
		_ = s.finder.Close() // it was only read
	}
}

// notes tell of each src.zip that is another JDK's than the JVMs'.
func (s *sources) notes(jvms []capture.JVM) []string {
	var notes []string
	for _, path := range s.paths {
		for _, j := range jvms {
			if note := javasource.ForeignJDK(path, j.PID, j.Version); note != "" {
				notes = append(notes, note)
				break
			}
		}
	}
	return notes
}
