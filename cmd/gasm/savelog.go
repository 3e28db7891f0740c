package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

// saveLogs writes the logs of all JVMs of the report, decoded and with the
// samples of each instruction, to the file that --save-log names.
func (f *reportFlags) saveLogs(c []profile.CodeCounts) (err error) {
	file, err := os.OpenFile(f.saveLog, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("saving the annotated log: %w", err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<16)
	for i := range c {
		if i > 0 {
			fmt.Fprintln(out)
		}
		w := logWriter{out: out, counts: &c[i], syntax: f.profileOptions().Syntax}
		w.log()
	}
	if err = out.Flush(); err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("saving the annotated log: %w", err)
	}
	return nil
}

// A logWriter writes one JVM's log, a blob at a time.
type logWriter struct {
	out    io.Writer // keeps its first error
	counts *profile.CodeCounts
	syntax disasm.Syntax
}

func (w *logWriter) line(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

func (w *logWriter) log() {
	l := w.counts.Log
	about := []string{fmt.Sprintf("pid %d", w.counts.PID), mainClass(l.Command), l.VMVersion}
	w.line("JVM:     %s", strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), ", "))
	w.line("Log:     %s, code blobs: %d", filepath.Base(l.Name()), len(l.Blobs))
	w.line("Columns: samples of %s; address; code", strings.Join(w.counts.Events, ", "))
	for i, b := range w.counts.Blobs() {
		at := w.counts.At(i)
		if b.Kind == printassembly.Unprinted && len(at) == 0 {
			continue
		}
		w.line("")
		w.blob(b, at)
	}
}

// blob writes one piece of code. What is read of it is dropped again.
func (w *logWriter) blob(b *printassembly.Blob, at map[uint64]profile.Counts) {
	w.line("%s", blobHeading(b))
	insts, err := w.counts.Log.Code(b, w.syntax)
	if err != nil {
		w.line("(%v)", err)
	}
	pcs := slices.Sorted(maps.Keys(at))
	for k := range insts {
		in := &insts[k]
		pcs = w.unlisted(pcs, at, in.Lo)
		counts := make(profile.Counts, len(w.counts.Events))
		for ; len(pcs) > 0 && pcs[0] < in.Hi; pcs = pcs[1:] {
			counts.Add(at[pcs[0]])
		}
		w.instruction(in, counts)
	}
	w.unlisted(pcs, at, b.Hi)
}

// unlisted writes the samples below an address that no instruction covers: the
// log has no code there.
func (w *logWriter) unlisted(pcs []uint64, at map[uint64]profile.Counts, below uint64) []uint64 {
	for ; len(pcs) > 0 && pcs[0] < below; pcs = pcs[1:] {
		w.line("%s  %#016x:   (no code in the log)", w.columns(at[pcs[0]]), pcs[0])
	}
	return pcs
}

// blobHeading is perfasm's line for a piece of code, with where and when it was.
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
		fmt.Fprintf(&s, ", at %.3f s", float64(b.UptimeMillis)/1000)
	}
	return s.String()
}

// columns gives one column per event, blank where it is 0.
func (w *logWriter) columns(counts profile.Counts) string {
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

// commentColumn is where comments start behind the code.
const commentColumn = 36

func (w *logWriter) instruction(in *printassembly.Instruction, counts profile.Counts) {
	blank := strings.Repeat(" ", 10*len(counts))
	if in.Section != "" {
		w.line("%s  [%s]", blank, in.Section)
	}
	row := fmt.Sprintf("%s  %#016x:   ", w.columns(counts), in.Lo)
	notes := slices.Clone(in.Comments)
	if in.OwnFrames {
		for _, f := range in.Frames {
			notes = append(notes, " - "+f.String())
		}
	}
	if len(notes) == 0 {
		w.line("%s%s", row, in.Text)
		return
	}
	w.line("%s%-*s ;%s", row, commentColumn, in.Text, notes[0])
	for _, note := range notes[1:] {
		w.line("%*s ;%s", len(row)+commentColumn, "", note)
	}
}
