package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// EventLog is the name of the log of a JVM's events in a capture: ev-4711.log.
func EventLog(pid int) string { return fmt.Sprintf("ev-%d.log", pid) }

// maxEvents is more than any capture has: JVMs that are in a safepoint a thousand times a
// second for an hour.
const maxEvents = 4_000_000

// ReadEvents reads the events of all JVMs, by the time of their start. The notes are on what
// could not be read.
func (c *Capture) ReadEvents() (events []event.Event, notes []string) {
	seen := map[string]bool{} // in a damaged capture, JVMs may share a log
	for i := range c.JVMs {
		j := &c.JVMs[i]
		if j.EventLog == "" || seen[j.EventLog] {
			continue
		}
		seen[j.EventLog] = true
		read, note := c.eventsOf(j, maxEvents-len(events))
		events = append(events, read...)
		switch {
		case note == "":
		case len(notes) < maxMissing:
			notes = append(notes, note)
		case len(notes) == maxMissing:
			notes = append(notes, "the events of more JVMs could not be read")
		}
	}
	probed, more := c.readProbes(events, maxEvents-len(events))
	events = append(events, probed...)
	event.Sort(events)
	return events, append(notes, more...)
}

// eventsOf reads the events of a JVM, in the order in which they ended.
func (c *Capture) eventsOf(j *JVM, most int) (events []event.Event, note string) {
	files, err := openEventLogs(filepath.Join(c.dir, filepath.Base(j.EventLog)))
	if err != nil {
		return nil, fmt.Sprintf("the events of JVM %d could not be read, and are not in the report: %v", j.PID, err)
	}
	var text []io.Reader
	for _, f := range files {
		defer f.Close()
		text = append(text, f)
	}
	r := hslog.NewReader(io.MultiReader(text...), j.EventLog, j.PID)
	bad, first := 0, ""
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *event.Event:
			if len(events) >= most {
				return events, fmt.Sprintf("%s has more events than any capture: those behind line %d are left out", j.EventLog, r.Lines())
			}
			events = append(events, *rec)
		case *hslog.SyntaxError:
			if bad++; bad == 1 {
				first = rec.Error()
			}
		}
	}
	switch {
	case r.Err() != nil:
		note = fmt.Sprintf("the events of JVM %d could not be read to the end: %v", j.PID, r.Err())
	case bad == 1:
		note = "a line of the events could not be read: " + first
	case bad > 1:
		note = fmt.Sprintf("%d lines of the events could not be read, the first: %s", bad, first)
	}
	return events, note
}

// openEventLogs opens a log of events and the files that HotSpot has filled before it, the
// oldest first.
func openEventLogs(path string) ([]*os.File, error) {
	type datedFile struct {
		*os.File
		mono int64
	}
	var files []datedFile
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	for i, name := range append([]string{path}, hslog.Rotated(path)...) {
		f, _, err := regular.Open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i > 0:
			continue
		case err != nil:
			closeAll()
			return nil, err
		}
		files = append(files, datedFile{f, hslog.FirstMono(f)})
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			closeAll()
			return nil, err
		}
	}
	slices.SortStableFunc(files, func(a, b datedFile) int { return cmp.Compare(a.mono, b.mono) })
	ordered := make([]*os.File, len(files))
	for i, f := range files {
		ordered[i] = f.File
	}
	return ordered, nil
}
