package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// RecordingFile returns the name of a file with a JVM's Flight Recorder recording. A recording may have several parts:
// part 0 is in ev-4711.jfr, part 1 in ev-4711-1.jfr.
func RecordingFile(pid, part int) string {
	if part == 0 {
		return fmt.Sprintf("ev-%d.jfr", pid)
	}
	return fmt.Sprintf("ev-%d-%d.jfr", pid, part)
}

// AddRecording adds a Flight Recorder file from any folder to one of the capture's JVMs. Only JVMs for which chosen
// returns true are considered. Among these, the file is given to the JVM whose process id is in the recording. If no
// JVM has that id, but only one JVM was chosen, that JVM gets the file. If recordings were added to a JVM, its
// recordings in the capture are not used.
func (c *Capture) AddRecording(path string, chosen func(*JVM) bool) error {
	if len(c.parts) > 0 {
		return fmt.Errorf("%s can't be used with a folder of captures: name the capture that it belongs to", path)
	}
	if len(c.Clocks) == 0 {
		return fmt.Errorf("%s can't be used: the capture has no %s with clocks, so the wall clock times of its samples are unknown", path, DescriptionFile)
	}
	pid, err := recordedPID(path)
	if err != nil {
		return err
	}
	var of []*JVM
	for i := range c.JVMs {
		if j := &c.JVMs[i]; chosen(j) {
			if j.PID == pid || j.OwnPID != 0 && j.OwnPID == pid {
				of = []*JVM{j}
				break
			}
			of = append(of, j)
		}
	}
	if len(of) != 1 {
		return fmt.Errorf("%s does not say which of the capture's %d JVMs it belongs to: choose one with --pid", path,
			len(c.JVMs))
	}
	if c.foreign == nil {
		c.foreign = map[int][]string{}
	}
	c.foreign[of[0].PID] = append(c.foreign[of[0].PID], path)
	return nil
}

// recordedPID returns the process id of the JVM according to its recording. It returns 0 if the recording does not have
// it. For a JVM in a container, it is the id inside the container.
func recordedPID(path string) (pid int, err error) {
	f, r, err := openRecording(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := 0
	for r.Scan() {
		n++
		if r.Event().Type().Name == "jdk.JVMInformation" {
			return int(r.Event().Field("pid").Int()), nil
		}
	}
	if r.Err() != nil {
		return 0, r.Err()
	}
	if damage := r.Damage(); n == 0 && damage.Any() {
		return 0, fmt.Errorf("nothing of %s can be read: %s", path, damage.First[0])
	}
	return 0, nil
}

// openRecording opens a recording. The caller closes the file.
func openRecording(path string) (*os.File, *jfr.Reader, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the recording: %w", err)
	}
	return f, jfr.NewReader(f, size, path), nil
}

// recordingsOf returns the paths of a JVM's recordings. If AddRecording has added any, it returns only these.
func (c *Capture) recordingsOf(j *JVM) []string {
	if own := c.foreign[j.PID]; len(own) > 0 {
		return own
	}
	var paths []string
	for _, name := range j.Recordings[:min(len(j.Recordings), maxParts)] {
		paths = append(paths, filepath.Join(c.dir, filepath.Base(name)))
	}
	return paths
}

// maxParts is the maximum number of files that are read for the recording of one JVM. A JVM that ends normally writes a
// single file. A JVM that was killed leaves a file for each chunk, and there may be many.
const maxParts = 64

// recordedEvents reads the events of a JVM from its recordings. The files in the capture are parts of one recording.
// Each file that AddRecording added is a recording of its own.
func (c *Capture) recordedEvents(j *JVM, b *eventBudget) (events []event.Event, notes []string) {
	paths, own := c.recordingsOf(j), len(c.foreign[j.PID]) > 0
	firsts := &jfr.FirstSamples{}
	for i, path := range paths {
		var note string
		if events, note = c.recordingEvents(j, path, b, firsts, events); note != "" {
			notes = append(notes, note)
		}
		if !own && i < len(paths)-1 {
			continue
		}
		if note := withoutWeight(j, events, firsts.Numbers()); note != "" {
			notes = append(notes, note)
		}
		firsts = &jfr.FirstSamples{}
	}
	return events, notes
}

// notedBytes is the smallest number of bytes for which withoutWeight writes a note. The note would show a smaller
// number as 0.0 MB.
const notedBytes = 50_000

