package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/sampler"
)

// Several captures are read as one capture. Trials of the same name (usually benchmarks) become one trial, and the JVMs
// of all of them become its forks. gasm's profiler for JMH writes a folder of such captures, one for each fork. Users
// can also name several captures, for example of different hosts or times.

const (
	maxJoined  = 1_000  // maximum number of captures that are read as one; all their logs are open at the same time
	maxDepth   = 2      // maximum number of levels from the folder down to a capture; the JMH profiler uses two
	maxEntries = 10_000 // maximum number of files and folders that parts searches for captures
)

// A part is one of the captures that are joined into one.
type part struct {
	*Capture
	firstJVM int         // index in the joined capture's JVMs of the part's first JVM
	pids     map[int]int // new process ids, by the old ones; only for processes whose id another part also uses
	// The part's stacks are firstStack+1 to firstStack+stacks in the tree of the joined capture.
	firstStack callstack.ID
	stacks     int
}

// pid returns the id that a process of the part has in the joined capture.
func (p *part) pid(pid int) int {
	if other, ok := p.pids[pid]; ok {
		return other
	}
	return pid
}

// joinedPIDs returns the ids that the part's JVMs have in the joined capture.
func (p *part) joinedPIDs() []int {
	pids := make([]int, len(p.JVMs))
	for i := range p.JVMs {
		pids[i] = p.pid(p.JVMs[i].PID)
	}
	return pids
}

