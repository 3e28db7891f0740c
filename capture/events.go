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

// EventLog returns the name of the file to which HotSpot logged the events of a JVM: ev-4711.log.
func EventLog(pid int) string { return fmt.Sprintf("ev-%d.log", pid) }

// ReadEvents reads the events of all JVMs, and returns them in the order of their start times. The notes say what could
// not be read.
func (c *Capture) ReadEvents() (events []event.Event, notes []string) {
	budget := newEventBudget()
	if len(c.parts) > 0 {
		return c.partEvents(func(p *Capture) ([]event.Event, []string) { return p.readEvents(budget) })
	}
	return c.readEvents(budget)
}

// readEvents is ReadEvents for a single capture, as opposed to a folder of captures. If the budget runs out in the
// middle of a file, readEvents leaves out the rest of that file.
func (c *Capture) readEvents(budget *eventBudget) (events []event.Event, notes []string) {
	seen, unread := map[string]bool{}, 0
	note := func(texts ...string) {
		for _, text := range texts {
			if text == "" {
				continue
			}
			if unread++; unread <= maxMissing {
				notes = append(notes, text)
			}
		}
	}
	for i := range c.JVMs {
		j := &c.JVMs[i]
		var logged []event.Event
		if j.EventLog != "" && !seen[j.EventLog] { // in a damaged capture, JVMs may share a log
			seen[j.EventLog] = true
			read, text := c.eventsOf(j, budget)
			logged = read
			note(text)
		}
		recorded, texts := c.recordedEvents(j, budget)
		note(texts...)
		events = append(events, mergeEvents(logged, recorded)...)
	}
	if unread > maxMissing {
		notes = append(notes, "the events of more JVMs could not be read")
	}
	probed, more := c.readUSDT(events, budget)
	events = append(events, probed...)
	event.Sort(events)
	event.NameSafepoints(events)
	return events, append(notes, more...)
}

// mergeEvents merges the events of a JVM's log with those of its recording, so that no event is listed twice. If both
// have a compilation, the result has that of the recording, because the log does not say when a compilation ended. The
// size of the bytecode, which only the log has, is added to it. The result also has the compilations that only one of
// them has. If both have events of another kind, such as pauses or safepoints, the result has those of the log.
func mergeEvents(logged, recorded []event.Event) []event.Event {
	if len(logged) == 0 || len(recorded) == 0 {
		return append(logged, recorded...)
	}
	inLog, compiled := map[event.Kind]bool{}, map[[2]string]*event.Event{}
	for i := range logged {
		inLog[logged[i].Kind] = true
	}
	key := func(e *event.Event) [2]string { return [2]string{e.Arg("id"), e.Arg("osr")} }
	for i := range recorded {
		if e := &recorded[i]; e.Kind == event.Compilation {
			compiled[key(e)] = e
		}
	}
	logged = slices.DeleteFunc(logged, func(e event.Event) bool {
		same := compiled[key(&e)]
		if e.Kind != event.Compilation || same == nil {
			return false
		}
		if size := e.Arg(event.BytecodeSize); size != "" {
			same.Args = append(same.Args, event.Arg{Name: event.BytecodeSize, Value: size})
		}
		return true
	})
	recorded = slices.DeleteFunc(recorded, func(e event.Event) bool {
		return e.Kind != event.Compilation &&
			inLog[e.Kind]
	})
	return append(logged, recorded...)
}

// eventsOf reads the events of a JVM's log, in the order in which they ended.
func (c *Capture) eventsOf(j *JVM, b *eventBudget) (events []event.Event, note string) {
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
			e := *rec
			if own, ok := j.Threads[e.TID]; ok {
				e.TID = own
			}
			if !b.take(&e) {
				return events, fmt.Sprintf("%s has more events than gasm reads: those after line %d are left out", j.EventLog,
					r.Lines())
			}
			events = append(events, e)
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

// openEventLogs opens a log of events and its older files. When a file is full, HotSpot renames it (to ev-4711.log.0
// and so on) and begins a new one. The oldest file comes first in the result. The caller closes the files.
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
