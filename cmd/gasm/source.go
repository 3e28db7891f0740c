package main

import "github.com/gasm-profiler/gasm/javasource"

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