// withoutWeight sets the bytes of some allocation samples to 0, because these samples also stand for allocations from
// before the recording (see [jfr.FirstSamples]). numbers has the indexes of these samples in events. The note says how
// many bytes are lost that way. It is "" if fewer than notedBytes are lost.
func withoutWeight(j *JVM, events []event.Event, numbers []int) (note string) {
	samples, bytes := 0, 0.0
	for _, i := range numbers {
		if e := &events[i]; e.Bytes > 0 && !e.OfRecorder() {
			samples, bytes = samples+1, bytes+float64(e.Bytes)
		}
		events[i].Bytes = 0
	}
	if bytes < notedBytes {
		return ""
	}
	of := "1 sample"
	if samples > 1 {
		of = fmt.Sprintf("%d samples", samples)
	}
	return fmt.Sprintf("the allocations of JVM %d are without the %.1f MB of %s: the first one of a thread that ran before the recording "+
		"stands for all that the thread has allocated since its start", j.PID, bytes/1e6, of)
}

// recordingEvents appends the events of one file to a list of events and returns the result. It also passes each event
// to firsts.See. The note says what could not be read.
func (c *Capture) recordingEvents(j *JVM, path string, b *eventBudget, firsts *jfr.FirstSamples,
	events []event.Event) (all []event.Event, note string) {
	before := len(events)
	anchor, note, err := c.anchor(j, path)
	if err != nil {
		return events, fmt.Sprintf("the recording of JVM %d could not be read, and its events are not in the report: %v",
			j.PID, err)
	}
	f, r, err := openRecording(path)
	if err != nil {
		return events, fmt.Sprintf("the recording of JVM %d could not be read, and its events are not in the report: %v",
			j.PID, err)
	}
	defer f.Close()
	starts := !j.StartsUnasked || len(c.foreign[j.PID]) > 0
	x := jfr.NewEvents(r, j.PID, anchor)
	for x.Scan() {
		e := *x.Event()
		if e.Kind == event.Thread && !starts {
			firsts.See(x, -1)
			continue
		}
		if own, ok := j.Threads[e.TID]; ok {
			e.TID = own
		}
		if !b.take(&e) {
			return events, fmt.Sprintf("%s has more events than gasm reads: those after the first %d are left out",
				filepath.Base(path), len(events)-before)
		}
		firsts.See(x, len(events))
		events = append(events, e)
	}
	damage := r.Damage()
	switch {
	case r.Err() != nil:
		note = fmt.Sprintf("the recording of JVM %d could not be read to the end: %v", j.PID, r.Err())
	case damage.Any():
		note = fmt.Sprintf("%s is damaged; %d of its events are in the report: %s", filepath.Base(path), len(events)-before,
			damage.First[0])
	}
	if lost := r.Lost(); lost > 0 {
		note = strings.TrimPrefix(note+"; ", "; ") +
			fmt.Sprintf("Flight Recorder had no room for %d bytes of the events of JVM %d: they are missing", lost, j.PID)
	}
	return events, note
}

// anchor returns a function that returns the anchor of a chunk of the recording. The anchor relates the chunk's ticks
// to the samples' clock. If it is not exact, the note says so.
func (c *Capture) anchor(j *JVM, path string) (anchor func(*jfr.Chunk) jfr.Anchor, note string, err error) {
	if len(c.Clocks) == 0 {
		return nil, "", fmt.Errorf("the capture has no %s with clocks, so the time of the recording is unknown",
			DescriptionFile)
	}
	f, r, err := openRecording(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	now := c.Clocks[0]
	a, exact, ok := jfr.FindAnchor(r, now.WallNanos, now.MonoNanos, func() []int64 { return c.safepointEnds(j) })
	switch damage := r.Damage(); {
	case r.Err() != nil:
		return nil, "", r.Err()
	case !ok && damage.Any():
		return nil, "", fmt.Errorf("%s: %s", filepath.Base(path), damage.First[0])
	case !exact && ok:
		note =
			fmt.Sprintf("events of JVM %d may be up to a millisecond off: its JDK records the start of a recording in whole milliseconds", j.PID)
		if j.EventLog == "" {
			note += "; HotSpot's log makes it exact (--events default,…)"
		}
	}
	return func(chunk *jfr.Chunk) jfr.Anchor {
		// The ticks may be those of the CPU's time stamp counter. Its rate is not known exactly, so each chunk gets an
		// anchor of its own.
		if exact && chunk.Clock.TicksPerSecond != 1e9 {
			return chunk.Clock.WallAnchor(now.WallNanos, now.MonoNanos)
		}
		return a
	}, note, nil
}

// safepointEnds returns when the safepoints of a JVM ended according to HotSpot's log, earliest first. It returns nil
// if the log can't be read.
func (c *Capture) safepointEnds(j *JVM) []int64 {
	if j.EventLog == "" {
		return nil
	}
	files, err := openEventLogs(filepath.Join(c.dir, filepath.Base(j.EventLog)))
	if err != nil {
		return nil // eventsOf adds a note about the error
	}
	var ends []int64
	for _, f := range files {
		ends = append(ends, hslog.SafepointEnds(f)...)
		f.Close()
	}
	slices.Sort(ends)
	return ends
}
