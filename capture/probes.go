package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// ProbeRings returns the name of the file to which the probes of a JVM write their counts and the last calls of each
// thread: probes-4711.ring.
func ProbeRings(pid int) string { return fmt.Sprintf("probes-%d.ring", pid) }

// ProbeReport returns the name of the file that says what is probed in a JVM: probes-4711.txt.
func ProbeReport(pid int) string { return fmt.Sprintf("probes-%d.txt", pid) }

// maxCalls is the maximum number of calls that ReadCalls returns. It is also the maximum number of events that are read
// from a folder of captures. The limit keeps the memory small, and nobody looks through that many calls anyway.
const maxCalls = 4_000_000

// ProbeWindows returns the name of a file for the calls of methods that were given by --window-method:
// probes-4711.windows. gasm writes each such call into this file when the call ends, because the rings have room for
// the last calls only. If the file exists, the only such calls that are read from the rings are those that have not
// ended.
func ProbeWindows(pid int) string { return fmt.Sprintf("probes-%d.windows", pid) }

// probeGlob matches the names that ProbeRings, ProbeReport and ProbeWindows return.
const probeGlob = "probes-*"

// Probes are what the probes of one JVM have counted.
type Probes struct {
	PID int
	rings.Report
	rings.Header
	Calls   []rings.Calls
	Windows []rings.Windows
	// Threads has all rings of the file, but without their events.
	Threads []rings.Ring
}

// Site returns the probed method (site) with an ID, or nil if there is none.
func (p *Probes) Site(id int) *rings.Site {
	for i := range p.Sites {
		if p.Sites[i].ID == id {
			return &p.Sites[i]
		}
	}
	return nil
}

// ReadProbes reads what the probes of all JVMs have counted. The notes say which counts are missing, and what could not
// be read.
func (c *Capture) ReadProbes() (all []Probes, notes []string) {
	for _, p := range c.parts {
		read, more := p.ReadProbes()
		for i := range read {
			read[i].PID = p.pid(read[i].PID)
		}
		all, notes = append(all, read...), append(notes, more...)
	}
	if len(c.parts) > 0 {
		return all, notes
	}
	for i := range c.JVMs {
		if !c.JVMs[i].Probed {
			continue
		}
		p, err := c.readProbes(c.JVMs[i].PID, nil)
		if err != nil && len(notes) < maxMissing {
			notes = append(notes, fmt.Sprintf("the probes of JVM %d could not all be read: %v", c.JVMs[i].PID, err))
		}
		if (p.Header.Refused > 0 || p.Uncounted > 0) && len(notes) < maxMissing {
			notes =
				append(notes, fmt.Sprintf("%d threads of JVM %d could not count their calls, and other threads could not count those of %d methods: there was no room "+
					"in the folder of its files (use TMPDIR, or -o DIR on another file system)", p.Header.Refused, p.PID, p.Uncounted))
		}
		all = append(all, p)
	}
	return all, notes
}

// readProbes reads what the probes of a JVM have counted. If see is not nil, readProbes calls see(p, ring) for each
// ring, which holds the last calls of a thread. The ring's events can be read only during that call.
func (c *Capture) readProbes(pid int, see func(*Probes, *rings.Ring)) (p Probes, err error) {
	p.PID = pid
	text, _, err := regular.Open(filepath.Join(c.dir, ProbeReport(pid)))
	if err != nil {
		return p, err
	}
	defer text.Close()
	rep, err := rings.ReadReport(text, ProbeReport(pid))
	if p.Report = *rep; err != nil {
		return p, err
	}
	f, _, err := regular.Open(filepath.Join(c.dir, ProbeRings(pid)))
	if err != nil {
		return p, err
	}
	defer f.Close()
	r := rings.NewReader(f, ProbeRings(pid))
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *rings.Header:
			p.Header = *rec
		case *rings.Calls:
			p.Calls = append(p.Calls, *rec)
		case *rings.Windows:
			p.Windows = append(p.Windows, *rec)
		case *rings.Ring:
			if see != nil {
				see(&p, rec)
			}
			p.Threads = append(p.Threads, rings.Ring{Slot: rec.Slot, TID: rec.TID, Thread: rec.Thread, Written: rec.Written,
				Dropped: rec.Dropped})
		}
	}
	if r.Err() != nil {
		return p, r.Err()
	}
	return p, c.readDrained(&p)
}

