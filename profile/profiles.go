package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/probes"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/sampler"
)

// Profiles are the profiles of a capture: one for each trial.
type Profiles struct {
	// Capture describes what was recorded. Its Events are the counters of the profiles, if these have any. Its Notes
	// also say what was found while the samples were read.
	Capture capture.Description
	// Trials has at least one profile. The profiles are in the order of the capture's trials. If the run has no trials,
	// there is a profile for each program, the hottest first.
	Trials []Profile
	// Chosen has the command line's flags that choose which samples of the measurement count. It is "" if all of them
	// count.
	Chosen string
	// Taken counts all samples of each of Capture.JVMs, whether they are in a window or not. Only Of sets Taken.
	Taken []tally.Counts
	// SourceFiles has the names of the classes' source files, if the logs have them. The key is the class. If the logs
	// of two JVMs name different files for a class, the name in the first log counts.
	SourceFiles map[string]string
	// Stacks has the stacks of [Profile.Locations]. It is nil if the capture has no stacks, or if no option asks for
	// them.
	Stacks *calltree.Stacks
	// History is only set if [Options.History] asks for it, and if samples have times.
	History *history.History

	builder *Builder // the Builder that made the profiles; set only by Of
}

// Code returns the samples in the code of each JVM that belongs to a trial.
func (ps *Profiles) Code() []CodeCounts {
	if ps.builder == nil {
		return nil
	}
	return ps.builder.CodeCounts()
}

// Of reads all samples of a capture, finds the code in which each was taken, and returns a profile of each trial.
func Of(c *capture.Capture, o choice.Options) (*Profiles, error) {
	config, err := choice.Choose(c, &o)
	if err != nil {
		return nil, err
	}
	events, eventNotes := c.ReadEvents()
	counted, probeNotes := c.ReadProbes()
	config.Events = events
	stackNotes := config.AddStacks(&o, c)
	methodNotes, err := config.Narrow(&o, counted)
	if err != nil {
		return nil, err
	}

	ps := &Profiles{Capture: c.Description, Chosen: o.Chosen(), Stacks: config.Stacks, SourceFiles: sourceFiles(c),
		builder: NewBuilder(config)}
	ps.Capture.Notes = slices.Clone(c.Notes)
	ps.Capture.Notes.Add(nothingSelected(c))
	ps.Capture.Notes.Add(slices.Concat(eventNotes, probeNotes, methodNotes, stackNotes)...)
	add := func(s *sampler.Sample) error {
		ps.builder.Add(s)
		return nil
	}
	c.PartRead = ps.builder.release
	if err := ps.addSamples(c, add); err != nil {
		return nil, err
	}
	ps.noteLimits()
	waited := ps.readWaits(c, &config)
	ps.build(c, o, events, counted)
	ps.addWaits(waited, o.Sites)
	hottestFirst(ps.Trials)
	return ps, nil
}

// addSamples calls add for each sample. If add returns an error, addSamples returns it at once. addSamples counts
// samples that were lost, and notes what could not be read.
func (ps *Profiles) addSamples(c *capture.Capture, add func(*sampler.Sample) error) error {
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
			if err := add(rec); err != nil {
				return err
			}
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
			"'perf script --ns -F comm,pid,tid,time,event,ip,sym,dso' and dtrace's profile probe print", c.SamplesName(),
			firstBad.Line, &firstBad)
	}
	ps.builder.Lost(c.Lost)
	ps.noteSamples(c.Guessed && r.UserOnly(), badLines, &firstBad)
	return nil
}

// noteSamples adds notes about samples that are missing: those in the kernel if userOnly is true, and those on lines
// that could not be read.
func (ps *Profiles) noteSamples(userOnly bool, badLines int64, firstBad error) {
	if userOnly {
		ps.Capture.Notes.Add("the samples are of user space only: what the kernel did for the program is not in them")
	}
	switch badLines {
	case 0:
	case 1:
		ps.Capture.Notes.Add(fmt.Sprintf("a line of the samples could not be read: %v", firstBad))
	default:
		ps.Capture.Notes.Add(fmt.Sprintf("%d lines of the samples could not be read, the first: %v", badLines, firstBad))
	}
}

