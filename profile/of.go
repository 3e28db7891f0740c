package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// Profiles is what a capture's samples and code give together: a profile for each
// trial.
type Profiles struct {
	// Capture describes what was recorded. Its Events are those that samples were
	// seen of, and its Notes also say what reading the samples found out.
	Capture capture.Description
	// Trials has at least one profile. Those of trials are in the order of the capture's
	// trials. Where the run has no trials, there is a profile for each program, the hottest
	// first.
	Trials []Profile
	// Chosen says as flags which samples of the measurement count; "" for all of them.
	Chosen string
	// Taken are all samples of each of Capture.JVMs, in or out of the windows. It is nil in
	// what is not made by Of.
	Taken []Counts
	// SourceFiles are the names of the files that classes were made from, by class, as far as
	// the logs tell. Of two JVMs that differ the first one counts.
	SourceFiles map[string]string
	// History is only there when [Options.History] asks for it, and samples have times.
	History *History

	builder *Builder // nil in what is not made by Of
}

// Code gives the samples in the code of each JVM that belongs to a trial.
func (ps *Profiles) Code() []CodeCounts {
	if ps.builder == nil {
		return nil
	}
	return ps.builder.CodeCounts()
}

// Of reads all samples of a capture, joins them with the code that HotSpot had at
// their addresses at their times, and makes a profile of each trial.
func Of(c *capture.Capture, o Options) (*Profiles, error) {
	jvms, measured, err := choose(c, &o)
	if err != nil {
		return nil, err
	}
	events, eventNotes := c.ReadEvents()
	threads, err := o.WindowEvent.narrow(measured, events)
	if err != nil {
		return nil, err
	}
	probes, probeNotes := c.ReadProbes()
	within, withinNotes, err := newInsideMethod(o.WindowMethod, probes)
	if err != nil {
		return nil, err
	}
	b := newBuilder(jvms, measured, orderedEvents(c.Events))
	b.within = within
	b.leaveOut(c.JVMs)
	b.threadWindows = threads
	b.AddEvents(events)
	b.seen.choice, b.seen.apart = o.Threads, o.Locations
	b.printers = newPrinters(c)
	if o.History {
		b.history = newHistoryCounts()
	}
	if o.Parts {
		b.wantParts()
	}
	ps := &Profiles{Capture: c.Description, Chosen: o.Chosen(), builder: b}
	ps.Capture.Notes = slices.Clone(c.Notes)
	ps.Capture.Notes.Add(nothingSelected(c))
	ps.Capture.Notes.Add(eventNotes...)
	ps.Capture.Notes.Add(probeNotes...)
	ps.Capture.Notes.Add(withinNotes...)
	ps.SourceFiles = sourceFiles(c)
	if err := ps.read(c); err != nil {
		return nil, err
	}
	b.Lost(c.Lost)
	if b.left > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("the samples are of more than %d events: %d samples of the other events are left out", capture.MaxEvents, b.left))
	}
	if b.folded > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("the samples are in more functions, threads or addresses than any program has: "+
			"%d samples are counted without their names or exact addresses", b.folded))
	}
	if b.overlapping > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("%s is damaged: %d windows of trials overlap those of another trial in the same JVM; "+
			"the time in both counts for the one that began first", capture.DescriptionFile, b.overlapping))
	}
	ps.Trials = b.Build(o)
	for i := range ps.Trials {
		ps.Trials[i].Probes = probesOf(probes, ps.Trials[i].PIDs)
	}
	hottestFirst(ps.Trials)
	ps.Taken = b.taken(c.JVMs)
	ps.History = b.history.history()
	ps.History.addLanes(events)
	if events := ps.Trials[0].Events; len(events) > 0 {
		ps.Capture.Events = events
	}
	return ps, nil
}

// sourceFiles puts together what the logs tell of classes.
func sourceFiles(c *capture.Capture) map[string]string {
	all := map[string]string{}
	for _, j := range slices.Backward(c.JVMs) {
		if j.Log != nil {
			maps.Copy(all, j.Log.SourceFiles)
		}
	}
	return all
}

// SourceFile gives the name of the file that a method's class was made from; "" when nobody
// knows it.
func (ps *Profiles) SourceFile(method string) string {
	class, _, _ := strings.Cut(method, "::")
	return ps.SourceFiles[class]
}

// hottestFirst sorts the profiles of programs.
func hottestFirst(ps []Profile) {
	if slices.ContainsFunc(ps, func(p Profile) bool { return p.Trial != "" }) {
		return
	}
	profiled := func(p *Profile) Counts {
		var c Counts
		for _, a := range p.Accounts {
			c = append(c, a.Profiled)
		}
		return c
	}
	slices.SortStableFunc(ps, func(a, b Profile) int { return compareCounts(profiled(&a), profiled(&b)) })
}