// parts returns the captures below a folder that is not a capture itself, in the order of their names.
func parts(dir string) ([]string, error) {
	var found []string
	entries := 0
	var look func(dir string, depth int) error
	look = func(dir string, depth int) error {
		list, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if entries += len(list); entries > maxEntries {
			return fmt.Errorf("%s has more than %d files and folders: name a folder that only has captures", dir, maxEntries)
		}
		for _, e := range list {
			path := filepath.Join(dir, e.Name())
			if !e.IsDir() {
				continue
			}
			if _, err := os.Stat(filepath.Join(path, DescriptionFile)); err == nil {
				found = append(found, path)
			} else if depth < maxDepth {
				if err := look(path, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := look(dir, 1)
	if len(found) > maxJoined {
		err = fmt.Errorf("%s has %d captures, but gasm reads at most %d as one: name one of its folders", dir, len(found),
			maxJoined)
	}
	return found, err
}

// openParts opens the captures in a folder as one. The error is fs.ErrNotExist if there are none.
func openParts(dir string) (*Capture, error) {
	paths, err := parts(dir)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fs.ErrNotExist
	}
	return join(dir, paths)
}

// join opens several captures as one. name stands for all of them in messages; it may be the folder that contains them.
func join(name string, paths []string) (_ *Capture, err error) {
	c := &Capture{dir: name, samples: source{name: name}}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	j := joiner{Capture: c, used: map[int]bool{}, trials: map[trialKey]int{}}
	for _, path := range paths {
		next, err := Open(path)
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, part{Capture: next, firstJVM: len(c.JVMs), pids: map[int]int{}})
		if len(c.parts) > 1 && !slices.Equal(c.Events, next.Events) {
			return nil, fmt.Errorf("%s was sampled by %s, and %s by %s: they can't be read as one, because samples of different "+
				"events can't be added up; make a report of each", path, eventsText(next), paths[0], eventsText(c))
		}
		if len(c.parts) > 1 && next.Host.Arch != "" && c.Host.Arch != "" && c.Host.Arch != next.Host.Arch {
			return nil, fmt.Errorf("%s was recorded on %s, and %s on %s: they can't be read as one, because their code differs; "+
				"make a report of each", path, next.Host.Arch, paths[0], c.Host.Arch)
		}
		j.join(&c.parts[len(c.parts)-1])
	}
	j.joinFrequencies()
	c.joinNativeCode()
	c.nameHosts(paths)
	return c, nil
}

// A joiner joins several captures into one.
type joiner struct {
	*Capture
	used    map[int]bool     // the process ids that are in use
	trials  map[trialKey]int // indexes in Capture.Trials
	windows int              // number of windows in all trials
}

// A trialKey identifies a trial of the joined capture. mode is the mode of the trial's score ("avgt"), because JMH can
// run a benchmark in several modes. jdk is the version of the JDK that ran the trial, because code and scores of
// different JDKs are not added up.
type trialKey struct{ name, mode, jdk string }

// eventsText returns the events that were sampled for a capture, in words: "cycles and instructions".
func eventsText(c *Capture) string {
	return cmp.Or(strings.Join(c.Events, " and "), "unknown events")
}

// join adds a part, which is one of the captures, to the joined capture. If the id of a process in the part is already
// in use, the process gets a new id. For example, processes in two containers may have the same id.
func (c *joiner) join(p *part) {
	if len(c.parts) == 1 {
		c.Description = p.Description
		c.JVMs, c.Trials, c.Notes, c.Clocks, c.Lost = nil, nil, nil, nil, 0
	}
	if c.Code != p.Code {
		c.Code = CodeMixed
	}
	next := 1 << 22 // higher than all process ids of Linux (PID_MAX_LIMIT)
	for _, j := range p.JVMs {
		if c.used[j.PID] {
			for c.used[next] {
				next++
			}
			p.pids[j.PID] = next
			j.PID = next
		}
		c.used[j.PID] = true
		c.JVMs = append(c.JVMs, j)
	}
	for _, t := range p.Trials {
		c.joinTrial(p, t)
	}
	c.Unread = append(c.Unread, p.Unread...)
	c.Notes.Add(p.Notes...)
	c.Clocks = append(c.Clocks, p.Clocks...)
	c.Lost += p.Lost
	c.Stacks = max(c.Stacks, p.Stacks)
	c.ExitCode = cmp.Or(c.ExitCode, p.ExitCode)
}

// joinFrequencies sets the sampling frequency to the mean of the frequencies of all joined captures. The mean is right
// if all captures took the same CPU time, as the forks of a benchmark do. If the frequencies differ, the samples of
// some captures count for more than they should, and a note says by how much.
func (c *joiner) joinFrequencies() {
	sum, lowest, highest := 0, c.parts[0].Frequency, c.parts[0].Frequency
	for _, p := range c.parts {
		sum += p.Frequency
		lowest, highest = min(lowest, p.Frequency), max(highest, p.Frequency)
	}
	switch {
	case lowest == highest:
		return
	case lowest == 0:
		c.Frequency = 0
		c.Notes.Add("the captures may have been sampled at different frequencies, because some do not say at which: JVMs that were sampled more often count for more")
	default:
		c.Frequency = (sum + len(c.parts)/2) / len(c.parts)
		c.Notes.Add(fmt.Sprintf("the captures were sampled at %d to %d Hz: JVMs that were sampled more often count for up to %.0f %% more", lowest, highest, 100*(float64(highest)/float64(lowest)-1)))
	}
}

// joinTrial adds a trial of one of the captures to the joined capture's trial of the same name and mode.
func (c *joiner) joinTrial(p *part, t Trial) {
	if c.windows += len(t.Windows); c.windows > maxWindows || len(c.Trials) == maxTrials {
		c.Notes.Add(fmt.Sprintf("the captures have more than %d trials or %d windows: the others are left out", maxTrials,
			maxWindows))
		return
	}
	key := trialKey{name: t.Name, jdk: p.jdk(&t)}
	t.Windows = slices.Clone(t.Windows)
	for i := range t.Windows {
		t.Windows[i].PID = p.pid(t.Windows[i].PID)
	}
	if t.Score != nil {
		key.mode = t.Score.Mode
	}
	at, ok := c.trials[key]
	if !ok {
		t.Name = c.distinct(key)
		c.trials[key] = len(c.Trials)
		c.Trials = append(c.Trials, t)
		return
	}
	whole := &c.Trials[at]
	whole.Windows = append(whole.Windows, t.Windows...)
	if whole.Operations > 0 && t.Operations > 0 {
		whole.Operations += t.Operations
	} else {
		whole.Operations = 0
	}
	whole.Score = whole.Score.With(t.Score)
}

// distinct returns the name of a new trial. The name includes the mode if the joined capture already has a trial of the
// same benchmark in another mode. It includes the JDK if there is a trial of the benchmark on another JDK.
func (c *joiner) distinct(key trialKey) string {
	mode, jdk := "", ""
	for other := range c.trials {
		if other.name == key.name && other.mode != key.mode && key.mode != "" {
			mode = ", " + key.mode
		}
		if other.name == key.name && other.jdk != key.jdk && key.jdk != "" {
			jdk = ", JDK " + key.jdk
		}
	}
	return key.name + mode + jdk
}

// With combines two scores into one that covers the forks of both. It returns nil if the units differ, or if one of the
// scores has no results of its forks.
func (s *Score) With(more *Score) *Score {
	if s == nil || more == nil || s.Unit != more.Unit || len(s.Forks) == 0 || len(more.Forks) == 0 {
		return nil
	}
	both := *s
	both.Forks = slices.Concat(s.Forks, more.Forks)
	both.Estimate()
	return &both
}

// partEvents returns the events of all joined captures (parts). It calls read(part) for the events of each of them.
func (c *Capture) partEvents(read func(*Capture) ([]event.Event, []string)) (events []event.Event, notes []string) {
	for _, p := range c.parts {
		of, more := read(p.Capture)
		notes = append(notes, more...)
		if len(events)+len(of) > maxCalls {
			return events, append(notes, fmt.Sprintf("there are more than %d events: those of %s and of the captures after it are left out", maxCalls, p.dir))
		}
		for i := range of {
			of[i].PID = p.pid(of[i].PID)
		}
		events = append(events, of...)
	}
	event.Sort(events)
	return events, notes
}

// A partReader reads the samples of all joined captures (parts), one after the other.
type partReader struct {
	parts    []part
	progress func(bytes int)
	read     func(pids []int) // see Capture.PartRead
	current  *SampleReader
	at       int // index in parts of the part that is being read
	err      error
	kernel   bool // true if one of the parts read so far may have samples of the kernel
}

// Scan reads the next record. At the end of a part it goes on with the next part. It returns false after the last part,
// and on an error.
func (r *partReader) Scan() bool {
	for r.err == nil {
		if r.current == nil {
			if r.at == len(r.parts) {
				return false
			}
			r.parts[r.at].Progress = r.progress
			if r.current, r.err = r.parts[r.at].Samples(); r.err != nil {
				return false
			}
		}
		if r.current.Scan() {
			return true
		}
		r.kernel = r.kernel || !r.current.UserOnly()
		r.err = errors.Join(r.current.Err(), r.current.Close())
		r.current = nil
		if r.read != nil {
			r.read(r.parts[r.at].joinedPIDs())
		}
		r.at++
	}
	return false
}

// Record returns the record that Scan read. A sample's process id and stack are those in the joined capture.
func (r *partReader) Record() any {
	rec := r.current.Record()
	if s, ok := rec.(*sampler.Sample); ok {
		p := &r.parts[r.at]
		s.PID = p.pid(s.PID)
		p.joinStack(s)
	}
	return rec
}

// Err returns the error that ended the reading, or nil.
func (r *partReader) Err() error { return r.err }

// UserOnly reports whether the kernel was not sampled in any of the parts that were read to the end.
func (r *partReader) UserOnly() bool { return !r.kernel }

// Close closes the samples of the part that is being read.
func (r *partReader) Close() error {
	if r.current == nil {
		return nil
	}
	return r.current.Close()
}
