package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/nmethod"
	"github.com/gasm-profiler/gasm/printassembly"
)

// checkSelection checks --method, --skip-c1 and --code.
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
	if file := ownDirectives(command); f.skipC1 && file != "" {
		return usage("--skip-c1 needs compiler directives of its own, and the command has -XX:CompilerDirectivesFile=%s: HotSpot takes one alone", file)
	}
	return f.checkCode(command)
}

// ownDirectives finds the command's own file of compiler directives, of which
// HotSpot takes one alone; "" without one.
func ownDirectives(command []string) string {
	for _, w := range jvmOptions(command) {
		if _, file, ok := strings.Cut(w, "-XX:CompilerDirectivesFile="); ok {
			return file
		}
	}
	return ""
}

// jvmOptions are all words that may be options of the command's JVM.
func jvmOptions(command []string) []string {
	words := slices.Clone(command)
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		words = append(words, strings.Fields(os.Getenv(name))...)
	}
	return words
}

// selection says whose code is printed beside what is copied, and writes the file
// that HotSpot needs for it. The caller calls remove when the command has ended.
func (r *run) selection(copied nmethod.What) (sel printassembly.Selection, remove func(), err error) {
	sel = printassembly.Selection{Methods: r.own.methods, SkipC1: r.own.skipC1 || copied&nmethod.C1 != 0, SkipC2: copied&nmethod.C2 != 0}
	if sel.All() || jvm.Release(r.command) < printassembly.OldestKnown || ownDirectives(r.command) != "" {
		return sel, func() {}, nil
	}
	sel.DirectivesFile = filepath.Join(r.dir, "directives.json")
	if err := os.WriteFile(sel.DirectivesFile, sel.Directives(), 0o600); err != nil {
		return sel, nil, fmt.Errorf("the capture folder can't be written: %w", err)
	}
	return sel, func() { os.Remove(sel.DirectivesFile) }, nil
}

// selectionText is the flags as they were given; "" without any.
func (f *profileFlags) selectionText() string {
	var words []string
	for _, m := range f.methods {
		words = append(words, "--method "+m)
	}
	if f.skipC1 {
		words = append(words, "--skip-c1")
	}
	return strings.Join(words, " ")
}

// selectionNotes say what the flags left out, and that it was all.
func (f *profileFlags) selectionNotes(logs []*printassembly.Log) []string {
	if f.selectionText() == "" {
		return nil
	}
	what := "the code of C2"
	if len(f.methods) > 0 {
		what = "the code of " + strings.Join(f.methods, ", ")
		if f.skipC1 {
			what += " by C2"
		}
	}
	notes := []string{"HotSpot printed " + what + " only (" + f.selectionText() + "): all other methods have their samples, but no lines, and " +
		"what was inlined into them counts as theirs"}
	printed := func(l *printassembly.Log) bool {
		return slices.ContainsFunc(l.Blobs, func(b printassembly.Blob) bool { return b.Kind == printassembly.NMethod && b.HasCode })
	}
	if !slices.ContainsFunc(logs, printed) {
		notes = append(notes, "it compiled nothing of that: no compiled method has code in this report")
	}
	return notes
}
