package report

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// CheckPattern returns an error that says what is wrong with a pattern for WriteLog, or nil.
func CheckPattern(pattern string) error { return printassembly.CheckPattern(pattern) }

// WriteLog writes the code in each JVM's log as instructions, with the number of samples of each. If there are
// patterns, it writes only the code whose name matches one of them.
func WriteLog(w io.Writer, code []profile.CodeCounts, syntax disasm.Syntax, patterns ...string) error {
	page := layout.NewPage(w, layout.Look{})
	for i := range code {
		if i > 0 {
			page.Line("")
		}
		lw := logWriter{Page: page, counts: &code[i], syntax: syntax, patterns: patterns}
		lw.log()
	}
	return page.Flush()
}

// A logWriter writes one JVM's log, a blob at a time.
type logWriter struct {
	*layout.Page
	counts   *profile.CodeCounts
	syntax   disasm.Syntax
	patterns []string
}

// wanted reports whether the code of a blob is written.
func (w *logWriter) wanted(b *printassembly.Blob) bool {
	return len(w.patterns) == 0 || slices.ContainsFunc(w.patterns,
		func(p string) bool { return printassembly.Matches(p, b.Name) })
}

// log writes the whole log: a heading, and then the blobs, each with its code.
func (w *logWriter) log() {
	l := w.counts.Log
	w.Line("JVM:     %s", w.counts.JVM.String())
	w.Line("Log:     %s, code blobs: %d", filepath.Base(l.Name()), len(l.Blobs))
	w.Line("Columns: samples of %s; address; code", strings.Join(w.counts.Counters, ", "))
	if len(w.patterns) > 0 {
		w.Line("Methods: %s", strings.Join(w.patterns, ", "))
	}
	for i, b := range w.counts.Blobs() {
		at := w.counts.At(i)
		if b.Kind == printassembly.Unprinted && len(at) == 0 || !w.wanted(b) {
			continue
		}
		w.Line("")
		w.blob(b, at)
	}
}

// blob writes one blob: its heading, and its instructions with their samples.
func (w *logWriter) blob(b *printassembly.Blob, at map[uint64]tally.Counts) {
	w.Line("%s", blobHeading(b))
	insts, err := w.counts.Log.Code(b, w.syntax)
	if err != nil {
		w.Line("(%v)", err)
	}
	pcs := slices.Sorted(maps.Keys(at))
	for k := range insts {
		in := &insts[k]
		pcs = w.unlisted(pcs, at, in.Lo)
		counts := make(tally.Counts, len(w.counts.Counters))
		for ; len(pcs) > 0 && pcs[0] < in.Hi; pcs = pcs[1:] {
			counts.Add(at[pcs[0]])
		}
		w.instruction(in, counts)
	}
	w.unlisted(pcs, at, b.Hi)
}

// unlisted writes a line for each sampled PC in pcs that is less than the parameter below. The log has no code at these
// PCs. pcs must be sorted. unlisted returns the PCs that remain.
func (w *logWriter) unlisted(pcs []uint64, at map[uint64]tally.Counts, below uint64) []uint64 {
	for ; len(pcs) > 0 && pcs[0] < below; pcs = pcs[1:] {
		w.Line("%s  %#016x:   (no code in the log)", w.columns(at[pcs[0]]), pcs[0])
	}
	return pcs
}

// blobHeading returns the heading of a blob: what perfasm prints for it, and then the blob's addresses and time.
func blobHeading(b *printassembly.Blob) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, %s", b.Source(), b.Name)
	if b.OSR {
		fmt.Fprintf(&s, " @ %d", b.OSRBCI)
	}
	if b.ID > 0 {
		fmt.Fprintf(&s, ", compile id %d", b.ID)
	}
	fmt.Fprintf(&s, ", [%#016x, %#016x), %d bytes", b.Lo, b.Hi, b.Hi-b.Lo)
	if b.Stamped {
		fmt.Fprintf(&s, ", at %.3f", float64(b.UptimeMillis)/1000)
		if b.SeenMillis > b.UptimeMillis {
			fmt.Fprintf(&s, " to %.3f", float64(b.SeenMillis)/1000)
		}
		s.WriteString(" s")
	}
	return s.String()
}

// columns returns a column for each event. A column without samples is blank.
func (w *logWriter) columns(counts tally.Counts) string {
	var s strings.Builder
	for _, n := range counts {
		if n == 0 {
			s.WriteString("          ")
		} else {
			fmt.Fprintf(&s, "%10d", n)
		}
	}
	return s.String()
}

// commentColumn is the width of the column of instructions, in characters. Comments start after it.
const commentColumn = 36

// instruction writes an instruction with its samples and its comments. Each comment after the first is on a line of its
// own.
func (w *logWriter) instruction(in *printassembly.Instruction, counts tally.Counts) {
	blank := strings.Repeat(" ", 10*len(counts))
	if in.Section != "" {
		w.Line("%s  [%s]", blank, in.Section)
	}
	row := fmt.Sprintf("%s  %#016x:   ", w.columns(counts), in.Lo)
	notes := slices.Clone(in.Comments)
	if in.OwnFrames {
		for _, f := range in.Frames {
			notes = append(notes, " - "+f.String())
		}
	}
	if len(notes) == 0 {
		w.Line("%s%s", row, in.Text)
		return
	}
	w.Line("%s%-*s ;%s", row, commentColumn, in.Text, notes[0])
	for _, note := range notes[1:] {
		w.Line("%*s ;%s", len(row)+commentColumn, "", note)
	}
}
