package profile

import (
	"errors"
	"fmt"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/sampler"
)

// A PlacedSample is a single sample of a profile, with the code that it was in.
type PlacedSample struct {
	// Sample is the sample as the sampler took it.
	*sampler.Sample
	// JVM is the process id of the JVM to which the sample is attributed. It differs from Sample.PID if the sampler
	// recorded no process ids.
	JVM int
	// Counter is the number of the counter that took the sample, from 0 on, in the order of [Placement.Counters].
	Counter int
	// Name is the whole name of the thread. If that is not known, it is the kernel's name for the thread, which may be
	// cut off.
	Name string
	// Place is the same for samples with the same code and callers, and for no others.
	Place Place

	placer *placer
}

// A Place identifies a place in the code together with its callers.
type Place struct {
	at    spot
	stack callstack.ID
}

// A Placement says what [PlaceSamples] has seen.
type Placement struct {
	Counters []string // the names of the counters
	Lost     int64    // how many samples the sampler dropped
	Notes    []string // what could not be read
}

// PlaceSamples reads all samples of a capture, finds the code in which each was taken, and calls yield for those that
// are in a profile, in the order of the capture. These are the samples that [Of] counts with the same options. The
// option WindowEvent is not supported, and options that only choose what a profile shows have no effect. If yield
// returns an error, PlaceSamples returns it.
//
// PlaceSamples counts nothing, so its memory does not grow with the number of samples. The PlacedSample is valid until
// yield returns.
func PlaceSamples(c *capture.Capture, o choice.Options, yield func(*PlacedSample) error) (*Placement, error) {
	if o.WindowEvent != (windows.EventChoice{}) {
		return nil, errors.New("single samples can't be chosen by events")
	}
	config, err := choice.Choose(c, &o)
	if err != nil {
		return nil, err
	}
	notes := config.AddStacks(&o, c)
	counted, probeNotes := c.ReadProbes()
	methodNotes, err := config.Narrow(&o, counted)
	if err != nil {
		return nil, err
	}
	ps := &Profiles{Stacks: config.Stacks, builder: NewBuilder(config)}
	ps.Capture.Notes.Add(notes...)
	ps.Capture.Notes.Add(probeNotes...)
	ps.Capture.Notes.Add(methodNotes...)
	p := &placer{b: ps.builder, yield: yield}
	p.code = jvmcode.NewReader(ps.builder.jvms, o.Syntax, func(format string,
		args ...any) {
		ps.Capture.Notes.Add(fmt.Sprintf(format, args...))
	})
	if err := ps.addSamples(c, p.add); err != nil {
		return nil, err
	}
	ps.noteLimits()
	all := &Placement{Counters: ps.builder.counters, Notes: ps.Capture.Notes}
	for _, n := range ps.builder.lost {
		all.Lost += n
	}
	return all, nil
}

// SourceFileOf returns a function that returns the name of a method's source file: the file from which the method's
// class was compiled. That function returns "" if the name is unknown.
func SourceFileOf(c *capture.Capture) func(method string) string {
	return (&Profiles{SourceFiles: sourceFiles(c)}).SourceFile
}

// A placer takes samples through the first steps of a Builder.
type placer struct {
	b     *Builder
	code  *jvmcode.Reader
	yield func(*PlacedSample) error
	out   PlacedSample
}

// add finds the place of a sample, and yields it if it is in a profile.
func (p *placer) add(s *sampler.Sample) error {
	j := joinedSample{Sample: s}
	if !p.b.findCounter(&j) || !p.b.findJVM(&j) || p.b.admit(&j) != admitted {
		return nil
	}
	p.b.locate(&j)
	j.stack = p.b.stackOf(&j)
	if p.b.choose(&j) != admitted {
		return nil
	}
	p.out = PlacedSample{Sample: s, JVM: j.pid, Counter: j.counter, Name: p.b.threads.Name(j.pid, s.TID, s.Thread),
		Place: Place{j.spot, j.stack}, placer: p}
	return p.yield(&p.out)
}

// End returns what is at the outer end of the sample's stack. hasStacks is false if the capture has no stacks at all.
func (s *PlacedSample) End() (end calltree.End, hasStacks bool) {
	all := s.placer.b.stacks
	if all == nil {
		return calltree.Unwalked, false
	}
	return all.End(s.Place.stack), true
}

// Frames calls yield for each frame of the sample, from the innermost to the outermost: first those of the sampled
// code, including the methods that were inlined at the sampled instruction, and then those of its callers. If outer
// frames are missing, or if there are more than [calltree.MaxFrames], the last frame is a mark. A frame is a guess if
// HotSpot has no record of its method, see package safepoints.
func (s *PlacedSample) Frames(yield func(f *callstack.Frame, guessed bool) bool) {
	b, at := s.placer.b, s.Place.at
	if at.jvm >= 0 {
		s.placer.code.ReadDebugInfo(at.ref())
	}
	leaf, caller := b.leaf(s.placer.code, at, s.Place.stack)
	for i := range leaf {
		if !yield(&leaf[i].Frame, leaf[i].Guessed) {
			return
		}
	}
	if b.stacks == nil || caller == calltree.NoCaller {
		return
	}
	f, up := b.stacks.Frame(caller)
	if f == nil {
		mark := callstack.At(callstack.Unwalked, 0)
		yield(&mark, false)
		return
	}
	for n := 0; f != nil && yield(f, false); n++ {
		if n == calltree.MaxFrames {
			mark := callstack.At(callstack.Cut, 0)
			yield(&mark, false)
			return
		}
		f, up = b.stacks.Frame(up)
	}
}
