package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gasm-profiler/gasm/javasource"
	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/report"
)

// openSources opens what --source names, before anything runs.
func (f *reportFlags) openSources() error {
	if len(f.sourcePaths) == 0 {
		return nil
	}
	finder, err := javasource.New(f.sourcePaths)
	if err != nil {
		return usage("--source: %v", err)
	}
	f.sources = finder
	return nil
}

// sourceLine finds a line for the report; "" for none.
func (f *reportFlags) sourceLine(method string, line int) string {
	text, ok := f.sources.Line(method, line)
	f.sourcesAsked, f.sourcesFound = true, f.sourcesFound || ok
	return text
}

// noSources tells that none of the report's methods was found.
func (f *reportFlags) noSources() bool { return f.sourcesAsked && !f.sourcesFound }

// closeSources is for the time when the report is written.
func (f *reportFlags) closeSources() {
	if f.sources != nil {
		_ = f.sources.Close() // read from, so nothing is lost
	}
}

// otherSources notes each src.zip that is another JDK's than the JVMs': its
// lines are not those that ran.
func (f *reportFlags) otherSources(jvms []report.JVM) []string {
	var notes []string
	for _, path := range f.sourcePaths {
		version := sourceVersion(path)
		for _, j := range jvms {
			if ran, _, _ := strings.Cut(strings.ReplaceAll(j.Version, "-", "+"), "+"); version != "" && ran != "" && ran != version {
				notes = append(notes, fmt.Sprintf("--source %s is of JDK %s, and pid %d ran %s: lines of the JDK's own classes may be others", path, version, j.PID, ran))
				break
			}
		}
	}
	return notes
}

// sourceVersion gives the version of the JDK that a src.zip belongs to: it lies
// in lib, up to JDK 8 in the JDK's folder itself. "" for other files. A JVM of
// JDK 8 gives its own version ("25.402-b06"), which no release file has.
func sourceVersion(path string) string {
	if filepath.Base(path) != "src.zip" {
		return ""
	}
	version := jvm.ReleaseVersion(filepath.Join(filepath.Dir(path), ".."))
	if strings.HasPrefix(version, "1.") {
		return ""
	}
	return version
}