// orderedEvents gives the names of several events in the order in which they were
// asked for. The name of a single one is taken from its samples, because a sampler
// may have replaced it.
func orderedEvents(asked []string) []string {
	if len(asked) < 2 {
		return nil
	}
	names := make([]string, len(asked))
	for i, e := range asked {
		names[i] = sampler.ParseEvent(e).Name
	}
	return names
}

// read gives all samples to the builder, and notes what the capture does not say
// about them.
func (ps *Profiles) read(c *capture.Capture) error {
	r, err := c.Samples()
	if err != nil {
		return err
	}
	defer r.Close()
	var samples, badLines int64
	var firstBad sampler.SyntaxError
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *sampler.Sample:
			samples++
			ps.builder.Add(rec)
		case *sampler.Lost:
			ps.builder.Lost(rec.Count)
		case *sampler.SyntaxError:
			if badLines++; badLines == 1 {
				firstBad = *rec
			}
		}
	}
	if r.Err() != nil {
		return fmt.Errorf("reading the samples: %w", r.Err())
	}
	if samples == 0 && badLines > 0 {
		return fmt.Errorf("%s holds no samples: line %d is neither perf script's text nor dtrace's (%s); gasm reads what "+
			"'perf script --ns -F comm,pid,tid,time,event,ip,sym,dso' and dtrace's profile probe print", c.SamplesName(), firstBad.Line, &firstBad)
	}
	if c.Guessed && r.UserOnly() {
		ps.Capture.Notes.Add("the samples are of user space only: what the kernel did for the program is not in them")
	}
	switch badLines {
	case 0:
	case 1:
		ps.Capture.Notes.Add(fmt.Sprintf("a line of the samples could not be read: %v", &firstBad))
	default:
		ps.Capture.Notes.Add(fmt.Sprintf("%d lines of the samples could not be read, the first: %v", badLines, &firstBad))
	}
	return nil
}

// nothingSelected notes that HotSpot compiled nothing of what it was to print.
func nothingSelected(c *capture.Capture) string {
	if c.Selection == "" {
		return ""
	}
	printed := func(b printassembly.Blob) bool { return b.Kind == printassembly.NMethod && b.HasCode }
	for _, j := range c.JVMs {
		if j.Log != nil && slices.ContainsFunc(j.Log.Blobs, printed) {
			return ""
		}
	}
	return "HotSpot compiled nothing of what it was to print: no compiled method has code in this report"
}

// ErrAsleep is the error of profiles without a sample, because the JVMs that were attached to
// used no CPU time. Nothing has gone wrong, and there is nothing to keep.
var ErrAsleep = errors.New("no samples at all: the JVM used no CPU time while it was sampled")

// WhyEmpty is the error of profiles without a single sample: it says where all
// samples went instead. It is nil when there is a sample, or a probe.
func (ps *Profiles) WhyEmpty() error {
	var a Account
	for _, p := range ps.Trials {
		if len(p.Probes) > 0 && p.Accounts != nil && ps.builder != nil && ps.builder.within == nil {
			return nil // calls were counted
		}
		for _, account := range p.Accounts {
			if account.Profiled > 0 {
				return nil
			}
			a = account
		}
	}
	switch {
	case a.Total == 0 && ps.Capture.Attached:
		return ErrAsleep
	case a.Total == 0:
		return errors.New("no samples at all: the sampler saw nothing of the command")
	case a.OtherProcess == a.Total-a.Lost:
		return fmt.Errorf("all %d samples are of other processes, none of the JVMs whose logs these are: "+
			"samples and logs must be of the same run", a.OtherProcess)
	case a.OtherThread > 0:
		return fmt.Errorf("no sample is of a thread that is chosen (%s); %s", ps.Chosen, ps.builder.seen.threadsThere())
	case a.Others() == a.Total-a.Lost && ps.Chosen != "":
		return fmt.Errorf("no sample is of a JVM that is chosen (%s); %d are of other JVMs of the command, %d of other processes",
			ps.Chosen, a.OtherJVM+a.OtherTrial, a.OtherProcess)
	case a.OutsideMethod > 0:
		return fmt.Errorf("no sample is of a thread that was in the method (--window-method); %d are of threads that were not", a.OutsideMethod)
	case a.OutsideWindow > 0:
		return fmt.Errorf("no sample is in the measurement window; %d are outside of it", a.OutsideWindow)
	}
	return errors.New("no sample is in the profile")
}
