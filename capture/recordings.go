package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// RecordingFile is the name of a JVM's recording by Flight Recorder in a capture: ev-4711.jfr,
// and ev-4711-1.jfr of the next part.
func RecordingFile(pid, part int) string {
	if part == 0 {
		return fmt.Sprintf("ev-%d.jfr", pid)
	}
	return fmt.Sprintf("ev-%d-%d.jfr", pid, part)
}

// AddRecording takes a recording of Flight Recorder that lies anywhere for that of one of the
// JVMs, in place of what the capture has: of the process id that the recording tells, or of
// the only JVM that is chosen.
func (c *Capture) AddRecording(path string, chosen func(*JVM) bool) error {
	if len(c.parts) > 0 {
		return fmt.Errorf("%s can't be used with a folder of captures: name the one that it is of", path)
	}
	if len(c.Clocks) == 0 {
		return fmt.Errorf("%s can't be used: nobody knows when the samples were taken by the wall clock, since the capture has no %s with clocks", path, DescriptionFile)
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
		return fmt.Errorf("%s does not tell which of the capture's %d JVMs it is of: choose one by --pid", path, len(c.JVMs))
	}
	if c.foreign == nil {
		c.foreign = map[int][]string{}
	}
	c.foreign[of[0].PID] = append(c.foreign[of[0].PID], path)
	return nil
}

// recordedPID gives the process id that a recording tells, as the JVM has it; 0 without one.
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

func openRecording(path string) (*os.File, *jfr.Reader, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the recording: %w", err)
	}
	return f, jfr.NewReader(f, size, path), nil
}

// recordingsOf are the paths of a JVM's recordings.
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

// maxParts is how many files the recording of a JVM has at most: what it wrote at its end, or
// the chunks that it left when it was killed.
const maxParts = 64

// recordedEvents reads the events of a JVM from its recordings. A recording of the user's own is one file.
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

// notedBytes are so many that a note says they are left out: less would be 0.0 MB there.
const notedBytes = 50_000

// withoutWeight takes from samples of allocations what they stand for: see [jfr.FirstSamples]. The note says of how many.
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

// recordingEvents appends those of one file.
func (c *Capture) recordingEvents(j *JVM, path string, b *eventBudget, firsts *jfr.FirstSamples, events []event.Event) (all []event.Event, note string) {
	before := len(events)
	anchor, note, err := c.anchor(j, path)
	if err != nil {
		return events, fmt.Sprintf("the recording of JVM %d could not be read, and its events are not in the report: %v", j.PID, err)
	}
	f, r, err := openRecording(path)
	if err != nil {
		return events, fmt.Sprintf("the recording of JVM %d could not be read, and its events are not in the report: %v", j.PID, err)
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
			return events, fmt.Sprintf("%s has more events than gasm reads of a capture: those behind the first %d are left out", filepath.Base(path), len(events)-before)
		}
		firsts.See(x, len(events))
		events = append(events, e)
	}
	damage := r.Damage()
	switch {
	case r.Err() != nil:
		note = fmt.Sprintf("the recording of JVM %d could not be read to the end: %v", j.PID, r.Err())
	case damage.Any():
		note = fmt.Sprintf("%s is not whole, and %d events of it are in the report: %s", filepath.Base(path), len(events)-before, damage.First[0])
	}
	return events, note
}

// anchor finds when the ticks of a recording are on the samples' clock. The note says that this
// is not exact.
func (c *Capture) anchor(j *JVM, path string) (anchor func(*jfr.Chunk) jfr.Anchor, note string, err error) {
	if len(c.Clocks) == 0 {
		return nil, "", fmt.Errorf("nobody knows when it was, since the capture has no %s with clocks", DescriptionFile)
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
		note = fmt.Sprintf("events of JVM %d may be up to a millisecond off: its JDK tells when a recording began in whole milliseconds", j.PID)
		if j.EventLog == "" {
			note += ", which HotSpot's log makes exact (--events default,…)"
		}
	}
	return func(chunk *jfr.Chunk) jfr.Anchor {
		if exact && chunk.Clock.TicksPerSecond != 1e9 { // the processor's ticks, which are not exactly as many
			return chunk.Clock.WallAnchor(now.WallNanos, now.MonoNanos)
		}
		return a
	}, note, nil
}

// safepointEnds are the times at which safepoints of a JVM ended by HotSpot's log, ascending.
func (c *Capture) safepointEnds(j *JVM) []int64 {
	if j.EventLog == "" {
		return nil
	}
	files, err := openEventLogs(filepath.Join(c.dir, filepath.Base(j.EventLog)))
	if err != nil {
		return nil // a note says so, where the log's events are read
	}
	var ends []int64
	for _, f := range files {
		ends = append(ends, hslog.SafepointEnds(f)...)
		f.Close()
	}
	slices.Sort(ends)
	return ends
}
