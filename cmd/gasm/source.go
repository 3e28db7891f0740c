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
	"github.com/gasm-profiler/gasm/report/text/listing"
)

// sources holds the opened folders and archives that --source names.
type sources struct {
	paths  []string
	finder *javasource.Finder // nil without --source
	told   []string           // class paths that live has passed to the finder
	closed []int              // process ids of JVMs whose class paths were not opened, because others may have chosen them
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

// findLines lets a report find the lines of source. It does nothing without --source.
func (s *sources) findLines(ps *profile.Profiles, o *listing.Options) {
	if s.finder == nil {
		return
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
	o.Source = func(method string, line int) listing.SourceLine {
		return listing.SourceLine(s.finder.Line(method, line))
	}
	o.NativeSource = func(file string, line int) listing.SourceLine {
		return listing.SourceLine(s.finder.NativeLine(file, line))
	}
}

// chosenByOther reports whether another user may have chosen the class path of a JVM: the user that the JVM ran as, or
// the user who made the capture. If gasm runs as root, it does not open such a class path.
func chosenByOther(j *capture.JVM) bool {
	info, err := os.Lstat(j.Log.Name())
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return j.OfOther || !ok || int(stat.Uid) != os.Geteuid()
}

// addJDK adds the source of the JDK that ran the JVMs, if the source is on this machine and --source does not name a
// src.zip. It adds nothing if the JVMs had different JDK versions.
func (s *sources) addJDK(versions []string) {
	named := slices.ContainsFunc(s.paths, func(path string) bool { return filepath.Base(path) == "src.zip" })
	slices.Sort(versions)
	if versions = slices.Compact(versions); named || len(versions) != 1 {
		return
	}
	if path := javasource.JDKSource(versions[0]); path != "" {
		_ = s.finder.Add(path) // the user did not ask for it, so an error does not matter
	}
}

// sayMissing says on stderr why source lines may be missing in the report.
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
		say(stderr,
			"gasm: --source: as root, gasm did not open the class path of pid %d%s, which another user or a container has chosen, "+
				"so lines of Kotlin's inline functions may be missing: have that user make the report "+
				"(gasm report --source %s DIR, with a copy of the capture that -o DIR keeps)",
			s.closed[0], andMore(len(s.closed)-1), strings.Join(s.paths, ":"))
	}
}

// andMore returns a text for n further items: " and 2 more" for 2, and "" for less than 1.
func andMore(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// findFiles lets the HTML page find whole source files. It does nothing without --source.
func (s *sources) findFiles(o *report.Options) {
	if s.finder != nil {
		o.Place, o.FileLines, o.NativeLines = s.finder.Place, s.finder.Lines, s.finder.NativeLines
	}
}

func (s *sources) close() {
	if s.finder != nil {
		_ = s.finder.Close() // an error does not matter, because the files were only read
	}
}

// notes returns a note for each src.zip in --source whose JDK version differs from that of at least one JVM.
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

// live returns a function that finds source lines for gasm top. files has the names of the source files of classes, and
// classPaths has the class paths of the JVMs, as far as they are known now.
func (s *sources) live(files map[string]string, classPaths []string) func(method string, line int) listing.SourceLine {
	var paths []string
	for _, p := range classPaths {
		if !slices.Contains(s.told, p) {
			s.told, paths = append(s.told, p), append(paths, filepath.SplitList(p)...)
		}
	}
	s.finder.Know(files, paths)
	return func(method string, line int) listing.SourceLine {
		return listing.SourceLine(s.finder.Line(method, line))
	}
}
