package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/javasource"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/text"
)

// sources are what --source names, opened.
type sources struct {
	paths  []string
	finder *javasource.Finder // nil without --source
}

// openSources opens what --source names, before anything runs.
func openSources(values []string) (*sources, error) {
	if len(values) == 0 {
		return &sources{}, nil
	}
	paths := javasource.SplitPaths(values)
	finder, err := javasource.New(paths)
	if err != nil {
		return nil, usage("--source: %v", err)
	}
	return &sources{paths: paths, finder: finder}, nil
}

// lineFinder finds lines for the report of profiles; nil without sources.
func (s *sources) lineFinder(ps *profile.Profiles) func(method string, line int) text.SourceLine {
	if s.finder == nil {
		return nil
	}
	var classPath, versions []string
	for _, j := range ps.Capture.JVMs {
		versions = append(versions, j.Version)
		if j.Log != nil {
			classPath = append(classPath, filepath.SplitList(j.Log.ClassPath)...)
		}
	}
	s.finder.Know(ps.SourceFiles, classPath)
	s.addJDK(versions)
	return func(method string, line int) text.SourceLine { return text.SourceLine(s.finder.Line(method, line)) }
}

// addJDK adds the source of the JDK that ran, if it is on this machine and the flags name no
// other. It has all versions of a capture only where there is one.
func (s *sources) addJDK(versions []string) {
	named := slices.ContainsFunc(s.paths, func(path string) bool { return filepath.Base(path) == "src.zip" })
	slices.Sort(versions)
	if versions = slices.Compact(versions); named || len(versions) != 1 {
		return
	}
	if path := javasource.JDKSource(versions[0]); path != "" {
		_ = s.finder.Add(path) // nobody has asked for it
	}
}

// sayMissing says which lines of the report were not found, and why.
func (s *sources) sayMissing(stderr io.Writer) {
	if s.finder == nil {
		return
	}
	asked, missing, causes := s.finder.Missing()
	if asked > 0 && asked == missing {
		say(stderr, "gasm: --source: none of the report's methods has its source in %s", strings.Join(s.paths, ", "))
	}
	for _, cause := range causes {
		say(stderr, "gasm: --source: %s", cause)
	}
}

// findFiles tells the report of a page where sources are, if there are any.
func (s *sources) findFiles(o *report.Options) {
	if s.finder != nil {
		o.Place, o.FileLines = s.finder.Place, s.finder.Lines
	}
}

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
