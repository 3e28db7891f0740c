package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// checkSelection checks --method and --skip-c1.
func (f *profileFlags) checkSelection(command []string) error {
	for _, m := range f.methods {
		if err := printassembly.CheckPattern(m); err != nil {
			return usage("--method: %v", err)
		}
	}
	if f.skipC1 && jvm.Release(command) < printassembly.OldestKnown {
		return usage("--skip-c1 takes a command of JDK %d or newer itself (gasm profile --skip-c1 -- java …): HotSpot reads it from a file, "+
			"which JVMs that a build tool leaves behind would not find", printassembly.OldestKnown)
	}
	return nil
}

// selection says whose code is printed, and writes the file that HotSpot needs
// for it. The caller calls remove when the command has ended.
func (r *run) selection() (sel printassembly.Selection, remove func(), err error) {
	sel = printassembly.Selection{Methods: r.own.methods, SkipC1: r.own.skipC1}
	if sel.All() || jvm.Release(r.command) < printassembly.OldestKnown {
		return sel, func() {}, nil
	}
	sel.DirectivesFile = filepath.Join(r.dir, "directives.json")
	if err := os.WriteFile(sel.DirectivesFile, sel.Directives(), 0o600); err != nil {
		return sel, nil, fmt.Errorf("the capture folder can't be written: %w", err)
	}
	return sel, func() { os.Remove(sel.DirectivesFile) }, nil
}

// selectionNotes say what the flags left out, and that a pattern may be wrong.
func (f *profileFlags) selectionNotes(logs []*printassembly.Log) []string {
	var left []string
	if len(f.methods) > 0 {
		left = append(left, "all but "+strings.Join(f.methods, ", ")+" (--method)")
	}
	if f.skipC1 {
		left = append(left, "what C1 compiled (--skip-c1)")
	}
	if len(left) == 0 {
		return nil
	}
	notes := []string{"no code was printed of " + strings.Join(left, " and ") + ": those methods have their samples, but no lines, and " +
		"what was inlined into them counts as theirs"}
	printed := func(l *printassembly.Log) bool {
		return slices.ContainsFunc(l.Blobs, func(b printassembly.Blob) bool { return b.Kind == printassembly.NMethod && b.HasCode })
	}
	if !slices.ContainsFunc(logs, printed) {
		notes = append(notes, "no method that HotSpot compiled is left: is the pattern right? (java.util.HashMap::getNode, java.util.HashMap::*, *::getNode)")
	}
	return notes
}