// readDrained reads the windows that were saved while the JVM ran. A window is a call of a method given by
// --window-method. If the capture has a file with such windows, they replace those that were read from the rings,
// except those that have not ended: these are only in the rings.
func (c *Capture) readDrained(p *Probes) error {
	f, _, err := regular.Open(filepath.Join(c.dir, ProbeWindows(p.PID)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	drained, err := rings.ReadDrained(f)
	for i := range p.Windows {
		w := &p.Windows[i]
		w.Dropped = 0
		w.Spans = slices.DeleteFunc(w.Spans, func(s rings.Span) bool { return s.ToMonoNanos != math.MaxInt64 })
	}
	p.Windows = append(p.Windows, *drained)
	return err
}

// ReadCalls returns the calls, locks and allocations that are in the rings of the JVMs, sorted by their start times. A
// ring holds only the last ones of each thread. The notes say how many were already overwritten, and what could not be
// read.
func (c *Capture) ReadCalls() (calls []event.Event, notes []string) {
	if len(c.parts) > 0 {
		return c.partEvents((*Capture).ReadCalls)
	}
	for i := range c.JVMs {
		j := &c.JVMs[i]
		if !j.Probed {
			continue
		}
		dropped := int64(0)
		_, err := c.readProbes(j.PID, func(p *Probes, r *rings.Ring) {
			dropped += r.Dropped
			calls = append(calls, callsOf(p, r, maxCalls-len(calls))...)
		})
		if err != nil && len(notes) < maxMissing {
			notes = append(notes, fmt.Sprintf("the probes of JVM %d could not all be read: %v", j.PID, err))
		}
		if dropped > 0 && len(notes) < maxMissing {
			notes =
				append(notes, fmt.Sprintf("the probes of JVM %d were passed too often to keep all calls: the oldest %d entries and exits are not listed; they are in the counts of the report", j.PID, dropped))
		}
	}
	event.Sort(calls)
	return calls, notes
}

// An openCall is the start of a call whose end has not been read yet. It may also be the start of holding a lock.
type openCall struct {
	rings.Event
}

// callsOf pairs the entries of calls in a ring with their exits, and returns an event for each pair. An exit without an
// entry is a call that began before the ring's first event, and an entry without an exit is a call that has not ended.
// Both become calls without a duration. Each allocation becomes an event too. The parameter most limits the number of
// events; callsOf stops when it has reached that number.
func callsOf(p *Probes, r *rings.Ring, most int) (calls []event.Event) {
	open := map[[3]int][]openCall{} // by site and thread, and for locks also by the identity hash of the object
	for e := range r.Events() {
		if len(calls) >= most {
			break
		}
		site := p.Site(e.Site)
		if site == nil {
			continue
		}
		key := [3]int{e.Site, e.TID, 0}
		if site.Kind == rings.Lock {
			key[2] = int(e.Identity)
		}
		switch e.Kind {
		case rings.Entry, rings.Acquire:
			open[key] = append(open[key], openCall{e})
		case rings.Exit, rings.Thrown, rings.Release:
			stack := open[key]
			if len(stack) == 0 {
				calls = append(calls, callEvent(p.PID, site, &e, &e))
				continue
			}
			begun := stack[len(stack)-1]
			open[key] = stack[:len(stack)-1]
			calls = append(calls, callEvent(p.PID, site, &begun.Event, &e))
		case rings.Allocation:
			calls = append(calls, callEvent(p.PID, site, &e, &e))
		}
	}
	var left []event.Event
	for _, stack := range open {
		for i := range stack {
			left = append(left, callEvent(p.PID, p.Site(stack[i].Site), &stack[i].Event, nil))
		}
	}
	slices.SortFunc(left, func(a, b event.Event) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	return append(calls, left[:min(len(left), max(0, most-len(calls)))]...)
}

// callEvent returns the event for a call. begun and ended are the two records of the call in a ring. The parameter
// ended is nil if the end was not read. If only the end was read, both parameters are the record of the end. An
// allocation has just one record, which is passed as both.
func callEvent(pid int, site *rings.Site, begun, ended *rings.Event) event.Event {
	e := event.Event{PID: pid, TID: max(0, begun.TID), Kind: event.Call, Name: site.Name(), MonoNanos: begun.MonoNanos}
	if ended != nil {
		e.Nanos = max(0, ended.MonoNanos-begun.MonoNanos)
	}
	switch site.Kind {
	case rings.Lock:
		e.Kind = event.Held
	case rings.Alloc:
		e.Kind = event.New
	}
	if site.Kind != rings.Method {
		e.Args = append(e.Args, event.Arg{Name: "bci", Value: strconv.Itoa(begun.BCI)})
	}
	if site.Kind != rings.Method || begun.Identity != 0 {
		e.Args = append(e.Args, event.Arg{Name: "identity", Value: fmt.Sprintf("%08x", begun.Identity)})
	}
	switch {
	case ended == nil:
		e.Args = append(e.Args, event.Arg{Name: "end", Value: "not seen"})
	case ended.Kind == rings.Thrown:
		e.Args = append(e.Args, event.Arg{Name: "end", Value: "exception"})
	case ended == begun && ended.Kind != rings.Allocation:
		e.Args = append(e.Args, event.Arg{Name: "start", Value: "not seen"})
	}
	return e
}