// noteLimits notes which limits of the Builder were reached.
func (ps *Profiles) noteLimits() {
	b := ps.builder
	if b.excess > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("the samples have more than %d events: %d samples of further events are left out",
			capture.MaxEvents, b.excess))
	}
	if b.folded > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("the samples are in too many functions, threads or addresses: "+
			"%d samples are counted without their names or exact addresses", b.folded))
	}
	if n := b.foldedStacks(); n > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("there are too many different call stacks: %d samples are counted without theirs",
			n))
	}
	if b.doubtful > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("%d samples that are left out (%s) have call stacks that are not whole: the method may be among the missing frames", b.doubtful, ps.Chosen))
	}
	if n := b.distrusted(); n > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("the call stacks of %d samples are cut at their innermost Java frame: perf follows frame pointers, "+
			"and Java code has these only with -XX:+PreserveFramePointer (--sampler native needs no option)", n))
	}
	if b.overlapping > 0 {
		ps.Capture.Notes.Add(fmt.Sprintf("%s is damaged: %d windows of trials overlap those of another trial in the same JVM; "+
			"time that is in two windows counts for the window that began first", capture.DescriptionFile, b.overlapping))
	}
}

// build makes the profiles from what the Builder has counted.
func (ps *Profiles) build(c *capture.Capture, o choice.Options, events []event.Event, counted []capture.Probes) {
	b := ps.builder
	ps.Capture.Notes.Add(b.readInlining(c)...)
	ps.Trials = b.Build(o)
	compilers := warmup.Collect(events, b.trialOf)
	for i := range ps.Trials {
		p := &ps.Trials[i]
		p.Probes = probes.Of(counted, p.PIDs)
		p.top = topCompiler(c.JVMs, p.PIDs)
		run := compilers.Of(p.PIDs)
		p.JIT = run.Trial(i)
		b.addTimes(p, i, run)
	}
	ps.Taken = b.taken(c.JVMs)
	ps.History = b.history.History()
	ps.History.AddLanes(events)
	if counters := ps.Trials[0].Counters; len(counters) > 0 {
		ps.Capture.Events = counters
	}
}

// TopCompiler returns the name of the compiler of level 4: "C2", "JVMCI" if such a compiler is in the place of C2, or
// "C2 or JVMCI" if that differs between the JVMs.
func (p *Profile) TopCompiler() string { return cmp.Or(p.top, "C2") }

// topCompiler returns the TopCompiler of the JVMs that have the pids.
func topCompiler(jvms []capture.JVM, pids []int) string {
	others := 0
	for i := range jvms {
		if j := &jvms[i]; slices.Contains(pids, j.PID) && j.JVMCI() {
			others++
		}
	}
	switch {
	case others == 0:
		return "C2"
	case others < len(pids):
		return "C2 or JVMCI"
	}
	return "JVMCI"
}

// sourceFiles collects the names of source files from all logs.
func sourceFiles(c *capture.Capture) map[string]string {
	all := map[string]string{}
	for _, j := range slices.Backward(c.JVMs) {
		if j.Log != nil {
			maps.Copy(all, j.Log.SourceFiles)
		}
	}
	return all
}

// SourceFile returns the name of a method's source file: the file from which the method's class was compiled. It
// returns "" if the name is unknown.
func (ps *Profiles) SourceFile(method string) string {
	class, _, _ := strings.Cut(method, "::")
	return ps.SourceFiles[class]
}

// hottestFirst sorts the profiles of programs, hottest first. It leaves profiles of trials in their order.
func hottestFirst(ps []Profile) {
	if slices.ContainsFunc(ps, func(p Profile) bool { return p.Trial != "" }) {
		return
	}
	profiled := func(p *Profile) tally.Counts {
		var c tally.Counts
		for _, a := range p.Accounts {
			c = append(c, a.Profiled)
		}
		return c
	}
	slices.SortStableFunc(ps, func(a, b Profile) int { return tally.Compare(profiled(&a), profiled(&b)) })
}

// nothingSelected returns a note if HotSpot compiled none of the methods whose code it was told to print. Otherwise it
// returns "".
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
	return "HotSpot compiled none of the methods that it was told to print: no compiled method has code in this report"
}

// Name returns the name that distinguishes a profile from the others of its capture: that of the trial or, without
// trials, the program. It includes the JDK if another profile has the same program.
func (ps *Profiles) Name(p *Profile) string {
	if p.Trial != "" || p.Program == "" {
		return p.Trial
	}
	same := func(other Profile) bool { return other.Trial == "" && other.Program == p.Program && other.JDK != p.JDK }
	if slices.ContainsFunc(ps.Trials, same) {
		return fmt.Sprintf("%s (JDK %s)", p.Program, p.JDK)
	}
	return p.Program
}
