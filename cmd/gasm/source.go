package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/javasource"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/text"
)

// sources are the sources that --source names, opened.
type sources struct {
	paths  []string
	finder *javasource.Finder // nil without --source
	closed []int              // ids of JVMs whose class paths are not opened
}

// openSources opens the sources that --source names, before anything runs.
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

// lineFinder returns a function that finds lines of source for the report of profiles; nil without --source.
func (s *sources) lineFinder(ps *profile.Profiles) func(method string, line int) text.SourceLine {
	if s.finder == nil {
		return nil
	}
	var classPath, versions []string
	for _, j := range ps.Capture.JVMs {
		versions = append(versions, j.Version)
		switch {
		case j.Log == nil || j.Log.ClassPath == "":
		case os.Geteuid() == 0 && chosenByOther(&j):
			s.closed = append(s.closed, j.PID)
		default:
			classPath = append(classPath, filepath.SplitList(j.Log.ClassPath)...)
		}
	}
	s.finder.Know(ps.SourceFiles, classPath)
	s.addJDK(versions)
	return func(method string, line int) text.SourceLine { return text.SourceLine(s.finder.Line(method, line)) }
}

// chosenByOther reports whether another user may have chosen the class path of a JVM: the JVM's, or who made the
// capture. Root opens no such path.
func chosenByOther(j *capture.JVM) bool {
	info, err := os.Lstat(j.Log.Name())
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return j.OfOther || !ok || int(stat.Uid) != os.Geteuid()
}

// addJDK adds the source of the JDK that ran, if it is on this machine and the flags name no
// other src.zip. It adds none if the JVMs were of several versions.
func (s *sources) addJDK(versions []string) {
	named := slices.ContainsFunc(s.paths, func(path string) bool { return filepath.Base(path) == "src.zip" })
	slices.Sort(versions)
	if versions = slices.Compact(versions); named || len(versions) != 1 {
		return
	}
	if path := javasource.JDKSource(versions[0]); path != "" {
		_ = s.finder.Add(path) // it was not asked for
	}
}

// sayMissing says why lines of the report were not found.
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
	if missing > 0 && len(s.closed) > 0 {
		say(stderr, "gasm: --source: as root, gasm did not open the class path of pid %d%s, which another user or a container has chosen, "+
			"so lines of Kotlin's inline functions may be missing: have that user make the report "+
			"(gasm report --source %s DIR, with a copy of the capture that -o DIR keeps)",
			s.closed[0], andMore(len(s.closed)-1), strings.Join(s.paths, ":"))
	}
}

// andMore returns " and 2 more".
func andMore(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// findFiles lets the page find whole source files, if there are any sources.
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

// notes returns a note for each src.zip that belongs to another JDK than the JVMs'.
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
